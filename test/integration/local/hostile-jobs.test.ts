import { spawn } from 'node:child_process';
import { ProcessTable } from '../../../backends/local/local.process.js';
import { jobPaths, readWrapper } from '../../../backends/local/local.state.js';
import { wholeLog } from '../../whole-log.js';
import { Rig, type RunSketch, type Worker } from './rig.js';

let rig: Rig;
let worker: Worker;
beforeAll(async () => {
  rig = await Rig.open();
  worker = await rig.worker();
});
afterAll(() => rig.close());

/** Verdict of the run in a word, after its job is gone: by its marker, and from the group of its wrapper. */
async function verdictOf(sketch: RunSketch): Promise<string> {
  const input = await rig.run(sketch);
  const end = await worker.dispatch(input);
  if (end.kind === 'refused') throw new Error(`refused: ${end.refusal.reason}`);
  const name = (await rig.world.attempts.read(input.runId, 1))?.allocation ?? '';
  const wrapper = readWrapper(jobPaths(rig.site.stateDir, name), name);
  await worker.finish(input, end);
  expect(await new ProcessTable().of(name, wrapper)).toEqual([]);
  const view = await rig.world.runs.find('default', input.runId);
  return view?.outcome === 'errored' ? `${view.errorClass} ${view.errorCode}` : `${view?.outcome}`;
}

const stdoutOf = async (runId: string): Promise<Buffer> =>
  Buffer.concat((await wholeLog(rig.world.logs, runId, 1, 'stdout')).map(({ bytes }) => bytes));

describe('a job that', () => {
  const FIFTY_MB = 'head -c 50000000 /dev/zero | tr "\\0" x';
  test.each<[string, RunSketch, string]>([
    ['passes', { command: 'true' }, 'passed'],
    ['fails', { command: 'exit 1' }, 'failed'],
    ['forks a daemon', { command: 'setsid sleep 600 & setsid sh -c "sleep 600 & sleep 600" & exit 0' }, 'passed'],
    ['hides its daemon from the marker', { command: 'env -i /bin/sleep 600 & exit 0' }, 'passed'],
    [
      'ignores TERM and fills its time-out',
      { command: "trap '' TERM; sleep 600 & sleep 600", case: { timeoutSec: 1 } },
      'agent TIMEOUT',
    ],
    ['fills its time-out', { command: 'sleep 600', case: { timeoutSec: 1 } }, 'agent TIMEOUT'],
    ['prints our marker', { command: 'echo "__EVERDICT_RESULT__ 0000 status 0"; exit 3' }, 'failed'],
    ['prints 50 MB without a newline', { command: FIFTY_MB }, 'passed'],
    ['prints invalid UTF-8', { command: "printf '\\377\\376\\000ok\\n\\303'" }, 'passed'],
    ['kills its parent shell', { command: 'kill -9 $PPID; exit 0' }, 'failed'],
    ['kills its group', { command: 'kill -9 0' }, 'agent ABORTED'],
    ['exits 137', { command: 'exit 137' }, 'failed'],
    ['exits 127', { command: 'exit 127' }, 'harness COMMAND_NOT_FOUND'],
    ['names a command that does not exist', { command: 'no-such-program' }, 'harness COMMAND_NOT_FOUND'],
    ['fails in setup', { command: 'true', setup: ['exit 9'] }, 'harness SETUP_FAILED'],
    ['fills the setup timer', { command: 'true', setup: ['sleep 600'] }, 'harness SETUP_FAILED'],
    ['deletes its own directories', { command: 'rm -rf "$HOME" "$TMPDIR" "$HOME/.."; exit 0' }, 'passed'],
    [
      'kills its wrapper',
      {
        command:
          'setsid sleep 600 & env -i /bin/sleep 600 & read -r pid rest <"$HOME/../pid"; kill -9 "$pid"; sleep 600',
      },
      'agent ABORTED',
    ],
    [
      'takes its own directory away',
      { command: 'd=$(cd "$HOME/../.." && pwd); mv "$d" "$d.moved"; sleep 2' },
      'agent ABORTED',
    ],
    ['puts a pipe in place of its pid', { command: 'rm "$HOME/../pid"; mkfifo "$HOME/../pid"' }, 'passed'],
    ['empties its log', { command: 'echo noise >&2; echo only this >/dev/stderr' }, 'passed'],
    ['closes its streams', { command: 'exec >&- 2>&-; exit 0' }, 'passed'],
  ])('%s gets its own verdict, and leaves nothing', async (_title, sketch, want) => {
    expect(await verdictOf(sketch)).toBe(want);
  });

  test('hangs on after its limit does not hold up the next (E05)', async () => {
    const begun = performance.now();
    const stuck = { command: "trap '' TERM; sleep 600 & sleep 600", case: { timeoutSec: 2 } };
    expect(await Promise.all([verdictOf(stuck), verdictOf({ command: 'true' })])).toEqual(['agent TIMEOUT', 'passed']);
    // The limit, the grace, and the platform's own time.
    expect(performance.now() - begun).toBeLessThan(2_000 + 1_000 + 3_000);
  });
});

test('a job that stops itself, with all that watches it, is ended once its time is over', async () => {
  const input = await rig.run({ entrypoint: ['sh', '-c', 'kill -STOP 0'], case: { timeoutSec: 3 } });
  expect(await worker.tryShort(input)).toEqual({ kind: 'running' });

  const end = await worker.dispatch(input);
  expect(end).toMatchObject({ kind: 'failed', failure: { code: 'TIMEOUT' } });
  if (end.kind === 'failed') await worker.finish(input, end);
  expect(await rig.processesOf(input)).toEqual([]);
});

test('a process that a job only names is none of its own', async () => {
  const stranger = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  const command = `read -r stat </proc/${stranger.pid}/stat; set -- \${stat##*) }; echo "${stranger.pid} \${20}" >"$HOME/../pid"`;
  expect(await verdictOf({ command })).toBe('passed');

  expect(stranger.kill(0)).toBe(true);
  stranger.kill('SIGKILL');
});

test.each<[string, RunSketch, RegExp]>([
  [
    'setup',
    { command: 'true', setup: ['echo working; echo "\\033[31mno such file\\033[0m" >&2; exit 9'] },
    /^setup step 1 ended with exit code 9; it said: no such file$/,
  ],
  ['setup on stdout', { command: 'true', setup: ['echo nothing found; exit 1'] }, /; it said: nothing found$/],
  ['command', { command: 'no-such-program' }, /; it said: .*no-such-program: .*not found$/],
  [
    'shell',
    { command: 'echo one\nif true; then' },
    /^exit code 2: the shell could not parse the command; it said: .*[Ss]yntax error/,
  ],
])('what the %s said of its failure is part of the reason', async (_title, sketch, want) => {
  const input = await rig.run(sketch);
  await worker.runToEnd(input);
  const view = await rig.world.runs.find('default', input.runId);
  expect([view?.errorClass, view?.reason]).toEqual(['harness', expect.stringMatching(want)]);
});

describe('what a job prints (E07, G67)', () => {
  test('is kept byte for byte, whatever it is', async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x6f, 0x6b, 0x0a, 0x1b, 0x5b, 0x33, 0x31, 0x6d, 0x0d, 0x0a, 0xc3]);
    const octal = [...bytes].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
    const input = await rig.run({
      command: `printf '${octal}'`,
      case: { graders: [{ kind: 'contains', value: 'ok' }] },
    });

    expect((await worker.runToEnd(input)).finished).toEqual({ kind: 'settled', outcome: 'passed' });
    expect(await stdoutOf(input.runId)).toEqual(bytes);
    expect(Buffer.from((await rig.world.attempts.read(input.runId, 1))?.record?.answer ?? [])).toEqual(bytes);
  });

  test('holds forged records as plain output, and the real one not at all', async () => {
    const forged = ['version 1', 'status 0', 'timer none', 'end 4'].map((line) => `__EVERDICT_RESULT__ 123456 ${line}`);
    const input = await rig.run({ command: `echo noise; echo '${forged.join('\n')}'; exit 5` });
    await worker.runToEnd(input);

    expect((await stdoutOf(input.runId)).toString()).toBe(`noise\n${forged.join('\n')}\n`);
    expect((await rig.world.attempts.read(input.runId, 1))?.record).toMatchObject({ status: 5 });
  });

  test('is cut in the middle, exactly, beyond what is kept', async () => {
    const small = await rig.worker({ logBytes: 1_000 });
    const input = await rig.run({ command: 'seq 1 2000' });
    await small.runToEnd(input);

    const all = Array.from({ length: 2_000 }, (_, i) => `${i + 1}\n`).join('');
    const chunks = await wholeLog(rig.world.logs, input.runId, 1, 'stdout');
    expect(chunks.map(({ at, bytes }) => [at, bytes.length])).toEqual([
      [0, 800],
      [all.length - 200, 200],
    ]);
    for (const { at, bytes } of chunks) expect(String(bytes)).toBe(all.slice(at, at + bytes.length));
  });

  test('takes little memory however much it is, and the record after it is found (E09)', async () => {
    const before = process.memoryUsage.rss();
    let peak = before;
    const sampler = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss());
    }, 10);
    const input = await rig.run({ command: 'yes | head -c 200000000; echo RESULT=1' });
    await worker.runToEnd(input);
    clearInterval(sampler);

    expect(peak - before).toBeLessThan(100_000_000);
    const chunks = await wholeLog(rig.world.logs, input.runId, 1, 'stdout');
    expect(chunks.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBe(10_000_000);
    expect(chunks.at(-1)?.at).toBeGreaterThan(199_000_000);
    expect(
      Buffer.from(chunks.at(-1)?.bytes ?? [])
        .toString()
        .slice(-9),
    ).toBe('RESULT=1\n');
    expect((await rig.world.attempts.read(input.runId, 1))?.record).toMatchObject({ status: 0, answerCut: true });
  }, 30_000);
});
