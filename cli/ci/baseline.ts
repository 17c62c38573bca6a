import { ScorecardId } from '../../contracts/ids.js';
import { list } from '../pages.js';
import { pathOf } from '../scorecard-wait.js';
import type { Session } from '../session.js';
import { BaselineReply, ScorecardReply } from '../wire.js';
import { type Patience, patiently, patientReader } from './patience.js';

/** Of a branch, so many are looked at for one that can be compared with. */
const LOOKED_AT = 100;
/** What tells apart scorecards of one branch, dataset and harness: whose branch it is, and which job of several ran it. */
const APART = ['repository', 'key'];

/** How a baseline is asked for: a scorecard or a pinned name, or the newest of a branch. */
export interface BaselineRequest {
  baseline?: string | undefined;
  baselineBranch?: string | undefined;
  /** `id` or `id@version`. */
  dataset: string;
  harness: string;
  /** Entries of its metadata that the newest of a branch must have, too: see `kinOf`. */
  kin: Record<string, string>;
}

/** Of the metadata of a scorecard, what it has in common with those it may be compared with. */
export const kinOf = (metadata: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata).filter(([name]) => APART.includes(name)));

/** Entries of metadata by which the newest of a branch is found. */
export const wantedEntries = ({ baselineBranch, kin }: BaselineRequest): string[] =>
  Object.entries({ branch: baselineBranch, ...kin }).map(([name, value]) => `${name}=${value}`);

/** The scorecard that is meant by a name or id now; or the newest of the branch, if there is one. */
export async function findBaseline(
  session: Session,
  patience: Patience,
  request: BaselineRequest,
  /** Is never its own. */
  candidate?: string,
): Promise<string | undefined> {
  const { baseline, baselineBranch, dataset, harness } = request;
  if (baseline !== undefined) return patiently(session, patience, () => namedBaseline(session, baseline));
  if (baselineBranch === undefined) return undefined;
  const what = { dataset: idOf(dataset), harness: idOf(harness) };
  const reader = patientReader(session, patience);
  const newest = async (metadata: string[], isMeant: (each: ScorecardReply) => boolean) => {
    const filter = { status: 'completed', stoppedEarly: 'false', ...what, metadata };
    const { items } = await list(reader, '/scorecards', ScorecardReply, { limit: LOOKED_AT }, filter);
    return items.find((each) => each.id !== candidate && isOfBranch(each) && isMeant(each))?.id;
  };
  const { repository, ...others } = request.kin;
  const own = await newest(wantedEntries(request), () => true);
  if (own !== undefined || repository === undefined) return own;
  // One that was submitted by hand does not say whose branch it is.
  return newest(wantedEntries({ ...request, kin: others }), ({ metadata }) => metadata.repository === undefined);
}

/**
 * Whether it says what the code of the branch does: neither other graders than those of its dataset said it, nor a choice
 * among several tries, and nothing of it was cancelled. The branch of a pull request may have any name, that of a fork,
 * say, the same as ours.
 */
const isOfBranch = ({ metadata, regradeOf, counts, rerolls }: ScorecardReply): boolean =>
  metadata.pr === undefined &&
  !regradeOf &&
  counts.cancelled === 0 &&
  rerolls.every(({ decidedAgain }) => decidedAgain === 0);

const idOf = (ref: string): string => ref.split('@')[0] ?? ref;

async function namedBaseline({ client }: Session, given: string): Promise<string> {
  if (ScorecardId.safeParse(given).success) return (await client.get(pathOf(given), ScorecardReply)).reply.id;
  return (await client.get(`/baselines/${encodeURIComponent(given)}`, BaselineReply)).reply.scorecard;
}
