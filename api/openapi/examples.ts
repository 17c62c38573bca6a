/** Inputs that work as they stand, for people who try the API from its description. */

export const RUNTIME = { kind: 'local', id: 'desk', version: '1.0.0', maxConcurrent: 4 };

export const NOMAD_RUNTIME = {
  kind: 'nomad',
  id: 'rack-a',
  version: '1.0.0',
  addr: 'https://nomad.example.com:4646',
  image: 'debian:12',
  authSecret: 'NOMAD_TOKEN',
};

export const HARNESS = {
  kind: 'command',
  id: 'shout',
  version: '1.0.0',
  command: 'printf %s "$EVERDICT_TASK" | tr a-z A-Z',
};

export const CASE = {
  id: 'greeting',
  task: 'hello',
  graders: [{ kind: 'equals', value: 'HELLO' }],
};

export const DATASET = { id: 'greetings', version: '1.0.0', cases: [CASE] };

export const SCORECARD_REQUEST = {
  dataset: 'greetings@1.0.0',
  harness: 'shout@1.0.0',
  runtime: 'desk',
  metadata: { sha: '4f2a9c1' },
};

export const SIMULATION_REQUEST = { runtime: 'desk', change: { slots: 8 } };

export const SETTLEMENT = { outcome: 'failed', reason: 'hangs on a prompt that nobody answers' };

export const POLICY = {
  id: 'merge',
  version: '1.0.0',
  minPassRate: 0.9,
  maxRegressions: 0,
  minCoverage: 1,
};

export const GATE_REQUEST = {
  baseline: 'main',
  candidate: 'sc_01k5x9v2c8f3t7q4m6n0w1y2z3',
  policy: 'merge',
};

export const GATE_OVERRIDE = { verdict: 'pass', reason: 'the case asks for a file that moved' };

export const SECRET = { use: 'cluster', value: 'a token', origins: ['https://nomad.example:4646'] };

export const RUN_REQUEST = { dataset: 'greetings', caseId: 'greeting', harness: 'shout', runtime: 'desk' };

export const SUBMITTED = {
  id: 'sc_01k5x9v2c8f3t7q4m6n0w1y2z3',
  status: 'queued',
  runtime: 'desk@1.0.0',
  cases: 1,
  links: {
    self: '/scorecards/sc_01k5x9v2c8f3t7q4m6n0w1y2z3',
    cases: '/scorecards/sc_01k5x9v2c8f3t7q4m6n0w1y2z3/cases',
    cancel: '/scorecards/sc_01k5x9v2c8f3t7q4m6n0w1y2z3/cancel',
  },
};

export const LAST_EVENT_ID = { 'Last-Event-ID': 'The id of the last event that is known, to go on after it' };

export const IDEMPOTENCY_HEADER = {
  'Idempotency-Key': 'Sending the request again with the same key within 24 hours makes nothing new',
};
