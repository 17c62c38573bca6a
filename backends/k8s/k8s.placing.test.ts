import { aK8sRuntime, PATIENCE } from '../../test/builders.js';
import { aJob, aPod, waiting } from '../../test/k8s-pods.js';
import { PODS } from '../../test/k8s-reflected.js';
import { page, ScriptedK8s } from '../../test/scripted-k8s.js';
import { AnsweredClock } from '../answered-clock.js';
import type { JobView } from './k8s.followed.js';
import { JobPlacing } from './k8s.placing.js';
import { K8sReflector } from './k8s.reflector.js';

let k8s: ScriptedK8s;
beforeEach(async () => {
  k8s = await ScriptedK8s.start();
});
afterEach(() => k8s.stop());

const SPEC = aK8sRuntime({ placementPatienceSec: 120 });
const MOST_LOOKS = 500;

/** What is told of a job that is seen so from each of these times on, until its end: by a clock that only looks move. */
async function told(states: readonly (readonly [atMs: number, view: JobView])[]) {
  let now = 0;
  let looks = 0;
  const clock = new AnsweredClock(() => now);
  clock.answered();
  const viewNow = (): JobView => states.findLast(([atMs]) => atMs <= now)?.[1] ?? { pods: [] };
  k8s.on(`GET ${PODS}`, (reply) => void reply.end(JSON.stringify(page(viewNow().pods, '1').body)));
  const link = k8s.link();
  const signal = AbortSignal.timeout(30_000);
  if (SPEC.kind !== 'k8s') throw new Error('the builder makes another kind');
  const placing = new JobPlacing({
    ...(await link.connect(signal)),
    ...{ reflector: new K8sReflector(link, 'dep'), deployment: 'dep', spec: SPEC, signal, limitMs: 3_600_000 },
    ...{ clock, listener: clock },
    ...{ allocation: { name: 'ev-1', nonce: 'n' }, from: { stdout: 0, stderr: 0 }, removed: new Set<string>() },
    patience: { ...PATIENCE, startMs: 300_000, pullErrorMs: 60_000 },
    followed: {
      async next({ afterMs }) {
        looks += 1;
        if (looks > MOST_LOOKS) throw new Error('it has no end');
        const due = now + afterMs;
        now = states.find(([atMs]) => atMs > now && atMs < due)?.[0] ?? due;
        clock.answered();
        return viewNow();
      },
      close() {},
    },
  });
  try {
    for await (const event of placing.begun())
      if (event.kind === 'failed') return { ...event.failure, atMs: now, looks };
  } finally {
    await link.close();
  }
  throw new Error('it ends without a failure');
}

const creating = { job: aJob(), pods: [aPod({ status: waiting('ContainerCreating') })] };
const pulling = { job: aJob(), pods: [aPod({ status: waiting('ErrImagePull', 'dial tcp: i/o timeout') })] };

describe('K01 an image that cannot be pulled', () => {
  test.each([1_000, 45_000, 70_000])(
    'is waited for from the first error on, which comes after %i ms',
    async (firstMs) => {
      const found = await told([
        [0, creating],
        [firstMs, pulling],
      ]);
      expect(found.code).toBe('IMAGE_PULL_FAILED');
      expect(found.atMs - firstMs).toBeGreaterThanOrEqual(60_000);
      expect(found.atMs - firstMs).toBeLessThan(62_000);
    },
  );

  test('has all of that patience again once nothing kept it away', async () => {
    const found = await told([
      [0, pulling],
      [50_000, creating],
      [80_000, pulling],
    ]);
    expect(found).toMatchObject({ code: 'IMAGE_PULL_FAILED' });
    expect(found.atMs).toBeGreaterThanOrEqual(140_000);
  });
});

describe('a pod whose Job was deleted without it', () => {
  const orphan = (parts: Parameters<typeof aPod>[0]): JobView => ({
    pods: [aPod({ ...parts, metadata: { ownerReferences: [] } })],
  });
  const message = '0/1 nodes are available: 1 Insufficient cpu.';
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }];

  test.each<[string, JobView, object]>([
    [
      'is not placed',
      orphan({ spec: { nodeName: undefined }, status: { conditions } }),
      { code: 'PLACEMENT_TIMEOUT', message: expect.stringContaining('1 Insufficient cpu'), atMs: 120_000 },
    ],
    [
      'does not start',
      orphan({ status: waiting('ContainerCreating') }),
      { code: 'START_TIMEOUT', message: expect.stringContaining('rack-1'), atMs: 300_000 },
    ],
  ])('that %s is waited for as long as any, and looked at no more often', async (_title, view, end) => {
    const found = await told([[0, view]]);
    expect(found).toMatchObject(end);
    expect(found.looks).toBeLessThan(30);
  });
});
