import { identify, isAlive, signalProcess } from '../../../dev/process-id.js';
import { eventually } from '../../eventually.js';
import { E2ePlatform, MINUTE, type Registered } from '../platform.js';
import { JobNotes } from './job-notes.js';

let platform: E2ePlatform;
beforeAll(async () => {
  platform = await E2ePlatform.start();
}, 2 * MINUTE);
afterAll(() => platform.stop(), MINUTE);

const registerShort = (notes: JobNotes): Promise<Registered> =>
  platform.register({ harness: notes.harness, cases: [0, 1, 2].map((i) => ({ id: `case-${i}`, task: '0.1 0 0' })) });

describe('a submit is a 202, and runs once Temporal is back, when Temporal', () => {
  test(
    'hangs',
    async () => {
      const notes = JobNotes.in(platform.dir, 'hangs');
      const request = await registerShort(notes);
      signalProcess(platform.pid('temporal'), 'SIGSTOP');
      let id: string;
      try {
        const begun = performance.now();
        id = await platform.submit(request);
        expect(performance.now() - begun).toBeLessThan(5_000);
        expect((await platform.scorecard(id)).counts).toMatchObject({ submitted: 3, queued: 3 });
      } finally {
        signalProcess(platform.pid('temporal'), 'SIGCONT');
      }
      expect((await platform.completed(id)).counts).toMatchObject({ submitted: 3, passed: 3 });
      expect(notes.count('start')).toBe(3);
    },
    MINUTE,
  );

  test(
    'is dead',
    async () => {
      const notes = JobNotes.in(platform.dir, 'dead');
      const request = await registerShort(notes);
      const killed = platform.kill('temporal');
      const id = await platform.submit(request);
      const single = { harness: request.harness, runtime: request.runtime, dataset: request.dataset, caseId: 'case-1' };
      const run = await platform.ok<{ id: string }>('POST', '/runs', single);
      await killed;
      expect((await platform.completed(id)).counts).toMatchObject({ submitted: 3, passed: 3 });
      expect(await platform.settled(run.id)).toMatchObject({ outcome: 'passed' });
      expect(notes.count('start')).toBe(4);
    },
    MINUTE,
  );
});

/** Task of the case that kills the worker: once four others have ended and the long one runs. */
const KILL_THE_WORKER = [
  'until [ "$(grep -c end "$NOTES")" -ge 3 ] && [ "$(grep -c start "$NOTES")" -ge 5 ]; do sleep 0.1; done',
  'kill -9 "$EVERDICT_PARAM_WORKER"',
  'sleep 1',
];
const LONG_SEC = 12;

const noted = (...lines: string[]): string =>
  ['echo "start $EVERDICT_RUN_ID 0" >> "$NOTES"', ...lines, 'echo "end $EVERDICT_RUN_ID 0" >> "$NOTES"'].join('\n');

describe('E15 of ten cases the third is broken and the fifth kills the worker:', () => {
  let notes: JobNotes;
  let request: Registered;
  let id: string;

  test(
    'a case that cannot be built is refused with its name, and nothing is stored',
    async () => {
      notes = JobNotes.in(platform.dir, 'broken');
      const cases = Array.from({ length: 10 }, (_, i) => ({ id: `case-${i + 1}`, task: noted('sleep 0.2') }));
      const broken = { env: { kind: 'repo', source: { files: {} }, setup: ['exit 9'] } };
      const change: Record<number, object> = {
        2: broken,
        4: { task: noted(...KILL_THE_WORKER) },
        5: { task: noted(`sleep ${LONG_SEC}`) },
      };
      const harness = { env: { NOTES: notes.file }, params: { worker: '0' }, command: '. "$EVERDICT_TASK_FILE"' };
      request = await platform.register({
        runtime: { maxConcurrent: 2 },
        harness,
        cases: cases.map((each, i) => ({ ...each, ...change[i] })),
      });
      const before = await platform.sql('SELECT count(*) FROM runs');
      const tooMany = { case: { id: 'case-3', task: '', resources: { gpu: 9 } }, ...request, dataset: undefined };
      const refused = await platform.call<{ detail: string }>('POST', '/runs', tooMany);
      expect(refused.status).toBe(400);
      expect(refused.body.detail).toMatch(/case-3.*gpu/);
      expect(await platform.sql('SELECT count(*) FROM runs')).toEqual(before);
    },
    MINUTE,
  );

  test(
    'what is finished can be read during the outage',
    async () => {
      const worker = identify(platform.pid('worker'));
      id = await platform.submit({ ...request, params: { worker: worker.pid } });
      await eventually('the worker is dead', async () => !isAlive(worker));
      const { status, counts } = await platform.scorecard(id);
      expect({ status, ...counts }).toMatchObject({ status: 'running', settled: 4, passed: 3, errored: 1 });
      expect((await platform.runs(id, '&outcome=passed')).map(({ caseId }) => caseId)).toEqual([
        'case-1',
        'case-2',
        'case-4',
      ]);
      await platform.restarted([{ name: 'worker', target: worker }]);
    },
    MINUTE,
  );

  test(
    'nine results, one error of its own, and no job ran twice',
    async () => {
      const { counts, rates } = await platform.completed(id);
      expect(counts).toMatchObject({ submitted: 10, passed: 9, failed: 0, errored: 1, infraErrors: 0 });
      expect(rates.final).toMatchObject({ n: 10, passed: 9, rate: 0.9 });
      const runs = await platform.runs(id);
      expect(runs[2]).toMatchObject({ errorClass: 'harness', errorCode: 'SETUP_FAILED', attempts: 1 });
      const others = runs.filter((_, i) => i !== 2);
      expect(Object.fromEntries(notes.starts)).toEqual(Object.fromEntries(others.map((run) => [run.id, 1])));
      expect(runs.filter(({ attempts }) => attempts !== 1)).toEqual([]);
      await platform.expectNothingLeft(id, request.runtime);
    },
    MINUTE,
  );

  test(
    'G69 a case that outlives heartbeat time-outs and its worker completes in one attempt, under one name',
    async () => {
      const long = (await platform.runs(id))[5];
      expect(long).toMatchObject({ caseId: 'case-6', outcome: 'passed' });
      const attempts = await platform.attempts(long?.id ?? '');
      expect(attempts).toMatchObject([{ attempt: 1, end: 'record', exitCode: 0, state: 'closed' }]);
      expect(attempts[0]?.commandMs).toBeGreaterThanOrEqual(LONG_SEC * 1_000 - 50);
    },
    MINUTE,
  );
});

test(
  'no workflow task failed in all of this',
  async () => {
    expect(await platform.failedWorkflowTasks()).toEqual([]);
  },
  MINUTE,
);
