import { FakeNomad } from '../../dev/fake-nomad/fake-nomad.js';
import { jobPayload } from '../../policy/job-payload.js';
import { verdictOf } from '../../policy/results.js';
import { aCase, aHarness } from '../../test/builders.js';
import { aCaseJob, aCaseRef } from '../../test/cases.js';
import { SETTINGS } from '../../test/local-jobs.js';
import { withBackend } from '../../test/nomad-case.js';
import type { AllocationEvent } from '../backend.js';

const TIMERS = { timeoutSec: 30, setupSec: 2, graderSec: 30 };

/** Runs a command on a Nomad that executes it; `strike` befalls it once it has printed. What it comes to, as a text. */
async function struck(
  command: string,
  strike: (fake: FakeNomad, job: string) => unknown,
): Promise<{ told: string; output: string; left: number }> {
  const fake = await FakeNomad.start({ executorMs: 50, machines: [{ name: 'rack-1' }, { name: 'rack-2' }] });
  try {
    const { ref, owner } = aCaseRef();
    const harness = aHarness({ command });
    const payload = jobPayload({ runId: owner.runId, case: aCase({ timeoutSec: 30 }), harness, params: {} }, SETTINGS);
    const patience = { startMs: 20_000, pullErrorMs: 200 };
    return await withBackend(fake.url, { patience }, async (backend) => {
      expect(await backend.submit(aCaseJob(owner, { payload, image: 'r/x:1' }), ref)).toBe('created');
      const events: AllocationEvent[] = [];
      const watch = { from: { stdout: 0, stderr: 0 }, signal: AbortSignal.timeout(30_000), limitMs: 60_000 };
      for await (const event of backend.watch(ref, watch)) {
        events.push(event);
        if (event.kind === 'log') void strike(fake, ref.name);
      }
      await backend.stop(ref);
      const printed = events.flatMap((event) => (event.kind === 'log' ? [event.bytes] : []));
      expect(fake.unknown).toEqual([]);
      expect(fake.requests.some(({ query }) => query.has('purge'))).toBe(false);
      const live = [...fake.cluster.state.allocations.values()].filter(({ ClientStatus }) =>
        ['pending', 'running'].includes(ClientStatus),
      );
      return { told: toldOf(events), output: Buffer.concat(printed).toString('utf8'), left: live.length };
    });
  } finally {
    await fake.stop();
  }
}

function toldOf(events: readonly AllocationEvent[]): string {
  const last = events.at(-1);
  if (last?.kind === 'record') return `record ${last.record.status}`;
  if (last?.kind !== 'failed' && last?.kind !== 'silent') throw new Error('it has no end');
  const verdict = verdictOf({ graders: [], end: last, ...TIMERS });
  return verdict.outcome === 'errored'
    ? `${verdict.errorClass} ${verdict.errorCode} ${verdict.reason}`
    : verdict.outcome;
}

type Row = [title: string, strike: (fake: FakeNomad, job: string) => unknown, told: RegExp, command?: string];
const ROWS: Row[] = [
  ['nothing', () => undefined, /^record 3$/, 'echo begun; exit 3'],
  ['a drain', ({ cluster }) => cluster.faults.drain('rack-1'), /^infra EVICTED .*drained/],
  ['a preemption', ({ cluster }, job) => cluster.faults.preempt(job), /^infra EVICTED .*preempted by allocation/],
  ['N19 a lost node', ({ cluster }) => cluster.faults.loseNode('rack-1'), /^infra NODE_LOST .*rack-1 was lost/],
  ['a dead executor', ({ cluster }, job) => cluster.faults.killExecutor(job), /^infra ALLOCATION_LOST .*lost hold/],
  ['D33 memory, told', ({ cluster }, job) => cluster.faults.outOfMemory(job, true), /^config OOM_KILLED .*memoryMb/],
  [
    'D33 memory, untold',
    ({ cluster }, job) => cluster.faults.outOfMemory(job, false),
    /^agent ABORTED .*137.*memoryMb/,
  ],
];

/** At once: what Nomad kills has seconds to end by itself. */
let runs: Promise<{ told: string; output: string; left: number }>[];
beforeAll(() => {
  runs = ROWS.map(([, strike, , command = 'echo begun; sleep 60']) => struck(command, strike));
  void Promise.allSettled(runs);
});

test.each(ROWS.map(([title, , told], row) => ({ title, told, row })))(
  'what befalls a case that runs is told as it was: $title',
  async ({ told, row }) => {
    const found = await runs[row];
    expect(found).toEqual({ told: expect.stringMatching(told), output: 'begun\n', left: 0 });
  },
  40_000,
);
