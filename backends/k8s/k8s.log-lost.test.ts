import { K8sCases } from '../../test/k8s-case.js';
import type { AllocationRef } from '../backend.js';

let k8s: K8sCases;
beforeAll(async () => {
  k8s = await K8sCases.start();
});
afterAll(() => k8s.close());

const hasEnded = ({ status }: { status: { phase?: string } }): boolean => status.phase === 'Failed';
/** Of a line that was printed long before all that its node still has. */
const MARK = { at: 0, mark: '1 2026-01-01T00:00:00.000000000Z 2026-01-01T00:00:00.000000000Z' };

/** Another worker reads on until it knows a place in its log. */
async function noted(ref: AllocationRef): Promise<void> {
  const watch = { from: { stdout: 0, stderr: 0 }, signal: AbortSignal.timeout(20_000), limitMs: 3_600_000 };
  for await (const event of k8s.backend().watch(ref, watch)) {
    if (event.kind !== 'mark') continue;
    ref.mark = { at: event.at, mark: event.mark };
    return;
  }
}

test('G67 without a record, a log that was thrown away since it was read last is a lost result', async () => {
  const found = await k8s.run('echo one; exit 3', {
    from: 4,
    before: async (ref) => {
      await k8s.until(ref, hasEnded);
      await noted(ref);
      k8s.site.nodes.rotateLog(ref.name);
    },
  });
  expect(found.ref.mark).toMatchObject({ at: 0 });
  expect(found).toMatchObject({ outcome: 'infra RESULT_LOST', isRetried: true, provenance: { log: 'unverified' } });
  expect(found.reason).toMatch(/exit code 3\), and its log may be short; /);
});

test('G67 without a record, what was printed behind a gap proves nothing of what was in it', async () => {
  const found = await k8s.run('echo bye; exit 3', {
    from: 4,
    before: async (ref) => {
      await k8s.until(ref, hasEnded);
      ref.mark = MARK;
    },
  });
  expect(found).toMatchObject({ outcome: 'infra RESULT_LOST', isRetried: true, provenance: { log: 'head cut' } });
  expect(found.output).toBe('bye\n');
});

test('G67 without a record, a log that is read on to its end is that of a job that ended by itself', async () => {
  const found = await k8s.run('echo one; echo two; exit 3', {
    from: 4,
    before: async (ref) => {
      await k8s.until(ref, hasEnded);
      await noted(ref);
    },
  });
  expect(found).toMatchObject({ outcome: 'agent ABORTED', isRetried: false, output: 'two\n' });
  expect(found.provenance.log).toBeUndefined();
});
