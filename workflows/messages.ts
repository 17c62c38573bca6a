import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { AdmissionMessage, Demand, Grant, Lease, WorkClass } from '../contracts/admission.js';
import type { PoolView, QueuePage, QueueRequest } from '../contracts/admission-view.js';
import type { RuntimeKind } from '../contracts/runtime.js';
import type { Waiting } from '../contracts/waiting.js';
import type { CarriedLedger, EarlierCarriedLedger } from '../policy/admission/carry.js';
import type { Delivery, Refusal } from '../policy/admission/decision.js';
import type { Trace } from '../policy/admission/trace.js';

/** Input of `caseWorkflow`: ids, names and limits only; the case itself stays in Postgres. */
export interface CaseInput {
  workspaceId: string;
  scorecardId?: string;
  runId: string;
  /** For people reading the Temporal UI; cut to 100 characters. */
  caseId: string;
  poolId: string;
  kind: RuntimeKind;
  class: WorkClass;
  demand: Demand;
  infraRetries: number;
  /** The attempt to begin with: 1, or what an earlier incarnation of this case left. */
  attempt: number;
  /** When a slot was first asked for, epoch ms; absent: not yet. */
  askedAt?: number;
  /** Absent: the case asks for a slot itself. */
  grant?: { seq: number; epoch: number };
  /** That attempt is already open: go on with it under the slot it holds. */
  isOpen?: boolean;
  /** How long it may wait for a slot, seconds from when it first asked; a day unless given. */
  queueDeadlineSec?: number;
  /** Someone asked to cancel it while its attempt was open. */
  isCancelRequested?: boolean;
}

export interface WindowInput {
  workspaceId: string;
  scorecardId: string;
  /** Which partition of the scorecard: runs `index × 500` to `index × 500 + 499`. */
  index: number;
  /** Cases in flight at once, waiting or running. */
  width: number;
  /** The width itself is what limits it, so it is used to the full; else slots are asked for in groups, to spare messages. */
  isCapped: boolean;
  /** Once nothing is left to ask for, tells the root each time so many cases fewer are in flight. */
  reportStep: number;
  /** Each time so many of its cases ended, the root is told, which may then end the scorecard. Absent: it never does. */
  judgeStep?: number;
}

export interface ScorecardInput {
  workspaceId: string;
  scorecardId: string;
  total: number;
  /** When every run that has no outcome is ended, epoch ms. */
  deadlineAt?: number;
  /** It runs nothing: its answers are stored, and graded anew. */
  isRegrade?: true;
  /** It ends as soon as its verdict is certain. */
  stopsEarly?: true;
}

/** Input of `admissionWorkflow`. `carried` is what continue-as-new hands over; without it the ledger is rebuilt. */
export interface AdmissionInput {
  poolId: string;
  carried?: CarriedLedger | EarlierCarriedLedger;
  /** Grants to deliver once more. */
  again?: Delivery[];
  /** Tickets whose runs are yet to be ended. */
  refused?: Refusal[];
  /** When holders are looked at next, epoch ms. */
  surveyAt?: number;
}

/** Cases in one partition. */
export const WINDOW_CASES = 500;
export const DEFAULT_QUEUE_DEADLINE_SEC = 86_400;

export const caseWorkflowId = (runId: string): string => `case:${runId}`;
export const runIdOfHolder = (holder: string): string => holder.slice('case:'.length);
export const windowWorkflowId = (scorecardId: string, index: number): string => `window:${scorecardId}:${index}`;
/** The partition of a run `<scorecard>.<ordinal>`. */
export const windowIndexOf = (scorecardId: string, runId: string): number =>
  Math.floor(Number(runId.slice(scorecardId.length + 1)) / WINDOW_CASES);
export const windowOfRun = (scorecardId: string, runId: string): string =>
  windowWorkflowId(scorecardId, windowIndexOf(scorecardId, runId));
export const scorecardWorkflowId = (scorecardId: string): string => `scorecard:${scorecardId}`;
/** Pool `rt:<workspace>:<runtime id>` is served by `admission:<workspace>:<runtime id>`. */
export const admissionWorkflowId = (poolId: string): string => poolId.replace(/^rt:/, 'admission:');

/** The workspace whose runtime a pool belongs to. */
export const ownerOfPool = (poolId: string): string => poolId.split(':')[1] ?? '';

/** The id of the runtime that a pool belongs to. */
export const runtimeOfPool = (poolId: string): string => poolId.slice(poolId.lastIndexOf(':') + 1);

/** To an admission workflow: releases and requests in order, idempotent by holder. */
export const admissionRequested = defineSignal<AdmissionMessage[]>('admissionRequested');
/** To an admission workflow: the pool's limits changed to this version; it reads them anew. */
export const envelopeChanged = defineSignal<[number]>('envelopeChanged');
/** To a window or a case: these holders may start. */
export const slotsGranted = defineSignal<[Grant[]]>('slotsGranted');
/** To a window or a case that waits: the runs of these holders have their outcome, and wait for nothing. */
export const runsSettled = defineSignal<[string[]]>('runsSettled');
/** To a window and a root: this run is wanted before the others of its scorecard. */
export const runPromoted = defineSignal<[string]>('runPromoted');
/** To a root: this window has nothing left to ask for, and so many cases in flight. */
export const windowDrained = defineSignal<[WindowReport]>('windowDrained');
/** To a root: cases of a window have ended. */
export const casesEnded = defineSignal('casesEnded');
/** To a window: it may have so many cases in flight. */
export const windowWidened = defineSignal<[number]>('windowWidened');

export interface WindowReport {
  index: number;
  inFlight: number;
}

/** Of an admission workflow: what it has granted and not got back. Not answered before its ledger is read. */
export const heldLeases = defineQuery<HeldLease[]>('heldLeases');
/** Workers of before do not say the demand. */
export type HeldLease = Pick<Lease, 'holder' | 'seq' | 'grantedAt'> & Partial<Pick<Lease, 'demand'>>;
/** Of an admission workflow: limits, use, holders, and who waits. */
export const poolView = defineQuery<PoolView>('poolView');
/** Of an admission workflow: a part of its queue in true order. */
export const queuePage = defineQuery<QueuePage, [QueueRequest]>('queuePage');
/** Of an admission workflow: its last decisions, and all it takes to make them again elsewhere. */
export const decisionTrace = defineQuery<Trace>('decisionTrace');
/** Of an admission workflow: why these runs wait, by run. */
export const waitingOf = defineQuery<Record<string, Waiting>, [string[]]>('waitingOf');

export const casePhase = defineQuery<CasePhase>('casePhase');
export type CasePhase = 'waiting' | 'running' | 'settling' | 'backing-off' | 'done';

export const TASK_QUEUES = { control: 'control', cases: 'cases', local: 'local' } as const;
/** Where the activities of an attempt run: those of a local runtime belong to its host. */
export const caseQueue = (kind: RuntimeKind): string => (kind === 'local' ? TASK_QUEUES.local : TASK_QUEUES.cases);

const keyword = <Name extends string>(name: Name) => ({ name, type: 'KEYWORD' }) as const;

/** What a workflow can be searched by. Each server must know them before the first start. */
export const SEARCH_ATTRIBUTES = {
  workspace: keyword('EverdictWorkspace'),
  scorecard: keyword('EverdictScorecard'),
  runtime: keyword('EverdictRuntime'),
  phase: keyword('EverdictPhase'),
  outcome: keyword('EverdictOutcome'),
};

/** Commands that show more of a workflow than its history does, in Markdown. */
const toLookAt = (...commands: string[]): string => commands.map((each) => `\`npx everdict ${each}\``).join('  \n');

/** Options under which a root workflow is started, by whoever does: a second start finds the first. */
export const scorecardStart = (input: ScorecardInput, workflowTaskMs: number) => ({
  args: [input] as [ScorecardInput],
  workflowId: scorecardWorkflowId(input.scorecardId),
  taskQueue: TASK_QUEUES.control,
  workflowTaskTimeout: workflowTaskMs,
  workflowIdConflictPolicy: 'USE_EXISTING' as const,
  workflowIdReusePolicy: 'REJECT_DUPLICATE' as const,
  staticSummary: `${input.workspaceId} · ${input.scorecardId}`,
  staticDetails: toLookAt(`scorecard show ${input.scorecardId}`, `scorecard cases ${input.scorecardId} --not-passed`),
  typedSearchAttributes: [
    { key: SEARCH_ATTRIBUTES.workspace, value: input.workspaceId },
    { key: SEARCH_ATTRIBUTES.scorecard, value: input.scorecardId },
    { key: SEARCH_ATTRIBUTES.phase, value: 'running' },
  ],
});

export const phaseAtStart = ({ grant, isOpen }: CaseInput): CasePhase => (grant || isOpen ? 'running' : 'waiting');

/** Options under which a case workflow is started, by a window or, for a single run, by the API or the outbox. */
export const caseStart = (input: CaseInput, workflowTaskMs: number) => ({
  args: [input] as [CaseInput],
  workflowId: caseWorkflowId(input.runId),
  taskQueue: TASK_QUEUES.cases,
  workflowTaskTimeout: workflowTaskMs,
  staticSummary: [input.workspaceId, input.scorecardId ?? 'run', input.caseId].join(' · '),
  staticDetails: toLookAt(`run show ${input.runId}`, `run attempts ${input.runId}`, `run logs ${input.runId}`),
  typedSearchAttributes: [
    { key: SEARCH_ATTRIBUTES.workspace, value: input.workspaceId },
    ...(input.scorecardId ? [{ key: SEARCH_ATTRIBUTES.scorecard, value: input.scorecardId }] : []),
    { key: SEARCH_ATTRIBUTES.runtime, value: input.poolId },
    { key: SEARCH_ATTRIBUTES.phase, value: phaseAtStart(input) },
  ],
});
