import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AttemptInput } from '../../../activities/attempt.js';
import { ProcessTable } from '../../../backends/local/local.process.js';
import { jobPaths, readWrapper } from '../../../backends/local/local.state.js';
import { eventually } from '../../eventually.js';
import { wholeLog } from '../../whole-log.js';
import { printing, recordLines, script } from './programs.js';
import { Rig, type RunSketch, type Worker } from './rig.js';

let rig: Rig;
let worker: Worker;
beforeAll(async () => {
  rig = await Rig.open();
  worker = await rig.worker();
});
afterAll(() => rig.close());

const nameOf = async ({ runId }: AttemptInput): Promise<string> =>
  (await rig.world.attempts.read(runId, 1))?.allocation ?? '';

/** Outcome of the run and the reason for it, after its job is gone: by its marker, and from the group of its launcher. */
async function verdictOf(sketch: RunSketch): Promise<string> {
  const input = await rig.run(sketch);
  const end = await worker.dispatch(input);
  if (end.kind === 'refused') throw new Error(`refused: ${end.refusal.reason}`);
  const name = await nameOf(input);
  const paths = jobPaths(rig.site.stateDir, name);
  const launcher = readWrapper(paths, name);
  await worker.finish(input, end);
  expect(await new ProcessTable().of(name, launcher)).toEqual([]);
  expect(existsSync(paths.dir)).toBe(false);
  const view = await rig.world.runs.find('default', input.runId);
  const outcome = view?.outcome === 'errored' ? `${view.errorClass} ${view.errorCode}` : `${view?.outcome}`;
  return view?.reason ? `${outcome}: ${view.reason}` : outcome;
}

const stdoutOf = async ({ runId }: AttemptInput): Promise<string> =>
  Buffer.concat((await wholeLog(rig.world.logs, runId, 1, 'stdout')).map(({ bytes }) => bytes)).toString();

describe('a process that', () => {
  const graders = [{ kind: 'equals', value: 'ok' }];
  const notOk = 'ended without a result: the entrypoint ended with exit code';
  test.each<[string, RunSketch, string]>([
    ['prints its record', { entrypoint: printing(recordLines()) }, 'passed'],
    [
      'prints a status that is no success',
      { entrypoint: printing(recordLines({ status: '3' })) },
      'failed: exit code 3',
    ],
    ['prints the right answer', { entrypoint: printing(recordLines({ status: '3' })), case: { graders } }, 'passed'],
    [
      'prints a wrong answer',
      { entrypoint: printing(recordLines({ answer: '6e6f' })), case: { graders } },
      'failed: expected "ok", got "no"',
    ],
    ['ends otherwise than its record says', { entrypoint: printing(recordLines(), { after: 'exit 127' }) }, 'passed'],
    ['hangs on after its record', { entrypoint: printing(recordLines(), { after: 'sleep 600' }) }, 'passed'],
    [
      'hangs on, and ignores TERM',
      { entrypoint: printing(recordLines(), { before: "trap '' TERM", after: 'sleep 600 & sleep 600' }) },
      'passed',
    ],
    [
      'forks daemons',
      { entrypoint: printing(recordLines(), { before: 'setsid sleep 600 & env -i /bin/sleep 600 &' }) },
      'passed',
    ],
    [
      'drops its own environment',
      { entrypoint: script('exec env -i /bin/sleep 600'), case: { timeoutSec: 1 } },
      'agent TIMEOUT: stopped after 1.x s: `timeoutSec` is 1',
    ],
    ['prints no record', { entrypoint: script('exit 0') }, `agent ABORTED: ${notOk} 0`],
    ['fails without one', { entrypoint: script('echo no model >&2; exit 3') }, `agent ABORTED: ${notOk} 3`],
    [
      'is killed',
      { entrypoint: script('kill -9 $$'), case: { resources: { memoryMb: 64 } } },
      `agent ABORTED: ${notOk} 137; if it ran out of memory, raise \`resources.memoryMb\` (it is 64 now)`,
    ],
    [
      'prints a record with another nonce',
      { entrypoint: printing(recordLines(), { nonce: 'c0ffee00' }) },
      `agent ABORTED: ${notOk} 0`,
    ],
    [
      'prints a record that is none',
      { entrypoint: printing([...recordLines(), 'verdict passed']) },
      'harness BAD_RECORD: the record that the entrypoint printed is none: line 11 begins with no key of a record: "verdict passed"',
    ],
    [
      'dies within its record',
      { entrypoint: script('echo "__EVERDICT_RESULT__ $EVERDICT_NONCE version 1"; exit 1') },
      'harness BAD_RECORD: the record that the entrypoint printed is none: it has no `end` line',
    ],
    [
      'corrects its record',
      { entrypoint: printing(recordLines(), { before: 'echo "__EVERDICT_RESULT__ $EVERDICT_NONCE version 2"' }) },
      'passed',
    ],
    [
      'does not exist',
      { entrypoint: ['no-such-program', '--flag'] },
      'harness COMMAND_NOT_FOUND: exit code 127: the entrypoint was not found; it said: …no-such-program: not found',
    ],
    [
      'is only a builtin of a shell',
      { entrypoint: ['cd', '/'] },
      'harness COMMAND_NOT_FOUND: exit code 127: the entrypoint was not found; it said: …cd: not found',
    ],
    [
      'cannot be executed',
      { entrypoint: ['/etc/passwd'] },
      'harness COMMAND_NOT_FOUND: exit code 126: the entrypoint cannot be executed; it said: …/etc/passwd: Permission denied',
    ],
    [
      'fills its time-out',
      { entrypoint: script("trap '' TERM; sleep 600 & sleep 600"), case: { timeoutSec: 1 } },
      'agent TIMEOUT: stopped after 1.x s: `timeoutSec` is 1',
    ],
    [
      'prints without end until its time-out',
      { entrypoint: script('while :; do echo noise; done'), case: { timeoutSec: 1 } },
      'agent TIMEOUT: stopped after 1.x s: `timeoutSec` is 1',
    ],
    [
      'kills its group',
      { entrypoint: script('kill -9 0') },
      "agent ABORTED: ended without a result: the job's wrapper was ended by SIGKILL",
    ],
    ['ends its group', { entrypoint: script('kill 0; sleep 1') }, `agent ABORTED: ${notOk} 143`],
    [
      'deletes its own directories',
      { entrypoint: printing(recordLines(), { before: 'rm -rf "$HOME" "$TMPDIR" "$HOME/.."' }) },
      'passed',
    ],
    ['closes its streams', { entrypoint: script('exec >&- 2>&-; exit 0') }, `agent ABORTED: ${notOk} 0`],
  ])('%s gets its own verdict, and leaves nothing', async (_title, sketch, want) => {
    const verdict = (await verdictOf(sketch)).replace(/after 1\.\d s/, 'after 1.x s');
    expect(verdict.replace(/said: .*exec: (\d+: )?/, 'said: …')).toBe(want);
  });
});

test('a process gets the path of its payload, its variables, and nothing of the worker', async () => {
  process.env.WORKER_SECRET = 'do not tell';
  const input = await rig.run({
    entrypoint: script(
      'pwd; cat "$0/job.json"; echo ---; env; echo ---; cat /proc/$PPID/environ; read -r _ || echo no input',
    ),
    harness: {
      env: { PATH: '/usr/bin:/bin:/opt/none', QUOTE: `it's "$HOME"` },
      params: { 'max-steps': 3 },
      model: 'm-1',
    },
    case: {
      id: 'case/ž',
      task: 'add\u2028them',
      env: { kind: 'repo', source: { files: { 'a/b.txt': 'text', 'c.bin': { hex: '00ff' } } } },
      timeoutSec: 20,
    },
  });
  await worker.runToEnd(input);
  delete process.env.WORKER_SECRET;
  const name = await nameOf(input);
  const { state } = jobPaths(rig.site.stateDir, name);
  const [described = '', variables = '', parent = ''] = (await stdoutOf(input)).split('---\n');

  const directory = described.slice(0, described.indexOf('\n'));
  expect(directory).toBe(join(state, 'work'));
  expect(JSON.parse(described.slice(directory.length))).toEqual({
    ...{ version: 1, runId: input.runId, caseId: 'case/ž', task: 'add\u2028them', model: 'm-1' },
    params: { 'max-steps': 3 },
    files: { 'a/b.txt': 'text', 'c.bin': { hex: '00ff' } },
    ...{ timeoutSec: 20, graceSec: 1, lingerSec: 60, answerLimit: 262_144, usageLimit: 16_384 },
  });
  expect(Object.fromEntries(variables.split('\n').map((line) => line.split(/=(.*)/s)))).toMatchObject({
    ...{
      PATH: '/usr/bin:/bin:/opt/none',
      QUOTE: `it's "$HOME"`,
      HOME: join(state, 'work'),
      TMPDIR: join(state, 'tmp'),
    },
    ...{
      EVERDICT_RUN_ID: input.runId,
      EVERDICT_CASE_ID: 'case/ž',
      EVERDICT_MODEL: 'm-1',
      EVERDICT_PARAM_MAX_STEPS: '3',
    },
    ...{ EVERDICT_ATTEMPT: name, EVERDICT_NONCE: expect.stringMatching(/^[0-9a-f]{32}$/) },
  });
  expect(variables + parent).not.toContain('do not tell');
  expect(parent).toContain(`EVERDICT_ATTEMPT=${name}`);
  expect(parent).not.toContain('EVERDICT_NONCE');
  expect(parent.endsWith('no input\n')).toBe(true);
});

test('a process is adopted by another worker, not started again, and timed from its start', async () => {
  const starts = join(rig.site.stateDir, 'starts');
  const gate = join(rig.site.stateDir, 'gate');
  const entrypoint = printing(recordLines(), {
    before: `echo start >>${starts}; until [ -e ${gate} ]; do sleep 0.01; done`,
  });
  const input = await rig.run({ entrypoint });
  const first = await rig.worker();
  const running = first.tryShort(input);
  await eventually('it has started', async () => existsSync(starts));
  expect(await running).toEqual({ kind: 'running' });

  const second = await rig.worker();
  const followed = second.dispatch(input);
  writeFileSync(gate, '');
  expect(await followed).toEqual({ kind: 'record' });
  expect(readFileSync(starts, 'utf8')).toBe('start\n');
  expect(await second.finish(input, { kind: 'record' })).toEqual({ kind: 'settled', outcome: 'passed' });
});

test.each([
  ['a process', { entrypoint: printing(recordLines(), { after: 'sleep 600' }) }],
  ['a command', { command: 'true' }],
])('the record that %s printed in time is its result, however late a worker comes', async (_title, sketch) => {
  const input = await rig.run({ ...sketch, case: { timeoutSec: 2 } });
  const begun = performance.now();
  await worker.leaveRunning(input);
  const name = await nameOf(input);
  const { stdout } = jobPaths(rig.site.stateDir, name);
  await eventually('it has printed its record', async () => readFileSync(stdout, 'utf8').includes(' end '));
  await eventually('its time is over', async () => performance.now() - begun > 2_000);

  const late = await rig.worker();
  expect(await late.dispatch(input)).toEqual({ kind: 'record' });
  expect(await late.finish(input, { kind: 'record' })).toEqual({ kind: 'settled', outcome: 'passed' });
  expect(await rig.processesOf(input)).toEqual([]);
});

test('an answer that is too large is cut, and marked', async () => {
  const grow = "line=$(head -c 2048 /dev/zero | tr '\\0' 6); n=0";
  const print = 'while [ $n -lt 300 ]; do n=$((n + 1)); echo "__EVERDICT_RESULT__ $EVERDICT_NONCE answer $line"; done';
  const lines = recordLines({ answer: '' }).map((line) => line.replace('answer_bytes 0', 'answer_bytes 307200'));
  const all = [...lines.map((line) => `echo "__EVERDICT_RESULT__ $EVERDICT_NONCE ${line}"`), print];
  const end = `echo "__EVERDICT_RESULT__ $EVERDICT_NONCE end ${lines.length + 301}"`;
  const input = await rig.run({ entrypoint: script([grow, ...all, end].join('\n')) });
  await worker.runToEnd(input);

  const stored = (await rig.world.attempts.read(input.runId, 1))?.record;
  expect([stored?.answer.length, stored?.answerCut, stored?.answerBytes]).toEqual([262_144, true, 307_200]);
});
