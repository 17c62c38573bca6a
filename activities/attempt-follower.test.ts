import type { AllocationEvent, Backend } from '../backends/backend.js';
import type { AttemptEnd } from '../contracts/attempt.js';
import { SecretMask } from '../policy/redact.js';
import type { Attempt } from '../store/attempt-row.js';
import type { RunJob } from '../store/run.store.js';
import { aCase, aHarness, aNomadRuntime } from '../test/builders.js';
import { SETTINGS } from '../test/local-jobs.js';
import { AttemptFollower, type Progress } from './attempt-follower.js';

const ATTEMPT: Attempt = {
  ...{ runId: 'run_1', attempt: 1, poolId: 'p', holder: 'h', seq: 1, allocation: 'dep-run-1-1', nonce: 'c0ffee' },
  ...{ openedAt: 0, provenance: {} },
};
const RUN = { case: aCase(), harness: aHarness(), runtime: aNomadRuntime() } as RunJob;

/** What is noted and stored while a cluster says this. */
async function follow(events: AllocationEvent[]) {
  const noted: unknown[] = [];
  const ends: AttemptEnd[] = [];
  const follower = new AttemptFollower({
    settings: SETTINGS,
    attempts: {
      noteWaiting: async (_run, _attempt, detail) => void noted.push(detail),
      notePlaced: async (_run, _attempt, placed) => void noted.push(placed),
      noteMark: async (_run, _attempt, mark) => void noted.push(mark),
      recordEnd: async (_run, _attempt, end) => void ends.push(end),
    },
    logs: { append: async () => undefined, replace: async () => undefined },
    ended: { keep: () => undefined },
    logBytes: 1_000,
  });
  const backend = {
    async *watch() {
      yield* events;
    },
  } as Partial<Backend> as Backend;
  const progress: Progress = { stdout: 0, stderr: 0, reachedAt: 0, now: () => 7 };
  const following = {
    backend,
    from: { stdout: 0, stderr: 0 },
    signal: AbortSignal.abort(),
    mask: new SecretMask(['S3cr3t-AAAA']),
  };
  const end = await follower.follow(ATTEMPT, RUN, following, progress);
  return { noted, ends, end, progress };
}

test('why a job waits, and where it is placed, is noted without secrets, and told in the heartbeat', async () => {
  const { noted, progress } = await follow([
    { kind: 'waiting', detail: 'no node has S3cr3t-AAAA' },
    { kind: 'placed', as: '0b1c', provenance: { node: 'rack-1', said: 'S3cr3t-AAAA' } },
    { kind: 'waiting', detail: 'pulling its image' },
  ]);
  expect(noted).toEqual([
    'no node has ***********',
    { as: '0b1c', provenance: { node: 'rack-1', said: '***********' } },
    'pulling its image',
  ]);
  expect(progress).toMatchObject({ waiting: 'pulling its image', reachedAt: 7 });
  expect((await follow([{ kind: 'waiting', detail: 'x' }, { kind: 'waiting' }])).progress.waiting).toBeUndefined();
});

test.each<[string, AllocationEvent]>([
  ['a failure', { kind: 'failed', failure: { code: 'NODE_LOST', message: `a\0\n${'b'.repeat(1_000_000)}` } }],
  ['a silent end', { kind: 'silent', detail: `a\0\n${'b'.repeat(1_000_000)}` }],
])('the text of %s is cut, and has no control characters', async (_title, event) => {
  const { ends, end } = await follow([event]);
  expect(ends).toEqual([end]);
  const text = JSON.stringify(end);
  expect(text).toContain('"a bbb');
  expect(text.length).toBeLessThan(2_100);
});
