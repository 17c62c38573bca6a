import { CliError } from '../failures.js';
import { list } from '../pages.js';
import { pathOf } from '../scorecard-wait.js';
import type { Session } from '../session.js';
import { isOver } from '../watch.js';
import { ScorecardReply } from '../wire.js';

/** Scorecards of one pull request that are looked at, newest first. */
const LOOKED_AT = 50;

type Metadata = ScorecardReply['metadata'];

/**
 * Cancels what is older and unfinished of the same pull request, dataset and harness; and of the same key, where there is
 * one. Ids are in the order of time.
 */
export async function supersede(session: Session, id: string): Promise<void> {
  const { reply: own } = await session.client.get(pathOf(id), ScorecardReply);
  const { pr, repository, key } = own.metadata;
  if (pr === undefined) {
    session.note('note: nothing is superseded, as no pull request is known; say which with --metadata pr=…');
    return;
  }
  const narrowed = Object.entries({ repository, key }).filter(([, value]) => value !== undefined);
  const metadata = [`pr=${pr}`, ...narrowed.map(([name, value]) => `${name}=${value}`)];
  const [dataset, harness] = [own.dataset, own.harness].map((ref) => ref.split('@')[0]);
  const filter = { metadata, dataset, harness };
  const { items } = await list(session, '/scorecards', ScorecardReply, { limit: LOOKED_AT }, filter);
  const older = items.filter((each) => each.id < id && !isOver(each) && !isOfNewerRun(each.metadata, own.metadata));
  for (const each of older) await cancel(session, each.id);
}

/** A CI run that began earlier may submit later. */
const isOfNewerRun = ({ run }: Metadata, own: Metadata): boolean => Number(run) > Number(own.run);

async function cancel(session: Session, id: string): Promise<void> {
  try {
    await session.client.post(pathOf(id, '/cancel'), ScorecardReply);
    session.note(`${id}: cancelled, as a newer one of the same pull request takes its place`);
  } catch (error) {
    if (!(error instanceof CliError) || error.problem?.code !== 'FORBIDDEN') throw error;
    session.note(`${id} is older and goes on: ${error.message}`);
  }
}
