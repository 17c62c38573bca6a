import { placementTimeout } from '../start-timeouts.js';
import { undecided, waitingOf } from './nomad.placement.js';
import { JobEvaluations } from './nomad.replies.js';

const GPU_CLASS = `\${node.class} = gpu`;
const JOB = { Datacenters: ['nowhere', 'dc2'] };

const failing = (metrics: object) => ({ FailedTGAllocs: { case: { NodesEvaluated: 4, ...metrics } } });
const registered = (metrics: object, more: object = {}) => ({
  ID: 'e1',
  Status: 'complete',
  TriggeredBy: 'job-register',
  CreateIndex: 20,
  QueuedAllocations: { case: 1 },
  BlockedEval: 'e2',
  ...failing(metrics),
  ...more,
});
const blocked = (metrics: object, more: object = {}) => ({
  ID: 'e2',
  Status: 'blocked',
  TriggeredBy: 'queued-allocs',
  StatusDescription: 'created to place remaining allocations',
  CreateIndex: 21,
  ...failing(metrics),
  ...more,
});
const waiting = (...evaluations: object[]) => waitingOf(JOB, JobEvaluations.parse(evaluations))?.detail;

test.each<[string, object, string | RegExp]>([
  [
    'D31 two dimensions',
    { DimensionExhausted: { memory: 1, cpu: 1 } },
    'placement blocked: cpu exhausted on 1 node, memory exhausted on 1 node',
  ],
  ['memory', { DimensionExhausted: { memory: 3 } }, 'placement blocked: memory exhausted on 3 nodes'],
  ['disk', { DimensionExhausted: { disk: 1 } }, 'placement blocked: disk exhausted on 1 node'],
  ['cores', { DimensionExhausted: { cores: 1 } }, 'placement blocked: cores exhausted on 1 node'],
  [
    'devices in use',
    { DimensionExhausted: { 'devices: no devices match request': 2 } },
    /devices: no devices match request exhausted on 2 nodes/,
  ],
  [
    'N15 a constraint',
    { ConstraintFiltered: { [GPU_CLASS]: 4 } },
    `placement blocked: constraint \`${GPU_CLASS}\` not met by 4 nodes`,
  ],
  [
    'a driver',
    { ConstraintFiltered: { 'missing drivers': 4 } },
    'placement blocked: the driver is missing or not healthy ("missing drivers") on 4 nodes',
  ],
  [
    'a GPU',
    { ConstraintFiltered: { 'missing devices': 1 } },
    'placement blocked: the devices (`gpu`) are missing ("missing devices") on 1 node',
  ],
  ['distinct hosts', { ConstraintFiltered: { distinct_hosts: 2 } }, /constraint `distinct_hosts` not met by 2 nodes/],
  [
    'both',
    { ConstraintFiltered: { [GPU_CLASS]: 3 }, DimensionExhausted: { memory: 1 } },
    /memory exhausted on 1 node, constraint `.*gpu` not met by 3 nodes/,
  ],
  [
    'a quota by name',
    { QuotaExhausted: ['memory exhausted (10 needed > 5 limit)'] },
    'placement blocked: the quota is used up (memory exhausted (10 needed > 5 limit))',
  ],
  [
    'no node at all: an unknown datacenter, an empty pool, or none that is eligible',
    {
      NodesEvaluated: 0,
      NodesInPool: 0,
      NodesAvailable: {},
      ConstraintFiltered: null,
      DimensionExhausted: null,
      QuotaExhausted: null,
    },
    /no node is eligible: its datacenters \(`datacenters`: nowhere, dc2\) or its node pool have none, or all of them are drained or ineligible; Nomad does not tell/,
  ],
  ['no reason', {}, 'placement blocked: none of 4 nodes that Nomad looked at takes it'],
])('%s', (_title, metrics, detail) => {
  const expected = typeof detail === 'string' ? detail : expect.stringMatching(detail);
  expect(waiting(registered(metrics), blocked(metrics))).toEqual(expected);
});

test('a quota that its evaluation names is named', () => {
  expect(waiting(blocked({}, { QuotaLimitReached: 'evals' }))).toMatch(
    /^placement blocked: the quota evals is used up/,
  );
});

test('N15 the blocked evaluation is found among all of the job, and one that was cancelled is none', () => {
  const metrics = { ConstraintFiltered: { [GPU_CLASS]: 4 } };
  const bookkeeping = {
    ID: 'e3',
    Status: 'canceled',
    StatusDescription: 'existing blocked evaluation exists for job "j"',
    CreateIndex: 30,
  };
  const unnamed = registered(metrics, { BlockedEval: '' });
  expect(waiting(unnamed, bookkeeping, blocked(metrics))).toBe(
    `placement blocked: constraint \`${GPU_CLASS}\` not met by 4 nodes`,
  );
  expect(waiting(bookkeeping)).toBeUndefined();
});

test('the newest blocked evaluation counts', () => {
  const newer = blocked({ DimensionExhausted: { memory: 1 } }, { ID: 'e4', CreateIndex: 40 });
  expect(waiting(newer, blocked({ ConstraintFiltered: { [GPU_CLASS]: 4 } }))).toBe(
    'placement blocked: memory exhausted on 1 node',
  );
});

test('what the evaluation of its registration failed of is over once a later one is complete', () => {
  const unblocked = { ...blocked({}), Status: 'complete', FailedTGAllocs: null };
  expect(waiting(unblocked, registered({ DimensionExhausted: { memory: 1 } }))).toBeUndefined();
  expect(waiting(registered({ DimensionExhausted: { memory: 1 } }, { BlockedEval: '' }))).toMatch(/memory exhausted/);
});

test('plans that collided are told as that', () => {
  const failed = { ID: 'e1', Status: 'failed', StatusDescription: 'maximum attempts reached (2)', CreateIndex: 1 };
  const again = { ID: 'e2', Status: 'blocked', TriggeredBy: 'max-plan-attempts', CreateIndex: 2 };
  for (const found of [waiting(failed), waiting(failed, again)])
    expect(found).toMatch(/collided \(maximum attempts reached\)/);
});

test('D31 a job without a blocked evaluation is just queued', () => {
  expect(waiting()).toBeUndefined();
  expect(waiting({ ID: 'e1', Status: 'pending', TriggeredBy: 'job-register' })).toBeUndefined();
  expect(waitingOf(JOB, JobEvaluations.parse(null))).toBeUndefined();
});

test('what is told has an end, and no control characters', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`\u001b[31m${'x'.repeat(400)}${n}`, 500 - n]));
  expect(waiting(blocked({ ConstraintFiltered: many }))).toMatch(/^placement blocked: [^\p{Cc}]{100,800}$/u);
});

test('D31 the patience that ended is told with why', () => {
  expect(placementTimeout('placement blocked: cpu exhausted on 1 node', 120)).toEqual({
    code: 'PLACEMENT_TIMEOUT',
    message: 'not placed within 120 s (`placementPatienceSec`): placement blocked: cpu exhausted on 1 node',
  });
  const queued = 'not placed within 900 s (EVERDICT_START_PATIENCE_SEC): Nomad has it queued, and gives no reason';
  expect(undecided(900).message).toBe(queued);
});
