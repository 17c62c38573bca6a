import { PlatformError } from '../contracts/errors.js';
import { retryAfterSec } from '../policy/depth.js';
import { type Queryable, row, rows } from './sql.js';

/** How many runs without outcome there may be: of one workspace, and of them all. */
export interface DepthCaps {
  workspace: number;
  deployment: number;
}

/** Of a workspace, or absent: of the deployment. */
interface Scope {
  workspaceId?: string;
  cap: number;
}

/** What was counted, and how long it is relied on. */
interface Full {
  there: number;
  settledPerSec: number;
  until: number;
}

/** A scope that is full is counted again only after so many times as long as counting took. */
const REST_PER_COUNT = 5;
/** Scorecards, the oldest first, and runs of each, the last settled first, that a pace is taken from. */
const PACED_SCORECARDS = 50;
const PACED_RUNS = 1_000;
const PACE_SEC = 60;

/** Keeps what waits within its caps, at what is submitted. */
export class Depth {
  /** By workspace; the deployment's is ''. */
  private readonly full = new Map<string, Full>();

  constructor(private readonly caps: DepthCaps) {}

  /** Refuses what is too much already, before anything is inserted. Takes no lock: `require` decides. */
  async refuseHopeless(db: Queryable, workspaceId: string, runs: number): Promise<void> {
    for (const scope of this.scopes(workspaceId)) {
      const { there = 0, until = 0 } = this.full.get(keyOf(scope)) ?? {};
      if (performance.now() < until && there + runs > scope.cap) throw this.refusal(scope, runs);
      await this.check(db, scope, runs, 0);
    }
  }

  /**
   * Refuses the runs that this transaction has inserted if there are more now than there may be. To be called last, shortly
   * before the commit: of two submits at once the later one waits for that, and counts the runs of the earlier one. What
   * a workspace has is counted under its own lock, and only the sum of all makes others wait.
   */
  async require(db: Queryable, workspaceId: string, runs: number): Promise<void> {
    for (const scope of this.scopes(workspaceId)) {
      const name = scope.workspaceId === undefined ? 'depth' : `depth of ${workspaceId}`;
      await rows(db, 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
      await this.check(db, scope, runs, runs);
    }
  }

  private scopes(workspaceId: string): Scope[] {
    return [{ workspaceId, cap: this.caps.workspace }, { cap: this.caps.deployment }];
  }

  /** `inserted` of the runs are among those that are there. Counts runs only where their scorecards have too many. */
  private async check(db: Queryable, scope: Scope, runs: number, inserted: number): Promise<void> {
    const room = scope.cap - runs + inserted;
    if ((await atMost(db, scope)) <= room) return;
    const began = performance.now();
    const counted = await exactly(db, scope);
    if (counted <= room) return;
    const settledPerSec = (await settledLately(db, scope)) / PACE_SEC;
    const now = performance.now();
    this.full.set(keyOf(scope), {
      there: counted - inserted,
      settledPerSec,
      until: now + REST_PER_COUNT * (now - began),
    });
    throw this.refusal(scope, runs);
  }

  private refusal(scope: Scope, asked: number): PlatformError {
    const { workspaceId, cap } = scope;
    const { there = cap, settledPerSec = 0 } = this.full.get(keyOf(scope)) ?? {};
    const who = workspaceId === undefined ? 'this deployment' : `workspace ${workspaceId}`;
    const afterSec = retryAfterSec({ cap, there, asked }, settledPerSec);
    const what = `${who} may have ${cap} runs without outcome; it has ${there}, and ${asked} more were asked for`;
    const advice = asked > cap ? 'submit fewer' : `try again in ${afterSec} s`;
    return new PlatformError('QUEUE_FULL', `${what}: ${advice}`, { retryAfterSec: afterSec });
  }
}

const keyOf = ({ workspaceId = '' }: Scope): string => workspaceId;

const within = ({ workspaceId }: Scope): string => (workspaceId === undefined ? '' : 'AND workspace_id = $1');
const paramsOf = ({ workspaceId }: Scope): unknown[] => (workspaceId === undefined ? [] : [workspaceId]);

const singles = (scope: Scope): string =>
  `(SELECT count(*) FROM runs WHERE scorecard_id IS NULL AND outcome IS NULL ${within(scope)})`;

/** Not fewer than there are: every run of a scorecard that is not finished counts. */
async function atMost(db: Queryable, scope: Scope): Promise<number> {
  const found = await row<{ runs: number }>(
    db,
    `SELECT (SELECT coalesce(sum(total), 0) FROM scorecards WHERE finished_at IS NULL ${within(scope)})
       + ${singles(scope)} AS runs`,
    paramsOf(scope),
  );
  return found?.runs ?? 0;
}

async function exactly(db: Queryable, scope: Scope): Promise<number> {
  // Scorecard by scorecard: the planner would else read all runs there are.
  const found = await row<{ runs: number }>(
    db,
    `SELECT (SELECT coalesce(sum(open.runs), 0)::bigint
             FROM (SELECT id FROM scorecards WHERE finished_at IS NULL ${within(scope)}) s
             CROSS JOIN LATERAL (
               SELECT count(*) AS runs FROM runs
               WHERE scorecard_id = s.id AND outcome IS NULL AND carried_from IS NULL) open)
       + ${singles(scope)} AS runs`,
    paramsOf(scope),
  );
  return found?.runs ?? 0;
}

/** Runs that settled within the last minute, as far as the oldest scorecards tell. */
async function settledLately(db: Queryable, scope: Scope): Promise<number> {
  const found = await row<{ settled: number }>(
    db,
    `SELECT count(*) AS settled FROM (
       SELECT id FROM scorecards WHERE finished_at IS NULL ${within(scope)}
       ORDER BY created_at LIMIT ${PACED_SCORECARDS}) s
     CROSS JOIN LATERAL (
       SELECT settled_at FROM runs
       WHERE scorecard_id = s.id AND settled_xid IS NOT NULL AND carried_from IS NULL
       ORDER BY settled_xid DESC, ordinal DESC LIMIT ${PACED_RUNS}) r
     WHERE r.settled_at > now() - make_interval(secs => ${PACE_SEC})`,
    paramsOf(scope),
  );
  return found?.settled ?? 0;
}
