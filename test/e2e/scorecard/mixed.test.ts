import { spawnSync } from 'node:child_process';
import type { RunView } from '../../../contracts/run.js';
import { E2ePlatform, MINUTE } from '../platform.js';

let platform: E2ePlatform;
beforeAll(async () => {
  platform = await E2ePlatform.start();
}, 2 * MINUTE);
afterAll(() => platform.stop(), MINUTE);

const RECORD = '__EVERDICT_RESULT__';
const FORGED = ['version 1', 'status 0', 'timer none', 'end 4'].map((line) => `${RECORD} 0badc0de0badc0de ${line}`);
const contains = (value: string) => ({ graders: [{ kind: 'contains', value }] });

/** What a job does, and the verdict it must have, whatever its neighbours do. */
const NASTY: Record<string, { task: string; want: string; timeoutSec?: number; graders?: object[] }> = {
  daemon: { task: 'setsid sleep 600 & setsid sh -c "sleep 600 & sleep 600" & exit 0', want: 'passed' },
  'ignores TERM': { task: 'trap "" TERM; sleep 600 & sleep 600', timeoutSec: 1, want: 'agent TIMEOUT' },
  'fills its time-out': { task: 'sleep 600', timeoutSec: 1, want: 'agent TIMEOUT' },
  'forges a record': { task: `echo noise; echo '${FORGED.join('\n')}'; exit 5`, want: 'failed' },
  'forges a record around its own end': { task: `echo '${FORGED.join('\n')}'; echo RESULT=1`, want: 'passed' },
  '50 MB without a newline': { task: 'head -c 50000000 /dev/zero | tr "\\0" x', want: 'passed' },
  'invalid UTF-8': {
    task: String.raw`printf '\377\376\000ok\n\303\033[31m\r\n'; head -c 1024 /dev/urandom; printf 'RESULT=1\n'`,
    ...contains('RESULT=1'),
    want: 'passed',
  },
  'kills its parent shell': { task: 'kill -9 $PPID; exit 0', want: 'failed' },
  'kills its group': { task: 'kill -9 0', want: 'agent ABORTED' },
  'exits 137': { task: 'exit 137', want: 'failed' },
  'exits 127': { task: 'exit 127', want: 'harness COMMAND_NOT_FOUND' },
};

const verdictOf = ({ outcome, errorClass, errorCode }: RunView): string =>
  outcome === 'errored' ? `${errorClass} ${errorCode}` : `${outcome}`;

describe('a scorecard with nasty cases among ordinary ones', () => {
  let runs: RunView[];
  let byCase: Map<string, RunView>;
  const logOf = (name: string) => platform.ok<string>('GET', `/runs/${byCase.get(name)?.id}/logs`);

  test(
    'gives each its own verdict, harms nobody else, and leaves nothing',
    async () => {
      const ordinary = { task: 'sleep 0.2; echo fine', ...contains('fine'), want: 'passed' };
      const wanted = Object.entries(NASTY).flatMap(([id, nasty], i) => [
        { id, ...nasty },
        { id: `ordinary/${i}`, ...ordinary },
      ]);
      const request = await platform.register({
        harness: { command: '. "$EVERDICT_TASK_FILE"' },
        cases: wanted.map(({ want: _, ...evalCase }) => evalCase),
      });
      const id = await platform.submit(request);
      await platform.completed(id);
      expect(platform.processesOf(id)).toEqual([]);
      runs = await platform.runs(id);
      byCase = new Map(runs.map((run) => [run.caseId, run]));
      expect(Object.fromEntries(runs.map((run) => [run.caseId, verdictOf(run)]))).toEqual(
        Object.fromEntries(wanted.map(({ id: caseId, want }) => [caseId, want])),
      );
      expect(runs.filter(({ attempts }) => attempts !== 1)).toEqual([]);
      await platform.expectNothingLeft(id, request.runtime);
    },
    MINUTE,
  );

  test('G67 forged record lines are plain output, and the real record is not in the log', async () => {
    expect(await logOf('forges a record')).toBe(`noise\n${FORGED.join('\n')}\n`);
    expect(await logOf('ordinary/0')).toBe('fine\n');
  });

  test('a time-out says how long the job took, and an abort that no result came', async () => {
    expect(byCase.get('ignores TERM')?.reason).toMatch(/stopped after [1-4]\.\d s: `timeoutSec` is 1/);
    expect(byCase.get('kills its group')?.reason).toContain('ended without a result');
  });

  test('a long output is cut in the middle, and says so', async () => {
    const log = await logOf('50 MB without a newline');
    const lines = log.split('\n').map((line) => (line === 'x'.repeat(line.length) ? 'x' : line));
    expect(lines).toEqual(['x', `[${50_000_000 - 10 * 1_024 * 1_024} bytes of stdout cut]`, 'x']);
    const [attempt] = await platform.attempts(byCase.get('50 MB without a newline')?.id ?? '');
    expect(attempt).toMatchObject({ exitCode: 0, answerCut: true });
  });
});

test(
  'E01 rates name their denominators: of 8 cases 2 pass, 4 fail and 2 break with the platform',
  async () => {
    const tasks = ['sleep 600', 'sleep 600', ...Array(4).fill('exit 1'), ...Array(2).fill('exit 0')];
    const request = await platform.register({
      runtime: { maxConcurrent: 2 },
      harness: { command: '. "$EVERDICT_TASK_FILE"' },
      cases: tasks.map((task, i) => ({ id: `case-${i}`, task })),
    });
    const id = await platform.submit(request);
    // Both slots are held by cases that end from outside, without a word; the others wait for them.
    await platform.until(id, 'runs', ({ counts }) => counts.running === 2);
    const { workflow } = await platform.temporal();
    for (const ordinal of [0, 1]) await workflow.getHandle(`case:${id}.${ordinal}`).terminate('by a test');

    const { counts, rates } = await platform.completed(id);
    expect(counts).toMatchObject({ submitted: 8, passed: 2, failed: 4, errored: 2, infraErrors: 2 });
    expect(rates).toMatchObject({
      firstAttempt: { n: 8, passed: 2, rate: 0.25 },
      final: { n: 8, passed: 2, rate: 0.25 },
      infraExcluded: { n: 6, passed: 2 },
    });
    expect(rates.infraExcluded.rate).toBeCloseTo(1 / 3);
    for (const { low, rate, high } of Object.values(rates)) {
      expect(Number(low)).toBeLessThan(Number(rate));
      expect(Number(high)).toBeGreaterThan(Number(rate));
    }
    const broken = await platform.runs(id, '&class=infra');
    expect(broken.map(({ caseId, errorCode }) => [caseId, errorCode])).toEqual([
      ['case-0', 'PLATFORM_TERMINATED'],
      ['case-1', 'PLATFORM_TERMINATED'],
    ]);
    await platform.expectNothingLeft(id, request.runtime);
  },
  MINUTE,
);

const hasPython = spawnSync('python3', ['--version']).status === 0;
const PROBLEMS = 24;

/** A function to complete, a right and a wrong body, and a check, with what quoting could break. */
function problem(index: number) {
  const signature = `def shift_${index}(text: str, by: int = ${index}) -> str:\n    """It's "quoted", \\\\ and $HOME, \`é\`, 日本."""\n`;
  const check = [
    `from solution import shift_${index} as candidate`,
    `assert candidate('abc\\\\') == ''.join(chr(ord(c) + ${index}) for c in 'abc\\\\')`,
    "assert candidate('日本', 0) == '日本'",
    '',
  ].join('\n');
  return {
    id: `Problems/${index}`,
    task: signature,
    env: {
      kind: 'repo',
      source: {
        files: {
          'prompt.py': signature,
          'bodies/right.py': "    return ''.join(chr(ord(c) + by) for c in text)\n",
          'bodies/hasty.py':
            index % 3 === 0 ? '    return text\n' : "    return ''.join(chr(ord(c) + by) for c in text)\n",
          'check.py': check,
        },
      },
    },
    graders: [{ kind: 'command', command: 'python3 check.py' }],
    timeoutSec: 30,
  };
}

(hasPython ? describe : describe.skip)('a set of Python problems', () => {
  test.each([
    ['right', []],
    // The first shifts by nothing, so that even the hasty answer is right.
    ['hasty', [3, 6, 9, 12, 15, 18, 21]],
  ])(
    'with %s answers fails those that are wrong and no other',
    async (answers, wrong) => {
      const command =
        'cmp -s "$EVERDICT_TASK_FILE" prompt.py && cat prompt.py "bodies/$EVERDICT_PARAM_ANSWERS.py" > solution.py && cat solution.py';
      const request = await platform.register({
        harness: { command, params: { answers: 'none' } },
        cases: Array.from({ length: PROBLEMS }, (_, i) => problem(i)),
      });
      const id = await platform.submit({ ...request, params: { answers } });
      const { counts } = await platform.completed(id);
      expect(counts).toMatchObject({ passed: PROBLEMS - wrong.length, failed: wrong.length, errored: 0 });
      const failed = await platform.runs(id, '&outcome=failed');
      expect(failed.map(({ caseId }) => caseId)).toEqual(wrong.map((i) => `Problems/${i}`));
      await expectReadable(failed, 'AssertionError');
    },
    MINUTE,
  );

  /** The failing check is found in what the grader said. */
  async function expectReadable(failed: RunView[], text: string): Promise<void> {
    for (const { id } of failed.slice(0, 2)) {
      const [attempt] = await platform.attempts(id);
      expect(attempt?.graders[0]?.output).toContain(text);
    }
  }
});
