import type { RunView } from '../../contracts/run.js';
import { FakeNomad } from '../../dev/fake-nomad/fake-nomad.js';
import { startStack } from '../../dev/launcher.js';
import { eventually } from '../eventually.js';
import { E2ePlatform, MINUTE, type Registered } from './platform.js';

/** Of half an hour, nine minutes and half a minute. */
const CLOCKS = { EVERDICT_UNREACHABLE_SEC: '15', EVERDICT_CLEANUP_SEC: '3', EVERDICT_SWEEP_SEC: '2' };

let platform: E2ePlatform;
let nomad: FakeNomad;
beforeAll(async () => {
  nomad = await FakeNomad.start();
  platform = await E2ePlatform.start((options) => startStack({ ...options, env: { ...options.env, ...CLOCKS } }));
}, 2 * MINUTE);
afterAll(async () => {
  await platform.stop();
  await nomad.stop();
}, MINUTE);
beforeEach(() => nomad.reset());

type Parts = Record<string, unknown>;
const register = (cases: Parts[], runtime: Parts = {}): Promise<Registered> =>
  platform.register({
    harness: { command: '. "$EVERDICT_TASK_FILE"' },
    cases,
    runtime: { kind: 'nomad', addr: nomad.url, image: 'debian:12', maxConcurrent: 8, ...runtime },
  });
const endsOf = (runs: readonly RunView[]) =>
  runs.map(({ outcome, errorClass, errorCode }) => [outcome, errorClass, errorCode].filter(Boolean).join(' '));

test(
  'E03 a case whose image is missing is errored by its own fault, and counted as such beside those that passed',
  async () => {
    nomad.cluster.images.set('nope:0', { failure: 'Error: image nope:0 not found' });
    const request = await register([
      { id: 'a', task: 'true' },
      { id: 'missing', task: 'true', image: 'nope:0' },
      { id: 'b', task: 'true' },
    ]);
    const id = await platform.submit(request);
    const { status, counts } = await platform.completed(id);
    expect([status, counts]).toMatchObject(['completed', { passed: 2, failed: 0, errored: 1, infraErrors: 0 }]);
    const [, missing] = await platform.runs(id);
    expect(missing).toMatchObject({ errorClass: 'config', errorCode: 'IMAGE_UNAVAILABLE', attempts: 1 });
    expect(missing?.reason).toContain('nope:0');
    await platform.expectNothingLeft(id, request.runtime);
  },
  MINUTE,
);

test(
  'a Nomad that is down for longer than a removal is tried delays a batch, and fails none of its cases',
  async () => {
    const cases = Array.from({ length: 20 }, (_, n) => ({ id: `case-${n}`, task: `sleep ${n % 3}` }));
    const request = await register(cases);
    const id = await platform.submit(request);
    await platform.until(id, 'is under way', ({ counts }) => counts.settled >= 4);
    nomad.fault({ path: /^/, fault: 'reset' });
    nomad.cut();
    const down = performance.now();
    await eventually('the outage has lasted', async () => performance.now() - down > 6_000, 20_000);
    nomad.reset();
    expect((await platform.completed(id)).counts).toMatchObject({ passed: 20, errored: 0 });
    const runs = await platform.runs(id);
    expect(runs.filter(({ attempts }) => attempts !== 1)).toEqual([]);
    const names = (await Promise.all(runs.map((run) => platform.attempts(run.id)))).flat();
    expect(names.map(({ allocation }) => nomad.ledger.starts.get(allocation))).toEqual(names.map(() => 1));
    await eventually('the sweep has confirmed what was left', async () => {
      const open = await platform.sql('SELECT FROM attempts WHERE closed_at IS NULL');
      return open.length === 0;
    });
    await platform.expectNothingLeft(id, request.runtime);
  },
  3 * MINUTE,
);

test(
  'E13 a case whose cluster never answers of it holds up no other, and its batch ends',
  async () => {
    nomad.fault({ path: /-19-1\/allocations$/, fault: 'hang' });
    nomad.fault({ method: 'DELETE', path: /-19-1$/, fault: 'hang' });
    const cases = Array.from({ length: 20 }, (_, n) => ({ id: `case-${n}`, task: 'true' }));
    const request = await register(cases);
    const id = await platform.submit({ ...request, infraRetries: 0 });
    const early = await platform.until(id, 'has 19 results', ({ counts }) => counts.settled === 19);
    expect(early).toMatchObject({ status: 'running', counts: { passed: 19 } });
    await platform.until(id, 'ends', ({ status }) => status === 'completed', 2 * MINUTE);
    const runs = await platform.runs(id);
    expect(endsOf(runs).slice(18)).toEqual(['passed', 'errored infra CLUSTER_UNREACHABLE']);
    const [last] = await platform.attempts(`${id}.19`);
    expect(last).toMatchObject({ state: 'cleanup_pending' });
    nomad.reset();
    await eventually(
      'a sweep has removed it',
      async () => (await platform.attempts(`${id}.19`))[0]?.state === 'closed',
    );
    await platform.expectNothingLeft(id, request.runtime);
  },
  3 * MINUTE,
);

test.each([
  ['a namespace that is not there', { namespace: 'nope' }, /`namespace`.*nope/],
  ['a datacenter that nobody is in', { datacenters: ['nowhere'], placementPatienceSec: 1 }, /nowhere/],
])(
  'the first case says of %s that the runtime is to be mended, and is not tried again',
  async (_title, parts, reason) => {
    const request = await register([{ id: 'case', task: 'true' }], parts);
    const id = await platform.submit(request);
    expect((await platform.completed(id)).counts).toMatchObject({ errored: 1, infraErrors: 0 });
    const [run] = await platform.runs(id);
    expect(run).toMatchObject({ errorClass: 'config', errorCode: 'BAD_SPEC', attempts: 1 });
    expect(run?.reason).toMatch(reason);
    await platform.expectNothingLeft(id, request.runtime);
  },
  MINUTE,
);

test(
  'a run that is not placed says why, in the words of its cluster, until it is cancelled',
  async () => {
    const request = await register([{ id: 'case', task: 'true', resources: { memoryMb: 900_000 } }]);
    const id = await platform.submit(request);
    const run = `${id}.0`;
    const waiting = await eventually('it says why', async () => {
      // Its ledger may not have begun.
      const { body } = await platform.call<{ reason: string; note?: string | null }>('GET', `/runs/${run}/waiting`);
      return body.note ? body : undefined;
    });
    expect(waiting).toMatchObject({ reason: 'placement', note: expect.stringMatching(/memory/) });
    expect(await platform.run(run)).toMatchObject({ state: 'running', placement: waiting.note });
    expect((await platform.runs(id))[0]).toMatchObject({ waiting: { reason: 'placement', note: waiting.note } });
    expect((await platform.attempts(run))[0]).toMatchObject({ placedAs: null, waiting: waiting.note });
    await platform.ok('POST', `/runs/${run}/cancel`);
    expect((await platform.completed(id)).counts).toMatchObject({ cancelled: 1 });
    await platform.expectNothingLeft(id, request.runtime);
  },
  MINUTE,
);

test(
  'a case on a cluster whose credential is not there takes nothing that could not be given back',
  async () => {
    const request = await register([{ id: 'a', task: 'true' }], { authSecret: 'no-such-token' });
    const id = await platform.submit(request);
    await platform.completed(id);
    const [run] = await platform.runs(id);
    expect(run).toMatchObject({ errorClass: 'config', errorCode: 'SECRET_MISSING', attempts: 0 });
    expect(run?.reason).toContain('no-such-token');
    // The sweep may look for what earlier runtimes left there.
    expect(nomad.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
    await platform.expectNothingLeft(id, request.runtime);
  },
  MINUTE,
);
