import { ScorecardId } from '../../contracts/ids.js';
import { list } from '../pages.js';
import { pathOf } from '../scorecard-wait.js';
import type { Session } from '../session.js';
import { BaselineReply, ScorecardReply } from '../wire.js';
import { type Patience, patiently } from './patience.js';

/** Of a branch, so many are looked at for one that no pull request made. */
const LOOKED_AT = 100;

/** How a baseline is asked for: a scorecard or a pinned name, or the newest of a branch. */
export interface BaselineRequest {
  baseline?: string | undefined;
  baselineBranch?: string | undefined;
  /** `id` or `id@version`. */
  dataset: string;
  harness: string;
}

/** The scorecard that is meant by a name or id now; or the newest of the branch, if there is one. */
export async function findBaseline(
  session: Session,
  patience: Patience,
  { baseline, baselineBranch, dataset, harness }: BaselineRequest,
  /** Is never its own. */
  candidate?: string,
): Promise<string | undefined> {
  if (baseline !== undefined) return patiently(session, patience, () => namedBaseline(session, baseline));
  if (baselineBranch === undefined) return undefined;
  const metadata = [`branch=${baselineBranch}`];
  const what = { dataset: idOf(dataset), harness: idOf(harness), metadata };
  const filter = { status: 'completed', stoppedEarly: 'false', ...what };
  const { items } = await patiently(session, patience, () =>
    list(session, '/scorecards', ScorecardReply, { limit: LOOKED_AT }, filter),
  );
  // The branch of a pull request may have any name: that of a fork, say, the same as ours.
  return items.find(({ id, metadata: { pr } }) => pr === undefined && id !== candidate)?.id;
}

const idOf = (ref: string): string => ref.split('@')[0] ?? ref;

async function namedBaseline({ client }: Session, given: string): Promise<string> {
  if (ScorecardId.safeParse(given).success) return (await client.get(pathOf(given), ScorecardReply)).reply.id;
  return (await client.get(`/baselines/${encodeURIComponent(given)}`, BaselineReply)).reply.scorecard;
}
