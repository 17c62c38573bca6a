import { z } from 'zod';
import { DialMode } from './admission.js';
import { line } from './text.js';
import { untrusted } from './untrusted.js';

const MOST_DAYS = 366;
const DAY_SEC = 86_400;

/** A lower limit; null takes it back. The runtime's own limit bounds it, whatever stands here. */
const lowered = (max: number, unit: string) =>
  z.int().min(1, `is below 1 ${unit}: to grant nothing, set \`mode\` to paused`).max(max).nullable();

export const LoweredLimits = z.strictObject({
  slots: lowered(100_000, 'slot').optional(),
  memoryMb: lowered(1_000_000_000, 'MB').optional(),
  cpuMillicores: lowered(1_000_000_000, 'millicore').optional(),
});
export type LoweredLimits = z.infer<typeof LoweredLimits>;

const End = z.iso
  .datetime({ offset: true, error: 'is not a time as 2027-01-31T00:00:00Z', abort: true })
  .refine((time) => Date.parse(time) > Date.now(), { error: 'is over already', abort: true })
  .refine(
    (time) => Date.parse(time) < Date.now() + MOST_DAYS * DAY_SEC * 1_000,
    `is more than ${MOST_DAYS} days away: leave it out for what holds until it is taken back`,
  );

/** What to set for a runtime above its spec. What is not named stays; without an end, it holds until it is taken back. */
export const DialChange = z
  .strictObject({
    mode: DialMode.optional().describe(
      '`paused`: grants nothing; `draining`: also refuses new work; `open` without `limits` takes everything back',
    ),
    limits: LoweredLimits.nullable().optional().describe('Lower limits, by axis; null takes one back, or all'),
    until: End.nullable().optional().describe('When that ends which is set here; alone: all of it'),
    forSec: z
      .int()
      .min(1)
      .max(MOST_DAYS * DAY_SEC)
      .optional()
      .describe('In so many seconds, instead of `until`'),
    reason: line(500).nullable().optional().describe('For everybody whose work waits'),
  })
  .refine(({ until, forSec }) => until === undefined || forSec === undefined, {
    path: ['forSec'],
    message: 'says the same as `until`: give one of them',
  })
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    message: 'changes nothing: give `mode`, `limits`, `until`, `forSec` or `reason`',
  });
export type DialChange = z.infer<typeof DialChange>;

const axis = z.int().nullable();

export const LimitsView = z.strictObject({ slots: z.int(), memoryMb: axis, cpuMillicores: axis });
export type LimitsView = z.infer<typeof LimitsView>;

/** What somebody set for a runtime above its spec, and what is in force by it. */
export const RuntimeDial = z.strictObject({
  runtime: z.string(),
  owner: z.string().describe('The workspace whose runtime it is, or `_shared`'),
  mode: DialMode,
  limits: z.strictObject({ slots: axis, memoryMb: axis, cpuMillicores: axis }).describe('Lower limits that were set'),
  until: z.iso.datetime().nullable().describe('When the mode ends'),
  limitsUntil: z.iso.datetime().nullable().describe('When the limits end'),
  reason: untrusted('user').nullable(),
  by: z.string().nullable(),
  envelope: LimitsView.describe('Of the latest version of its spec; null: no limit'),
  inForce: LimitsView.describe('On each axis the lower of the two'),
});
export type RuntimeDial = z.infer<typeof RuntimeDial>;
