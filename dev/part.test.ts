import { spawn } from 'node:child_process';
import { Part } from './part.js';
import { endProcess, identify, isAlive } from './process-id.js';

/** After its first start it fails to start so often. */
function aPart({ failures = 0, restarts = 20 } = {}) {
  const pids: number[] = [];
  const said: string[] = [];
  let left = failures;
  const start = async () => {
    if (pids.length > 0 && left > 0) {
      left -= 1;
      throw new Error('the port is taken');
    }
    const pid = spawn('sleep', ['60'], { stdio: 'ignore' }).pid ?? 0;
    pids.push(pid);
    const target = identify(pid);
    return { pid, detail: 'here', stop: () => endProcess(target, 'SIGTERM', 1_000) };
  };
  const say = (line: string) => said.push(line);
  const limit = { restarts, withinMs: 60_000 };
  return { part: new Part({ name: 'worker', start, say, logFile: '/logs/worker.log', lookMs: 20, limit }), pids, said };
}

const kill = (pid: number | undefined) => endProcess(identify(pid ?? 0), 'SIGKILL', 1_000);

test('a part that dies is started again, and says so', async () => {
  const { part, pids, said } = aPart();
  await part.start();
  const again = new Promise<void>((resolve, reject) => part.watch(resolve, reject));
  await kill(pids[0]);
  await again;
  expect(pids).toHaveLength(2);
  expect(said[1]).toContain(`ended unexpectedly (pid ${pids[0]})`);
  await part.stop();
  expect(isAlive(identify(pids[1] ?? 0))).toBe(false);
});

test('a part that does not come up at first, since others are away, is tried again', async () => {
  const { part, pids } = aPart({ failures: 2 });
  await part.start();
  const again = new Promise<void>((resolve, reject) => part.watch(resolve, reject));
  await kill(pids[0]);
  await again;
  expect(pids.map((pid) => isAlive(identify(pid)))).toEqual([false, true]);
  await part.stop();
});

test('a part that has to be started too often within a time is given up, with the reason and what to do', async () => {
  const { part, pids, said } = aPart({ failures: 99, restarts: 2 });
  await part.start();
  const failed = new Promise<Error>((resolve) => part.watch(() => {}, resolve));
  await kill(pids[0]);
  expect((await failed).message).toMatch(
    /^worker had to be started 2 times within 1 minutes .*its log is \/logs\/worker\.log.*start again once .*\nThe last reason: the port is taken$/s,
  );
  // The same reason is said once.
  expect(said.filter((line) => line.includes('the port is taken'))).toHaveLength(1);
  await part.stop();
});

test('a stop does not wait for the pause before the next start', async () => {
  const { part, pids } = aPart({ failures: 99 });
  await part.start();
  part.watch(
    () => {},
    () => {},
  );
  await kill(pids[0]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const begun = performance.now();
  await part.stop();
  expect(performance.now() - begun).toBeLessThan(400);
});

test('a part that is stopped stays down', async () => {
  const { part, pids } = aPart();
  await part.start();
  part.watch(
    () => {},
    () => {},
  );
  await part.stop();
  await part.stop();
  expect(pids.map((pid) => isAlive(identify(pid)))).toEqual([false]);
});
