import type { Grant, Ticket } from '../contracts/admission.js';
import { EvalCase } from '../contracts/case.js';
import { Dataset } from '../contracts/dataset.js';
import type { EarlyStopPlan } from '../contracts/early-stop.js';
import { GateRules } from '../contracts/gate.js';
import { HarnessSpec } from '../contracts/harness.js';
import type { Score } from '../contracts/run.js';
import { RuntimeSpec } from '../contracts/runtime.js';
import { ScorecardRequest } from '../contracts/scorecard.js';
import type { JobRecord } from '../policy/record.js';
import type { Registrant } from '../store/registration.js';

/** What a test may say of a spec: any part of it, as a client would write it. */
type Parts = Record<string, unknown>;

export const MEMBER: Registrant = { subject: 'mel', mayConfirm: true };
/** Registers what is unconfirmed. */
export const VIEWER: Registrant = { subject: 'vic', mayConfirm: false };

let made = 0;
const next = (): number => {
  made += 1;
  return made;
};

export const aCase = (parts: Parts = {}): EvalCase =>
  EvalCase.parse({ id: `case-${next()}`, task: 'say hello', ...parts });

/** `size`: so many cases `case-0`, `case-1`, …, unless `cases` are given. */
export function aDataset({ size = 3, ...parts }: Parts & { size?: number } = {}): Dataset {
  const cases = Array.from({ length: size }, (_, i) => aCase({ id: `case-${i}` }));
  return Dataset.parse({ id: 'tasks', version: '1.0.0', cases, ...parts });
}

/** Ends a scorecard as soon as one case failed, unless other rules are given. */
export const anEarlyStop = (rules: Parts = { minPassRate: 1 }, parts: Partial<EarlyStopPlan> = {}): EarlyStopPlan => ({
  policy: { ref: null, hash: 'hash', rules: GateRules.parse(rules) },
  ...{ baseline: null, errorRate: 0, minCases: 1 },
  ...parts,
});

export const aHarness = (parts: Parts = {}): HarnessSpec =>
  HarnessSpec.parse({ kind: 'command', id: 'echo', version: '1.0.0', command: 'cat "$EVERDICT_TASK_FILE"', ...parts });

/** A harness that prints its record itself. */
export const aProcess = (parts: Parts = {}): HarnessSpec =>
  HarnessSpec.parse({ kind: 'process', id: 'program', version: '1.0.0', entrypoint: ['/bin/agent'], ...parts });

export const aRuntime = (parts: Parts = {}): RuntimeSpec =>
  RuntimeSpec.parse({ kind: 'local', id: 'here', version: '1.0.0', maxConcurrent: 4, ...parts });

export const aNomadRuntime = (parts: Parts = {}): RuntimeSpec =>
  RuntimeSpec.parse({
    kind: 'nomad',
    id: 'cluster',
    version: '1.0.0',
    addr: 'http://127.0.0.1:4646',
    image: 'debian:12',
    ...parts,
  });

export const aK8sRuntime = (parts: Parts = {}): RuntimeSpec =>
  RuntimeSpec.parse({
    kind: 'k8s',
    id: 'kube',
    version: '1.0.0',
    server: 'https://127.0.0.1:6443',
    authSecret: 'kube-token',
    image: 'debian:12',
    ...parts,
  });

export const aScorecardRequest = (parts: Parts = {}): ScorecardRequest =>
  ScorecardRequest.parse({ dataset: 'tasks', harness: 'echo', runtime: 'here', ...parts });

export function aTicket(parts: Partial<Ticket> = {}): Ticket {
  const holder = parts.holder ?? `case:run-${next()}`;
  return { holder, to: holder, workspace: 'default', class: 'batch', demand: {}, askedAt: 1_000, ...parts };
}

export const aGrant = (parts: Partial<Grant> = {}): Grant => ({ holder: 'case:run-1', seq: 1, epoch: 1, ...parts });

export const aScore = (parts: Partial<Score> = {}): Score => ({
  grader: 'equals',
  kind: 'equals',
  passed: true,
  detail: 'as expected',
  ...parts,
});

export const aRecord = (parts: Partial<JobRecord> = {}): JobRecord => ({
  status: 0,
  timer: 'none',
  setupMs: 10,
  commandMs: 20,
  answerFrom: 'stdout',
  answer: Buffer.from('42\n'),
  answerCut: false,
  graders: [],
  leftovers: 0,
  ...parts,
});

/** Of jobs on clusters, as deployments have it unless they say otherwise. */
export const PATIENCE = { startMs: 900_000, pullErrorMs: 60_000 };
