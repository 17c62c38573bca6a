import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { PlatformError } from '../../contracts/errors.js';
import { quoted } from '../../contracts/field-path.js';
import type { RunView } from '../../contracts/run.js';
import type { ListedRun } from '../../contracts/run-waiting.js';
import type { ScorecardRequest, ScorecardView, Settlement } from '../../contracts/scorecard.js';
import type { Stragglers } from '../../contracts/straggler.js';
import { decisionOf } from '../../policy/decision.js';
import { declaredResources, demandOf } from '../../policy/demand.js';
import { noteAudit } from '../../store/audit-draft.js';
import { contentHash } from '../../store/content-hash.js';
import { newId } from '../../store/ids.js';
import { ProgressStore } from '../../store/progress.store.js';
import { RunStore } from '../../store/run.store.js';
import { ScorecardStore } from '../../store/scorecard.store.js';
import type { Principal } from '../common/caller.js';
import { decodeCursor, type Page, toPage } from '../common/cursor.js';
import type { StreamEvent } from '../common/event-streams.js';
import { IdempotencyService, resolve } from '../common/idempotency.service.js';
import { MissingService } from '../common/missing.service.js';
import { Operator } from '../common/operator.js';
import { refuseForeignWork } from '../common/own-work.js';
import { notFound } from '../common/registration.js';
import type { RunQuery } from '../common/run-query.js';
import { confirmationBy, warningsOf } from '../common/uses.js';
import { WorkflowClient } from '../common/workflow.client.js';
import { WaitingService } from '../queue/waiting.service.js';
import { EarlyStopService } from './early-stop.service.js';
import type { EventPosition } from './event-position.js';
import { startRoot } from './root-start.js';
import { ScorecardGate } from './scorecard-gate.js';
import { ScorecardWatcher } from './scorecard-watcher.js';
import type { ScorecardQuery, StragglerQuery } from './scorecards.schema.js';

/** A scorecard that was submitted, with what is worth knowing of what it uses. */
export interface SubmittedScorecard {
  view: ScorecardView;
  warnings: string[];
}

@Injectable()
export class ScorecardsService {
  constructor(
    private readonly scorecards: ScorecardStore,
    private readonly runs: RunStore,
    private readonly progress: ProgressStore,
    private readonly watcher: ScorecardWatcher,
    private readonly gate: ScorecardGate,
    private readonly earlyStops: EarlyStopService,
    private readonly idempotency: IdempotencyService,
    private readonly workflows: WorkflowClient,
    private readonly waiting: WaitingService,
    private readonly operator: Operator,
    private readonly missing: MissingService,
  ) {}

  /** Stores a scorecard with all its runs once every gate is passed. Temporal may be down: workers start it later. */
  async submit(principal: Principal, request: ScorecardRequest, key: string | undefined): Promise<SubmittedScorecard> {
    const { workspace, subject } = principal;
    const idempotencyKey = this.idempotency.keyOf('POST /scorecards', key, request);
    const earlier = await this.idempotency.find(workspace, idempotencyKey);
    if (earlier !== undefined) return { view: await this.read(workspace, earlier), warnings: [] };

    noteAudit({ after: contentHash(request) });
    const { dataset, harness, sites, uses } = await this.gate.check(workspace, request);
    const earlyStop = await this.earlyStops.resolve(workspace, request, dataset);
    const id = newId('sc');
    const created = await this.scorecards.create({
      id,
      workspaceId: workspace,
      createdBy: subject,
      idempotencyKey,
      datasetPk: dataset.pk,
      harnessPk: harness.pk,
      confirmation: confirmationBy(principal, uses),
      sites,
      filter: request.cases,
      fallback: demandOf(declaredResources({}, harness.spec)),
      class: request.class,
      trials: request.trials,
      concurrency: request.concurrency,
      deadlineSec: request.deadlineSec,
      infraRetries: request.infraRetries,
      params: request.params ?? {},
      metadata: request.metadata,
      earlyStop,
      depth: this.operator.depth,
    });
    const view = await this.read(workspace, resolve(created));
    if (created.kind === 'created') {
      this.workflows.signalLimits(created.limits);
      startRoot(this.workflows, this.scorecards, workspace, view, earlyStop !== undefined);
    }
    return { view, warnings: created.kind === 'created' ? warningsOf(uses) : [] };
  }

  async list(
    workspace: string,
    { cursor, limit, stoppedEarly, ...filter }: ScorecardQuery,
  ): Promise<Page<ScorecardView>> {
    const after = decodeCursor(z.string(), cursor);
    const isStoppedEarly = stoppedEarly === undefined ? undefined : stoppedEarly === 'true';
    const rows = await this.scorecards.list(workspace, { ...filter, isStoppedEarly, after, limit: limit + 1 });
    return toPage(
      rows,
      limit,
      (view) => view,
      ({ id }) => id,
    );
  }

  async read(workspace: string, id: string): Promise<ScorecardView> {
    const found = await this.scorecards.find(workspace, id);
    if (!found) throw await this.missing.scorecard(workspace, id);
    return found;
  }

  async cases(workspace: string, id: string, query: RunQuery): Promise<Page<ListedRun>> {
    await this.mustExist(workspace, id);
    const { cursor, limit, state, outcome, class: errorClass } = query;
    const after = decodeCursor(z.int().min(0), cursor);
    const rows = await this.runs.pageByScorecard(id, { state, outcome, errorClass, after, limit: limit + 1 });
    const { items, next } = toPage(
      rows,
      limit,
      ({ run }) => run,
      ({ ordinal }) => ordinal,
    );
    return { items: await this.waiting.withWaiting(items), next };
  }

  /** An operator's decision over one run, in the database first. Its job, if any, is stopped and removed after. */
  async settle(
    { workspace, subject }: Principal,
    id: string,
    caseId: string,
    settlement: Settlement,
  ): Promise<RunView> {
    await this.read(workspace, id);
    noteAudit({ after: contentHash(settlement) });
    const run = pickTrial(await this.runs.ofCase(id, caseId), `case ${quoted(caseId)} of ${id}`, settlement.trial);
    await this.runs.decide(run.id, decisionOf(settlement), subject);
    const settled = await this.runs.find(workspace, run.id);
    if (!settled) throw notFound('run', run.id);
    if (settled.outcome !== settlement.outcome) {
      const who = settled.decidedBy === null ? 'its result' : `a decision of ${settled.decidedBy}`;
      throw new PlatformError('CONFLICT', `${run.id} is ${settled.outcome} already, by ${who}`);
    }
    if (settled.decidedBy !== null) {
      this.workflows.dropRun(id, run.id);
      await this.scorecards.complete(id);
    }
    return settled;
  }

  async stragglers(workspace: string, id: string, { limit }: StragglerQuery): Promise<Stragglers> {
    await this.read(workspace, id);
    return this.progress.stragglers(id, limit);
  }

  /** What happens to a scorecard after a position, until it is finished. */
  async watch(
    workspace: string,
    id: string,
    from: EventPosition,
    hasRuns: boolean,
  ): Promise<(signal: AbortSignal) => AsyncGenerator<StreamEvent>> {
    await this.read(workspace, id);
    return (signal) => this.watcher.watch(id, from, hasRuns, signal);
  }

  /** In the database first, then in Temporal. What is finished stays finished. */
  async cancel(caller: Principal, id: string): Promise<ScorecardView> {
    const { workspace } = caller;
    await this.mustExist(workspace, id);
    await refuseForeignWork(caller, id, (scorecard) => this.scorecards.submitterOf(scorecard));
    const outcome = await this.scorecards.requestCancel(id);
    if (outcome === 'requested') this.workflows.cancelScorecard(id);
    return this.read(workspace, id);
  }

  private async mustExist(workspace: string, id: string): Promise<void> {
    if (!(await this.scorecards.exists(workspace, id))) throw await this.missing.scorecard(workspace, id);
  }
}

/** The run that is meant among the trials of a case. */
function pickTrial(runs: readonly RunView[], what: string, trial: number | undefined): RunView {
  const [only, ...others] = runs;
  if (!only) throw new PlatformError('NOT_FOUND', `there is no ${what}`);
  if (trial === undefined) {
    if (others.length === 0) return only;
    const message = `${what} has ${runs.length} trials: say which is meant`;
    throw new PlatformError('BAD_REQUEST', message, { errors: [{ path: 'trial', message }] });
  }
  const meant = runs.find((run) => run.trial === trial);
  if (meant) return meant;
  throw new PlatformError('NOT_FOUND', `there is no trial ${trial} of ${what}, which has ${runs.length}`);
}
