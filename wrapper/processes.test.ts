import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { Attempt, canContain, discardAttempts, namespace, runAttempt } from './attempts.js';
import { inEveryShell, NODE, removeShells, type Shell } from './shells.js';

afterEach(discardAttempts);
afterAll(removeShells);

/** Starts `sleep 60` in a session of its own, without waiting for it, and writes its pid to the file `daemon`. */
const daemon = (environment: string): string => `'${NODE}' -e '
  const options = { detached: true, stdio: ["ignore", "inherit", "ignore"], env: ${environment} };
  const child = require("node:child_process").spawn("sleep", ["60"], options);
  require("node:fs").writeFileSync("daemon", String(child.pid));
  child.unref()'`;

/** As the system names it: S sleeps, Z has ended; absent for one that is gone. */
function stateOf(pid: number): string | undefined {
  if (!existsSync(`/proc/${pid}/stat`)) return undefined;
  return /\) ([A-Z]) [^)]*$/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1];
}

const isAlive = (pid: number): boolean => !['Z', 'X', undefined].includes(stateOf(pid));

/** Whether a signal was sent that the process has not got yet. */
function isPending(pid: number, signal: number): boolean {
  const [, mask = '0'] = /^ShdPnd:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (BigInt(`0x${mask}`) >> BigInt(signal - 1)) % 2n === 1n;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const daemonOf = ({ work }: Attempt): number => Number(readFileSync(join(work, 'daemon'), 'utf8'));

/** A process of somebody else that has the marker of the given attempt. */
function outsider(attempt: string) {
  const child = spawn('sleep', ['60'], { stdio: 'ignore', env: { PATH: process.env.PATH, EVERDICT_ATTEMPT: attempt } });
  return { isAlive: () => child.exitCode === null && child.signalCode === null, end: () => child.kill('SIGKILL') };
}

describe('the record comes whatever the command does:', () => {
  const commands: [string, string, number][] = [
    ['a signal to its group', 'kill 0; sleep 60', 143],
    ['an interrupt to its group', 'kill -INT 0; sleep 60', 130],
    ['the end of its own shell', 'kill -9 $$; sleep 60', 137],
    ['a signal to its parent', 'kill $PPID; exit 5', 5],
    ['the end of its parent', 'kill -9 $PPID; sleep 60', 137],
    ['a status that looks like a signal', 'exit 137', 137],
  ];
  for (const [title, command, status] of commands) {
    inEveryShell(title, async (shell) => {
      const { code, log, record } = await runAttempt(shell, { command: `echo begun\n${command}` });

      expect({ code, log: log.toString() }).toEqual({ code: status, log: 'begun\n' });
      expect(record).toMatchObject({ status, timer: 'none' });
    });
  }

  inEveryShell('no signal is ignored when it starts', async (shell) => {
    const { log } = await runAttempt(shell, { command: "sed -n 's/^SigIgn:.0*//p' /proc/self/status" });

    expect(log.toString()).toBe('\n');
  });
});

/** Prints more than is kept of an answer, and gives the pid of the helper that has enough to `sleep 60` of somebody else. */
const takeOver = `'${NODE}' -e '
  const fs = require("node:fs");
  const { spawn } = require("node:child_process");
  const read = (file) => { try { return fs.readFileSync(file, "latin1"); } catch { return ""; } };
  const isHelper = (pid) => {
    const isOurs = read("/proc/" + pid + "/environ").includes("EVERDICT_ATTEMPT=" + process.env.EVERDICT_ATTEMPT);
    return isOurs && read("/proc/" + pid + "/cmdline").includes("\\0-tx1\\0");
  };
  const find = () => Number(fs.readdirSync("/proc").find((pid) => /^[0-9]+$/.test(pid) && isHelper(pid)));
  let helper;
  do helper = find(); while (!helper);
  process.stdout.write("x".repeat(300000));
  const take = () => {
    if (fs.existsSync("/proc/" + helper)) return setTimeout(take, 5);
    fs.writeFileSync("/proc/sys/kernel/ns_last_pid", String(helper - 1));
    const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore", env: { PATH: process.env.PATH } });
    if (child.pid !== helper) return child.kill("SIGKILL"), take();
    fs.writeFileSync("daemon", String(child.pid));
    child.unref();
  };
  take()'`;

/** Where nobody else takes pids, and the next one can be chosen; absent where the system does not allow that. */
const pidsOfOurOwn = [namespace ?? []].find(([command = '', ...args]) => {
  const choose = ['/bin/sh', '-c', 'echo 1000 >/proc/sys/kernel/ns_last_pid'];
  return command !== '' && spawnSync(command, [...args, ...choose]).status === 0;
});

if (pidsOfOurOwn) {
  inEveryShell('whoever has the pid of a helper that ended is left alone', async (shell) => {
    const look = `"$@"; read -r pid <"$4/work/daemon"; sed -n 's/.*) [^ZX] .*/is left/p' "/proc/$pid/stat"`;
    const launcher = [...pidsOfOurOwn, join(shell.path, 'sh'), '-c', look, 'launcher'];
    const { log, record } = await runAttempt(shell, { command: takeOver, launcher });

    expect(record).toMatchObject({ status: 0, answerCut: true });
    expect(log.toString().slice(-8)).toBe('is left\n');
  });
}

describe('what the command leaves running', () => {
  const leavings: [string, string][] = [
    ['in the background', 'sleep 60 & echo $! >daemon'],
    ['after a double fork', '(sleep 60 & echo $! >daemon)'],
    ['deaf to TERM', "(trap '' TERM HUP INT; exec sleep 60) & echo $! >daemon"],
    ['in a session of its own', daemon('process.env')],
    [
      'without an environment',
      `exec 3>daemon; '${NODE}' -e '
      const env = { PATH: process.env.PATH };
      const child = require("node:child_process").spawn("sleep", ["60"], { stdio: "inherit", env });
      require("node:fs").writeSync(3, String(child.pid)); child.unref()'`,
    ],
  ];
  for (const [title, command] of leavings) {
    inEveryShell(`is gone before the graders: ${title}`, async (shell) => {
      const graders = [`read -r pid <daemon; sed -n 's/.*) [^Z] .*/alive/p' "/proc/$pid/stat" 2>&-; :`];
      const attempt = new Attempt(shell, { command: `echo begun\n${command}`, graders });
      const { log, record } = await attempt.run();

      expect({ log: log.toString(), leftovers: record?.leftovers }).toEqual({ log: 'begun\n', leftovers: 1 });
      expect(record?.graders[0]?.output).toHaveLength(0);
      expect(isAlive(daemonOf(attempt))).toBe(false);
    });
  }

  inEveryShell(
    'is all that is ended: not who has a marker much like it, nor who started the wrapper',
    async (shell) => {
      const attempt = new Attempt(shell, {
        command: 'exit 3',
        launcher: [join(shell.path, 'sh'), '-c', '"$@"; echo "launcher saw $?"', 'launcher'],
      });
      const others = [`${attempt.name}0`, attempt.name.slice(0, -1), ''].map(outsider);
      const { log, record } = await attempt.run();

      expect(others.map((other) => other.isAlive())).toEqual([true, true, true]);
      expect(record).toMatchObject({ status: 3, leftovers: 0 });
      expect(log.toString()).toContain('launcher saw 3');
      for (const other of others) other.end();
    },
  );

  inEveryShell('does not hold the record back for long where it is beyond our reach', async (shell) => {
    const attempt = new Attempt(shell, { command: `echo begun; ${daemon('{ PATH: process.env.PATH }')}` });
    const { record } = await attempt.run();

    expect(Buffer.from(record?.answer ?? []).toString()).toBe('begun\n');
    expect(isAlive(daemonOf(attempt))).toBe(true);
    process.kill(daemonOf(attempt), 'SIGKILL');
  });
});

describe('a timer', () => {
  inEveryShell('asks first, and gives the command its grace', async (shell) => {
    const command = `'${NODE}' -e 'process.on("SIGTERM", () => setTimeout(() => { console.log("tidied"); process.exit(9) }, 50));
      setTimeout(() => {}, 60000); console.log("begun")'; exit $?`;
    const { code, log, record } = await runAttempt(shell, { command, timers: { timeoutSec: 1, graceSec: 10 } });

    expect({ code, log: log.toString() }).toEqual({ code: 143, log: 'begun\ntidied\n' });
    expect(record).toMatchObject({ timer: 'command', status: 143, leftovers: 0 });
    expect(record?.commandMs).toBeGreaterThanOrEqual(1_000);
    expect(record?.commandMs).toBeLessThan(9_000);
  });

  inEveryShell('ends a command that does not listen, and its children', async (shell) => {
    const command = `trap '' TERM; sleep 60 & echo $! >daemon; sleep 60`;
    const attempt = new Attempt(shell, { command, timers: { timeoutSec: 1 } });
    const { code, record } = await attempt.run();

    expect({ code, timer: record?.timer, status: record?.status }).toEqual({
      code: 137,
      timer: 'command',
      status: 137,
    });
    expect(isAlive(daemonOf(attempt))).toBe(false);
  });

  inEveryShell('fires in time although the command ends every sleep', async (shell) => {
    // The sleep of the timer may not have replaced its shell yet when the command begins.
    const command = `read -r wrapper _ <"$HOME/../pid"
    ended=
    while [ -z "$ended" ]; do
      for stat in /proc/[0-9]*/stat; do
        read -r pid name _ parent group _ <"$stat" || continue
        [ "$name $parent" != "(sleep) $wrapper" ] || { kill -9 "$pid"; ended=1; }
      done
    done
    echo ended
    sleep 60`;
    const { log, record } = await runAttempt(shell, { command, timers: { timeoutSec: 2 } });

    expect(log.toString()).toBe('ended\n');
    expect(record).toMatchObject({ timer: 'command' });
    expect(record?.commandMs).toBeGreaterThanOrEqual(2_000);
  });

  inEveryShell('leaves nothing behind when it does not fire', async (shell) => {
    const attempt = new Attempt(shell, { timers: { timeoutSec: 86_399, lingerSec: 60 } });
    const { child, ended, untilLogged } = attempt.start();
    await untilLogged('');
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ');
    child.kill('SIGTERM');
    await ended;

    expect(children).toHaveLength(1);
    await until(() => !isAlive(Number(children[0])));
  });
});

describe('a signal to the wrapper', () => {
  inEveryShell('before the record changes nothing', async (shell) => {
    const attempt = new Attempt(shell, { command: 'echo ready; until [ -e gate ]; do sleep 0.01; done; exit 3' });
    const { child, ended, untilLogged } = attempt.start();
    await untilLogged('ready');
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP'] as const) child.kill(signal);
    writeFileSync(join(attempt.work, 'gate'), '');

    expect(await ended).toMatchObject({ code: 3, record: { status: 3 } });
  });

  inEveryShell('to its whole group ends the command and brings the record', async (shell) => {
    const attempt = new Attempt(shell, { command: 'echo ready; sleep 60' });
    const { child, ended, untilLogged } = attempt.start();
    await untilLogged('ready');
    process.kill(-(child.pid ?? 0), 'SIGTERM');

    expect(await ended).toMatchObject({ code: 143, record: { status: 143, timer: 'none' } });
  });

  inEveryShell('while the record waits for its reader cuts nothing off it', async (shell) => {
    const command = `printf '%0262144d' 0 >"$EVERDICT_ANSWER_FILE"; exit 3`;
    const { child, ended } = new Attempt(shell, { command, timers: { lingerSec: 3_600 } }).start();
    child.stdout?.pause();
    await until(() => (child.stdout?.readableLength ?? 0) > 0 && stateOf(child.pid ?? 0) === 'S');
    child.kill('SIGTERM');
    await until(() => !isPending(child.pid ?? 0, constants.signals.SIGTERM));
    child.stdout?.resume();
    const { code, record } = await ended;

    expect(code).toBe(3);
    expect(record?.answer).toHaveLength(262_144);
    expect(record?.isLost).toBeUndefined();
  });

  inEveryShell('after the record ends it at once, with the status of the command', async (shell) => {
    const attempt = new Attempt(shell, { command: 'exit 3', timers: { lingerSec: 3_600 } });
    const { child, ended, untilLogged } = attempt.start();
    await untilLogged('');
    expect(child.exitCode).toBeNull();
    child.kill('SIGTERM');

    expect(await ended).toMatchObject({ code: 3, record: { status: 3 } });
  });
});

(canContain ? describe : describe.skip)(
  'in a PID namespace of its own, which the system must allow, the wrapper',
  () => {
    const contained = (shell: Shell, command: string) => new Attempt(shell, { command, isContained: true });

    inEveryShell('ends whatever is left', async (shell) => {
      const commands = [daemon('{ PATH: process.env.PATH }'), "(trap '' TERM; exec sleep 60) &", 'echo begun; exit 3'];
      const { code, log, record } = await contained(shell, commands.join('\n')).run();

      expect({ code, log: log.toString() }).toEqual({ code: 3, log: 'begun\n' });
      expect(record).toMatchObject({ status: 3, leftovers: 2 });
    });

    inEveryShell('prints the record even if the command ends all it can', async (shell) => {
      const { code, record } = await contained(shell, 'kill -9 -1; sleep 60').run();

      expect({ code, status: record?.status }).toEqual({ code: 137, status: 137 });
    });
  },
);
