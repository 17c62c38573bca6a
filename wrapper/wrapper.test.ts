import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RecordScanner } from '../policy/record-scanner.js';
import { Attempt, discardAttempts, runAttempt } from './attempts.js';
import { findProgram, inEveryShell, MISSING_SHELLS, removeShells } from './shells.js';

afterEach(discardAttempts);
afterAll(removeShells);

const shellcheck = findProgram('shellcheck');
const LIMIT = 262_144;

/** Prints so many zeros without a newline. */
const zeros = (count: number): string => `printf '%0${count}d' 0`;
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('latin1');

for (const name of MISSING_SHELLS)
  test.skip(`${name} is neither on PATH nor to be had: the wrapper is not tested in it`, () => {});

(shellcheck ? test : test.skip)('the wrapper has no fault that shellcheck knows', () => {
  const wrapper = fileURLToPath(new URL('wrapper.sh', import.meta.url));
  expect(spawnSync(shellcheck ?? '', ['--shell=sh', wrapper], { encoding: 'utf8' }).stdout).toBe('');
});

describe('the command', () => {
  inEveryShell('runs, and its status, output and answer come back', async (shell) => {
    const { code, log, stderr, record } = await runAttempt(shell, { command: 'echo out; echo err >&2; exit 3' });

    expect({ code, log: text(log), stderr }).toEqual({ code: 3, log: 'out\n', stderr: 'err\n' });
    expect(record).toMatchObject({ status: 3, timer: 'none', setupMs: 0, graders: [], leftovers: 0 });
    expect(record).toMatchObject({ answerFrom: 'stdout', answerCut: false, answerBytes: 4 });
    expect(text(record?.answer)).toBe('out\n');
  });

  inEveryShell('has its whole answer, however slow the machine is', async (shell) => {
    const slow = mkdtempSync(join(tmpdir(), 'everdict-slow-'));
    const busy = `read -r begun _ </proc/uptime; now=$begun
      while [ "\${now%.*}" -lt "$((\${begun%.*} + 4))" ]; do read -r now _ </proc/uptime; done`;
    const od = `#!${join(shell.path, 'sh')}\n${busy}\nPATH=${shell.path}; exec od "$@"\n`;
    writeFileSync(join(slow, 'od'), od, { mode: 0o755 });
    const { record } = await runAttempt(shell, { command: 'echo 42', image: { PATH: `${slow}:${shell.path}` } });
    rmSync(slow, { recursive: true });

    expect(text(record?.answer)).toBe('42\n');
  });

  inEveryShell('is told apart from one that chose exit code 2 where the shell could not parse it', async (shell) => {
    const broken = await runAttempt(shell, { command: 'echo begun\nif true; then' });
    expect(broken.record).toMatchObject({ status: 2, isUnparsable: true });

    const chosen = await runAttempt(shell, { command: 'exit 2' });
    expect(chosen.record?.status).toBe(2);
    expect(chosen.record).not.toHaveProperty('isUnparsable');
  });

  inEveryShell('may open its stderr by name, also where that is a file', async (shell) => {
    const command = 'echo one >&2; echo two >/dev/stderr; echo three >&2';
    // The job's own directory is the launcher's, too.
    const launcher = [join(shell.path, 'sh'), '-c', 'exec "$@" 2>>stderr.txt', 'launcher'];
    const attempt = new Attempt(shell, { command, launcher });
    await attempt.run();

    expect(readFileSync(join(attempt.dir, 'stderr.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
  });

  inEveryShell('may print more than its files take, which are cut there, and goes on', async (shell) => {
    const command = `${zeros(300_000)}; ${zeros(300_000)} >&2; exit 3`;
    const launcher = [join(shell.path, 'sh'), '-c', 'exec "$@" >>stdout.txt 2>>stderr.txt', 'launcher'];
    const attempt = new Attempt(shell, { command, launcher });
    appendFileSync(join(attempt.payload, 'settings'), 'output_blocks=200\n');
    const { code } = await attempt.run();
    const scanner = new RecordScanner(attempt.nonce);
    const { plain, record } = scanner.push(readFileSync(join(attempt.dir, 'stdout.txt')));

    expect(code).toBe(3);
    expect(record).toMatchObject({ status: 3, answerCut: true });
    expect(text(record?.answer)).toBe('0'.repeat(LIMIT));
    const kept = Buffer.concat(plain.map(({ bytes }) => bytes)).toString();
    expect(kept).toBe(`${'0'.repeat(102_400)}\n[the rest of stdout cut]\n`);
    expect(statSync(join(attempt.dir, 'stderr.txt')).size).toBe(102_400);
  });

  inEveryShell('reaches the agent byte for byte', async (shell) => {
    const line = `a'b"c $HOME \${x} \`d\` \\e \\\\ !f #g *`;
    const command = `cat <<'END'\n${line}\nEND\n`;

    expect(text((await runAttempt(shell, { command })).log)).toBe(`${line}\n`);
  });

  inEveryShell('may print any bytes', async (shell) => {
    const command = `printf '\\377\\376\\000ok\\n\\303'; printf '\\033[31m\\r\\n\\000'; printf 'RESULT=1'`;
    const { log, record } = await runAttempt(shell, { command });
    const printed = '\xff\xfe\0ok\n\xc3\x1b[31m\r\n\0RESULT=1';

    expect(text(log)).toBe(printed);
    expect(text(record?.answer)).toBe(printed);
  });

  inEveryShell('may print what looks like a record', async (shell) => {
    const fake = ['version 1', 'status 0', 'end 3'].map((line) => `__EVERDICT_RESULT__ c0ffee ${line}\n`).join('');
    const { log, record } = await runAttempt(shell, { command: `printf '%s' '\n${fake}'; exit 4` });

    expect(text(log)).toBe(`\n${fake}`);
    expect(record).toMatchObject({ status: 4 });
  });

  inEveryShell('may print 50 MB without a newline', async (shell) => {
    const { code, log, record } = await runAttempt(shell, { command: zeros(50_000_000) });

    expect({ code, length: log.length }).toEqual({ code: 0, length: 50_000_000 });
    expect(record).toMatchObject({ status: 0, answerCut: true });
  });

  inEveryShell('reads an empty stdin', async (shell) => {
    expect(text((await runAttempt(shell, { command: 'cat; echo "$?"' })).log)).toBe('0\n');
  });

  inEveryShell('has status 127 when it is not found', async (shell) => {
    const { code, record } = await runAttempt(shell, { command: 'no-such-agent' });

    expect({ code, status: record?.status }).toEqual({ code: 127, status: 127 });
  });

  inEveryShell('keeps its answer when it deletes all it can, and is still graded', async (shell) => {
    const command = 'echo kept; cd /; rm -rf "$HOME"/../*';
    const { record } = await runAttempt(shell, { command, graders: ['cat "$EVERDICT_ANSWER_FILE"'] });

    expect(record).toMatchObject({ status: 0, graders: [{ status: 0 }] });
    expect([record?.answer, record?.graders[0]?.output].map(text)).toEqual(['kept\n', 'kept\n']);
  });
});

describe('the answer', () => {
  inEveryShell('is the file the harness wrote, if it wrote one', async (shell) => {
    const command = `echo noise; printf 'a\\000b' >"$EVERDICT_ANSWER_FILE"`;
    const { log, record } = await runAttempt(shell, { command });

    expect(record).toMatchObject({ answerFrom: 'file', answerBytes: 3, answerCut: false });
    expect([text(log), text(record?.answer)]).toEqual(['noise\n', 'a\0b']);
  });

  inEveryShell('is empty if that file is', async (shell) => {
    const { record } = await runAttempt(shell, { command: 'echo noise; : >"$EVERDICT_ANSWER_FILE"' });

    expect(record).toMatchObject({ answerFrom: 'file', answerBytes: 0, answer: new Uint8Array() });
  });

  inEveryShell('that the disk would not take is said to be lost', async (shell) => {
    const attempt = new Attempt(shell, { command: 'echo answer' });
    mkdirSync(attempt.state);
    symlinkSync('/dev/full', join(attempt.state, 'command.hex'));
    const { record } = await attempt.run();

    // The od of busybox does not say that it could not write.
    expect(record).toMatchObject({ status: 0, ...(shell.name === 'busybox' ? {} : { isLost: true }) });
  });

  inEveryShell('of which the disk took half a byte more is whole without it', async (shell) => {
    const attempt = new Attempt(shell, { command: 'echo a' });
    mkdirSync(attempt.state);
    writeFileSync(join(attempt.state, 'command.hex'), '       6');
    const { record } = await attempt.run();

    expect(Buffer.from(record?.answer ?? []).toString()).toBe('a\n');
  });

  inEveryShell('from stdout is cut after 256 KB, and not before', async (shell) => {
    const [whole, cut] = await Promise.all(
      [LIMIT, LIMIT + 1].map((count) => runAttempt(shell, { command: zeros(count) })),
    );

    expect(whole?.record).toMatchObject({ answerCut: false, answerBytes: LIMIT });
    expect(whole?.record?.answer).toHaveLength(LIMIT);
    expect(cut?.record?.answerCut).toBe(true);
    expect(cut?.record?.answerBytes).toBeUndefined();
    expect(cut?.record?.answer).toHaveLength(LIMIT);
    expect(cut?.log).toHaveLength(LIMIT + 1);
  });

  inEveryShell('from a file is cut after 256 KB and keeps its size', async (shell) => {
    const command = `${zeros(300_000)} >"$EVERDICT_ANSWER_FILE"`;
    const { record } = await runAttempt(shell, { command });

    expect(record).toMatchObject({ answerFrom: 'file', answerCut: true, answerBytes: 300_000 });
    expect(record?.answer).toHaveLength(LIMIT);
  });

  inEveryShell('comes with the usage, cut after 16 KB', async (shell) => {
    const small = await runAttempt(shell, { command: `printf '{"cost": 1}' >"$EVERDICT_USAGE_FILE"` });
    const large = await runAttempt(shell, { command: `${zeros(20_000)} >"$EVERDICT_USAGE_FILE"` });

    expect([text(small.record?.usage), small.record?.usageCut]).toEqual(['{"cost": 1}', false]);
    expect([large.record?.usage?.length, large.record?.usageCut]).toEqual([16_384, true]);
  });
});

describe('graders', () => {
  inEveryShell('run in order in the work directory, with what the agent left there', async (shell) => {
    const attempt = new Attempt(shell, {
      command: 'echo 42 >result; echo done',
      graders: ['cat result; echo err >&2', 'pwd; exit 5'],
    });
    const { code, log, record } = await attempt.run();
    const [first, second] = record?.graders ?? [];

    expect({ code, log: text(log) }).toEqual({ code: 0, log: 'done\n' });
    expect(first).toMatchObject({ index: 1, status: 0, timedOut: false });
    expect(second).toMatchObject({ index: 2, status: 5, timedOut: false });
    expect([text(first?.output), text(second?.output)]).toEqual(['42\nerr\n', `${attempt.work}\n`]);
  });

  inEveryShell('read the answer from a file, also if it was printed, byte for byte', async (shell) => {
    const command = `printf '\\377\\000\\n%s' "it's 100%d \\\\n"`;
    const { record } = await runAttempt(shell, { command, graders: ['cat "$EVERDICT_ANSWER_FILE"'] });

    expect(text(record?.graders[0]?.output)).toBe(`\xff\0\nit's 100%d \\n`);
  });

  inEveryShell('give 4 KB of output at most, and may print any amount', async (shell) => {
    const { record } = await runAttempt(shell, { graders: [`${zeros(1_000_000)}; exit 6`] });

    expect(record?.graders).toMatchObject([{ status: 6 }]);
    expect(record?.graders[0]?.output).toHaveLength(4_096);
  });

  inEveryShell('that take too long are stopped, and the others run', async (shell) => {
    const graders = [`trap '' TERM; sleep 60 & sleep 60`, 'echo next'];
    const { record } = await runAttempt(shell, { graders, timers: { graderSec: 1 } });

    expect(record).toMatchObject({ status: 0, timer: 'none', leftovers: 0 });
    expect(record?.graders.map(({ timedOut }) => timedOut)).toEqual([true, false]);
    expect(text(record?.graders[1]?.output)).toBe('next\n');
  });

  inEveryShell('do not run after a command that was stopped by its timer', async (shell) => {
    const attempt = new Attempt(shell, { command: 'sleep 60', graders: [': >graded'], timers: { timeoutSec: 1 } });
    const { record } = await attempt.run();

    expect(record).toMatchObject({ timer: 'command', graders: [] });
    expect(existsSync(join(attempt.work, 'graded'))).toBe(false);
  });
});

describe('a start', () => {
  inEveryShell('leaves the pid of the wrapper, with its start time', async (shell) => {
    const attempt = new Attempt(shell, { command: 'read -r pid started <"$HOME/../pid"; cat "/proc/$pid/stat"' });
    const { child, ended } = attempt.start();
    const [pid, started] = text((await ended).log)
      .split(' ')
      .flatMap((field, i) => (i === 0 || i === 21 ? [field] : []));

    expect(pid).toBe(String(child.pid));
    expect(readFileSync(join(attempt.state, 'pid'), 'utf8')).toBe(`${pid} ${started}\n`);
  });

  inEveryShell('of the same attempt a second time ends at once and prints nothing', async (shell) => {
    const attempt = new Attempt(shell, { command: 'echo ran >>runs' });
    await attempt.run();
    const second = await attempt.run();

    expect(second).toEqual({ code: 0, log: Buffer.alloc(0), stderr: '', record: undefined });
    expect(readFileSync(join(attempt.work, 'runs'), 'utf8')).toBe('ran\n');
  });
});
