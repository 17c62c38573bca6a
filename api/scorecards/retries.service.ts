import { Injectable } from '@nestjs/common';
import { PlatformError } from '../../contracts/errors.js';
import { RetryClass } from '../../contracts/reroll.js';
import type { ScorecardView } from '../../contracts/scorecard.js';
import { noteAudit } from '../../store/audit-draft.js';
import { contentHash } from '../../store/content-hash.js';
import { newId } from '../../store/ids.js';
import { RetryStore } from '../../store/retry.store.js';
import { ScorecardStore } from '../../store/scorecard.store.js';
import type { Principal } from '../common/caller.js';
import { IdempotencyService, resolve } from '../common/idempotency.service.js';
import { Operator } from '../common/operator.js';
import { refuseForeignWork } from '../common/own-work.js';
import { confirmationBy, warningsOf } from '../common/uses.js';
import { WorkflowClient } from '../common/workflow.client.js';
import { RetryGate } from './retry-gate.js';
import { startRoot } from './root-start.js';
import { ScorecardsService, type SubmittedScorecard } from './scorecards.service.js';

/** Runs the cases of a finished scorecard again whose results say nothing, and carries the others on. */
@Injectable()
export class RetriesService {
  constructor(
    private readonly scorecards: ScorecardsService,
    private readonly store: ScorecardStore,
    private readonly retries: RetryStore,
    private readonly gate: RetryGate,
    private readonly idempotency: IdempotencyService,
    private readonly workflows: WorkflowClient,
    private readonly operator: Operator,
  ) {}

  /** One that is finished is left as it is: what comes of the retry is another. */
  async retry(
    caller: Principal,
    id: string,
    asked: readonly RetryClass[],
    key: string | undefined,
  ): Promise<SubmittedScorecard> {
    const { workspace, subject: by } = caller;
    const classes = RetryClass.options.filter((one) => asked.includes(one));
    const idempotencyKey = this.idempotency.keyOf('POST /scorecards/:id/retry', key, { id, classes });
    const earlier = await this.idempotency.find(workspace, idempotencyKey);
    if (earlier !== undefined) return { view: await this.scorecards.read(workspace, earlier), warnings: [] };

    const of = await this.scorecards.read(workspace, id);
    await refuseForeignWork(caller, id, (scorecard) => this.store.submitterOf(scorecard));
    refuseUnfinished(of, 'retried');
    refuseRegraded(of);
    noteAudit({ after: contentHash({ id, classes }) });
    const plan = await this.retries.plan(id, classes);
    const { retried, decidedAgain } = plan;
    if (retried === 0) throw nothingLeft(id, classes, await this.retries.outcomes(id));
    const uses = await this.gate.check(workspace, of.dataset, plan);
    const { counts, rates } = of;
    const created = await this.retries.create({
      id: newId('sc'),
      workspaceId: workspace,
      createdBy: by,
      idempotencyKey,
      confirmation: confirmationBy(caller, uses),
      reroll: { scorecard: id, classes, retried, decidedAgain, by, at: new Date().toISOString(), counts, rates },
      depth: this.operator.depth,
    });
    const view = await this.scorecards.read(workspace, resolve(created));
    if (created.kind !== 'created') return { view, warnings: [] };
    this.workflows.signalLimits(created.limits);
    startRoot(this.workflows, this.store, workspace, view);
    return { view, warnings: warningsOf(uses) };
  }
}

/** Its results are to be final before they are carried on. */
export function refuseUnfinished({ id, status, finishedAt }: ScorecardView, done: string): void {
  if (finishedAt !== null) return;
  throw new PlatformError('CONFLICT', `${id} is ${status}: wait for its end, or cancel it, before it is ${done}`);
}

/** What runs again would be judged by other graders than what is carried. */
function refuseRegraded({ id, regradeOf }: ScorecardView): void {
  if (regradeOf === null) return;
  const message = `${id} was graded anew and has run nothing itself: retry ${regradeOf}, and re-grade what comes of it`;
  throw new PlatformError('CONFLICT', message);
}

function nothingLeft(
  id: string,
  classes: readonly RetryClass[],
  outcomes: readonly { what: string; runs: number }[],
): PlatformError {
  const none = `no result is of class ${classes.join(' or ')}`;
  const has = outcomes.map(({ what, runs }) => `${runs} ${what}`).join(', ');
  const message = `${none}, so nothing of ${id} would run again; it has ${has}`;
  return new PlatformError('NO_CASES', message, { errors: [{ path: 'class', message: none }] });
}
