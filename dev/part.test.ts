import { spawn } from 'node:child_process';
import { Part } from './part.js';
import { endProcess, identify, isAlive } from './process-id.js';

/** After its first start it fails to start so often. */
function aPart({ failures = 0 } = {}) {
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
  return { part: new Part('worker', start, (line) => said.push(line), 20), pids, said };
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

test('a part that does not come up again is reported', async () => {
  const { part, pids } = aPart({ failures: 99 });
  await part.start();
  const failed = new Promise<Error>((resolve) => part.watch(() => {}, resolve));
  await kill(pids[0]);
  expect((await failed).message).toBe('the port is taken');
  await part.stop();
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
