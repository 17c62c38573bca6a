import { z } from 'zod';
import { untrusted } from './untrusted.js';

const text = (pattern: RegExp, rule: string) => z.string().regex(pattern, rule);

export const WorkspaceId = text(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'is 1 to 63 of a-z 0-9 _ -').brand<'WorkspaceId'>();
export type WorkspaceId = z.infer<typeof WorkspaceId>;

/** Owner of what every workspace may use that has nothing of its own under the same id. It is no name that anyone can take. */
export const SHARED_WORKSPACE = '_shared';

/** Id of a registered dataset, harness or runtime. */
export const SpecId = text(
  /^[a-z0-9][a-z0-9._-]{0,62}$/,
  'is 1 to 63 characters of a-z 0-9 . _ - and starts with a letter or digit',
);
export type SpecId = z.infer<typeof SpecId>;

/** Version of a registered spec. `latest` is only a way to ask for one. */
export const SpecVersion = text(
  /^[0-9A-Za-z][0-9A-Za-z.+-]{0,62}$/,
  'is 1 to 63 characters of A-Z a-z 0-9 . + - and starts with a letter or digit',
).refine((version) => version !== 'latest', '`latest` is a way to ask, not a version');
export type SpecVersion = z.infer<typeof SpecVersion>;

/** `id` or `id@version`; without a version, or with `@latest`, the highest registered one is meant. */
export const SpecRef = text(
  /^[a-z0-9][a-z0-9._-]{0,62}(@[0-9A-Za-z][0-9A-Za-z.+-]{0,62})?$/,
  'is `id` or `id@version`',
);
export type SpecRef = z.infer<typeof SpecRef>;

/** Id of a case: any 1 to 512 characters of valid Unicode without control characters. */
export const CaseId = untrusted(
  'user',
  z
    .string()
    .min(1, 'is empty')
    .regex(/^[^\p{Cc}\p{Surrogate}]*$/u, 'has a control character or is not valid Unicode')
    .regex(/^.{0,512}$/su, 'is longer than 512 characters'),
);
export type CaseId = z.infer<typeof CaseId>;

/** `sc_` and 26 of base32: a time-ordered random id. */
export const ScorecardId = text(/^sc_[0-9a-hjkmnp-tv-z]{26}$/, 'is not a scorecard id').brand<'ScorecardId'>();
export type ScorecardId = z.infer<typeof ScorecardId>;

/** A run of a scorecard is `<scorecard>.<ordinal>`; a single run is `run_` and 26 of base32. */
export const RunId = text(
  /^(sc_[0-9a-hjkmnp-tv-z]{26}\.\d{1,6}|run_[0-9a-hjkmnp-tv-z]{26})$/,
  'is not a run id',
).brand<'RunId'>();
export type RunId = z.infer<typeof RunId>;

export const GateId = text(/^gate_[0-9a-hjkmnp-tv-z]{26}$/, 'is not a gate id').brand<'GateId'>();
export type GateId = z.infer<typeof GateId>;

/** One per runtime id, whatever its version: `rt:<workspace>:<runtime id>`. */
export const PoolId = text(/^rt:[a-z0-9_-]+:[a-z0-9._-]+$/, 'is not a pool id').brand<'PoolId'>();
export type PoolId = z.infer<typeof PoolId>;
