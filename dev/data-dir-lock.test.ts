import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { dataPaths } from './data-dir.js';
import { DataDirLock } from './data-dir-lock.js';
import { endProcess, identify, isAlive, type ProcessId } from './process-id.js';

const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'everdict-dir-')));
const paths = dataPaths(dir);
const started: ProcessId[] = [];

/** A process that looks like the worker of a data directory, but for what it does. */
function aWorker(stateDir: string): ProcessId {
  const scripts = mkdtempSync(path.join(tmpdir(), 'everdict-scripts-'));
  mkdirSync(path.join(scripts, 'workers'));
  const script = path.join(scripts, 'workers/main.js');
  writeFileSync(script, 'setInterval(() => {}, 1000)');
  const env = { ...process.env, NODE_OPTIONS: '', EVERDICT_STATE_DIR: stateDir };
  const target = identify(spawn(process.execPath, [script], { env, stdio: 'ignore' }).pid ?? 0);
  started.push(target);
  return target;
}

const said: string[] = [];
const take = () => DataDirLock.take(dir, (line) => said.push(line));
const leave = (running: object): void => writeFileSync(paths.running, JSON.stringify(running));
const GONE = { pid: 2 ** 22 - 1, startTime: '1' };

afterEach(() => rmSync(paths.running, { force: true }));
afterAll(async () => {
  for (const target of started) await endProcess(target, 'SIGKILL', 1_000);
  rmSync(dir, { recursive: true, force: true });
});

test('a data directory serves one launcher at a time', async () => {
  const lock = await take();
  lock.record({ url: 'http://127.0.0.1:8787' });
  await expect(take()).rejects.toThrow(
    `a platform already runs in ${dir} (pid ${process.pid}) and answers at http://127.0.0.1:8787: use it, stop it`,
  );
  lock.release();
  (await take()).release();
  expect(existsSync(paths.running)).toBe(false);
});

test('what is running is on disk, each process for ever', async () => {
  const lock = await take();
  const part = { name: 'api', ...identify(process.pid) };
  lock.record({ parts: [part] });
  expect(JSON.parse(readFileSync(paths.running, 'utf8'))).toEqual({
    launcher: identify(process.pid),
    parts: [part],
  });
});

test('what a killed launcher left running is ended before the directory is taken, also what it had not noted yet', async () => {
  const left = aWorker(paths.state);
  const stranger = aWorker('/elsewhere/state');
  leave({ launcher: GONE });
  await take();
  expect([left, stranger].map(isAlive)).toEqual([false, true]);
  expect(said).toContain('ending what an earlier start left: worker');
});

test('a process that got the number of a former part is left alone', async () => {
  const stranger = aWorker('/elsewhere/state');
  leave({ launcher: GONE, parts: [{ name: 'worker', pid: stranger.pid, startTime: '1' }] });
  await take();
  expect(isAlive(stranger)).toBe(true);
});

test.each([['{"laun'], [''], ['null']])('a running.json with %j does not stand in the way', async (text) => {
  writeFileSync(paths.running, text);
  const lock = await take();
  expect(lock.isHeld).toBe(true);
});

test('a launcher sees that its directory was removed, and leaves that of another alone', async () => {
  const lock = await take();
  leave({ launcher: GONE });
  expect(lock.isHeld).toBe(false);
  lock.release();
  expect(existsSync(paths.running)).toBe(true);
});
