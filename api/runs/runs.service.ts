import { Injectable } from '@nestjs/common';
import type { EvalCase } from '../../contracts/case.js';
import { PlatformError } from '../../contracts/errors.js';
import { quoted } from '../../contracts/field-path.js';
import type { HarnessSpec } from '../../contracts/harness.js';
import { RunId } from '../../contracts/ids.js';
import { logPosition } from '../../contracts/log-events.js';
import type { AttemptView, RunView } from '../../contracts/run.js';
import type { ListedRun, ShownRun } from '../../contracts/run-waiting.js';
import { AUTO_RUNTIME, type RunRequest } from '../../contracts/scorecard.js';
import { caseFaults } from '../../policy/cases.js';
import { declaredResources, demandOf } from '../../policy/demand.js';
import { AttemptStore } from '../../store/attempt.store.js';
import { noteAudit } from '../../store/audit-draft.js';
import { contentHash } from '../../store/content-hash.js';
import { DatasetStore } from '../../store/dataset.store.js';
import { DeletionStore } from '../../store/deletion.store.js';
import { newId } from '../../store/ids.js';
import { type LogChunk, LogStore } from '../../store/log.store.js';
import type { LogOffsets } from '../../store/log-page.js';
import { type NewRun, RunStore } from '../../store/run.store.js';
import { ScorecardStore } from '../../store/scorecard.store.js';
import type { Principal } from '../common/caller.js';
import { CaseGate, type Site } from '../common/case-gate.js';
import { decodeCursor, type Page, toPage } from '../common/cursor.js';
import type { StreamEvent } from '../common/event-streams.js';
import { IdempotencyService, resolve } from '../common/idempotency.service.js';
import { MissingService } from '../common/missing.service.js';
import { Operator } from '../common/operator.js';
import { refuseForeignWork } from '../common/own-work.js';
import { PlacementService } from '../common/placement.service.js';
import { ReferencesService } from '../common/references.service.js';
import { notFound } from '../common/registration.js';
import type { RunQuery } from '../common/run-query.js';
import { invalid } from '../common/schema.pipe.js';
import { confirmationBy, type Use, warningsOf } from '../common/uses.js';
import { WorkflowClient } from '../common/workflow.client.js';
import { WaitingService } from '../queue/waiting.service.js';
import { type AttemptOf, keptChunks } from './log-bytes.js';
import { LogFollower } from './log-follower.js';
import type { LogQuery } from './runs.schema.js';

interface Asked {
  evalCase: EvalCase;
  stored: NewRun['case'];
  uses: Use[];
}

/** A run that was submitted, with what is worth knowing of what it uses. */
interface SubmittedView {
  view: RunView;
  warnings: string[];
}

/** A log to send: its chunks, and where its stream ends so far. */
export interface JobLog {
  chunks: AsyncIterable<LogChunk>;
  from: LogOffsets;
  end?: number;
}

@Injectable()
export class RunsService {
  constructor(
    private readonly runs: RunStore,
    private readonly attempts: AttemptStore,
    private readonly logs: LogStore,
    private readonly follower: LogFollower,
    private readonly datasets: DatasetStore,
    private readonly references: ReferencesService,
    private readonly placement: PlacementService,
    private readonly idempotency: IdempotencyService,
    private readonly workflows: WorkflowClient,
    private readonly operator: Operator,
    private readonly waiting: WaitingService,
    private readonly scorecards: ScorecardStore,
    private readonly missing: MissingService,
    private readonly deletions: DeletionStore,
  ) {}

  async submit(principal: Principal, request: RunRequest, key: string | undefined): Promise<SubmittedView> {
    const { workspace, subject } = principal;
    const idempotencyKey = this.idempotency.keyOf('POST /runs', key, request);
    const earlier = await this.idempotency.find(workspace, idempotencyKey);
    if (earlier !== undefined) return { view: await this.read(workspace, earlier), warnings: [] };

    noteAudit({ after: contentHash(request) });
    const { evalCase, stored, uses: ofCase } = await this.caseOf(workspace, request);
    const harness = await this.references.harness(workspace, request.harness, request.params);
    const site = await this.siteOf(workspace, request, evalCase, harness.spec);
    this.pass(evalCase, harness.spec, request, site);
    const uses: Use[] = [...ofCase, { table: 'harnesses', version: harness }, { table: 'runtimes', version: site }];
    const run: NewRun = {
      id: newId('run'),
      workspaceId: workspace,
      createdBy: subject,
      idempotencyKey,
      case: stored,
      harnessPk: harness.pk,
      confirmation: confirmationBy(principal, uses),
      site: { poolId: site.poolId, version: site.spec.version },
      class: request.class,
      demand: demandOf(declaredResources(evalCase, harness.spec)),
      infraRetries: request.infraRetries,
      params: request.params ?? {},
      metadata: request.metadata,
      depth: this.operator.depth,
    };
    const created = await this.runs.create(run);
    const view = await this.read(workspace, resolve(created));
    if (created.kind !== 'created') return { view, warnings: [] };
    this.workflows.signalLimits(created.limits);
    this.start(run, evalCase, site);
    return { view, warnings: warningsOf(uses) };
  }

  async list(
    workspace: string,
    { cursor, limit, state, outcome, class: errorClass }: RunQuery,
  ): Promise<Page<ListedRun>> {
    const after = decodeCursor(RunId, cursor);
    const runs = await this.runs.pageOfSingles(workspace, { state, outcome, errorClass, after, limit: limit + 1 });
    const { items, next } = toPage(
      runs,
      limit,
      (run) => run,
      ({ id }) => id,
    );
    return { items: await this.waiting.withWaiting(items), next };
  }

  async read(workspace: string, id: string): Promise<RunView> {
    const found = await this.runs.find(workspace, id);
    if (!found) throw await this.missing.run(workspace, id);
    return found;
  }

  async show(workspace: string, id: string): Promise<ShownRun> {
    return this.waiting.withPlacement(await this.read(workspace, id));
  }

  async listAttempts(workspace: string, id: string): Promise<AttemptView[]> {
    return this.attempts.list(originOf(await this.read(workspace, id)));
  }

  /** What the job printed, without the result record. */
  async readLog(workspace: string, id: string, { stream, attempt, offset = 0 }: LogQuery): Promise<JobLog> {
    const of = await this.attemptOf(workspace, id, attempt);
    const ends = await this.logs.kept(of.runId, of.attempt);
    if (stream === undefined) {
      const start = { stdout: 0, stderr: 0 };
      return { chunks: keptChunks(this.logs, of, start, ends), from: start };
    }
    const end = Math.max(offset, ends[stream]);
    const start = { [stream]: offset };
    return { chunks: keptChunks(this.logs, of, start, { [stream]: end }), from: start, end };
  }

  /** The log as it grows, from the position after which a reader wants to go on, else from the attempt's beginning. */
  async followLog(
    workspace: string,
    id: string,
    { stream, attempt, from }: Pick<LogQuery, 'stream' | 'attempt' | 'from'>,
  ): Promise<(signal: AbortSignal) => AsyncGenerator<StreamEvent>> {
    const position = from === undefined ? undefined : logPosition(from);
    const first = await this.attemptOf(workspace, id, position?.attempt || attempt);
    const begin = { attempt: first.attempt, stdout: 0, stderr: 0 };
    return (signal) => this.follower.follow(first.runId, position ?? begin, stream, signal);
  }

  /** The attempt that is asked for, else the last; 0 before the first. Of a run that was carried, those it came with. */
  private async attemptOf(workspace: string, id: string, wanted: number | undefined): Promise<AttemptOf> {
    const run = await this.read(workspace, id);
    const { attempts } = run;
    const runId = originOf(run);
    const purgedAt = await this.deletions.logsPurgedAt(runId);
    if (purgedAt) throw logsGone(id, purgedAt);
    if (wanted === undefined || wanted <= attempts) return { runId, attempt: wanted ?? attempts };
    throw notFound('attempt', `${wanted} of run ${id}, which has ${attempts}`);
  }

  /** In the database first, then in Temporal. A run that has its outcome keeps it. */
  async cancel(caller: Principal, id: string): Promise<RunView> {
    const { workspace } = caller;
    const { scorecard } = await this.read(workspace, id);
    await refuseForeignWork(caller, id, (run) => this.runs.submitterOf(run));
    const outcome = await this.runs.requestCancel(id);
    if (outcome === 'cancelled' && scorecard !== null) {
      // It is its window that waits for it.
      this.workflows.dropRun(scorecard, id);
      await this.scorecards.complete(scorecard);
    } else if (outcome !== 'finished') this.workflows.cancelCase(id);
    return this.read(workspace, id);
  }

  private async caseOf(workspace: string, { case: own, dataset: ref, caseId }: RunRequest): Promise<Asked> {
    if (own) {
      const faults = caseFaults(own).map(({ path, message }) => ({ path: `case.${path}`, message }));
      if (faults.length > 0) throw invalid('the case', faults, 'BAD_SPEC');
      return { evalCase: own, stored: { own }, uses: [] };
    }
    const dataset = await this.references.dataset(workspace, ref ?? '');
    const found = await this.datasets.findCase(dataset.pk, caseId ?? '');
    if (!found) throw notFound('case', `${quoted(caseId ?? '')} in dataset ${dataset.id}@${dataset.version}`);
    return {
      evalCase: found.case,
      stored: { datasetPk: dataset.pk, ordinal: found.ordinal, id: found.case.id },
      uses: [{ table: 'datasets', version: dataset }],
    };
  }

  private async siteOf(
    workspace: string,
    request: RunRequest,
    evalCase: EvalCase,
    harness: HarnessSpec,
  ): Promise<Site> {
    const { placement } = evalCase;
    if (request.runtime === AUTO_RUNTIME) {
      const choice = await this.placement.begin(workspace, harness);
      choice.add(evalCase);
      return choice.site();
    }
    if (request.runtime !== undefined) return this.references.site(workspace, request.runtime);
    if (placement?.target !== undefined) return this.references.target(workspace, placement.target);
    const message = 'the case names no `placement.target`: give `runtime`';
    throw new PlatformError('RUNTIME_REQUIRED', message, { errors: [{ path: 'runtime', message }] });
  }

  private pass(evalCase: EvalCase, harness: HarnessSpec, { params = {} }: RunRequest, site: Site): void {
    const gate = new CaseGate(harness, params, this.operator);
    gate.check(evalCase, site);
    gate.close();
  }

  private start(run: NewRun, { id: caseId }: EvalCase, { poolId, spec: { kind } }: Site): void {
    const { id: runId, workspaceId, class: workClass, demand, infraRetries } = run;
    const input = {
      workspaceId,
      runId,
      caseId: caseId.slice(0, 100),
      poolId,
      kind,
      class: workClass,
      demand,
      infraRetries,
    };
    this.workflows.startCase(input, () => this.runs.markStarted(runId));
  }
}

/** The run that has its attempts and logs. */
const originOf = ({ id, carriedFrom }: RunView): string => carriedFrom ?? id;

function logsGone(id: string, at: Date): PlatformError {
  const message = `the log of ${id} was deleted by the retention of the workspace at ${at.toISOString()}: its result and its answer are kept (GET /runs/${id}/attempts)`;
  return new PlatformError('NOT_FOUND', message);
}
