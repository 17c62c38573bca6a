import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DataDirLock, dataPaths } from './data-dir.js';
import { endProcess, identify, isAlive, type ProcessId } from './process-id.js';

const dir = mkdtempSync(path.join(tmpdir(), 'everdict-dir-'));
const paths = dataPaths(dir);
const started: ProcessId[] = [];

function aProcess(): ProcessId {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  const target = identify(child.pid ?? 0);
  started.push(target);
  return target;
}

const said: string[] = [];
const take = () => DataDirLock.take(paths, (line) => said.push(line));
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

test('what a killed launcher left running is ended before the directory is taken', async () => {
  const left = aProcess();
  leave({ launcher: GONE, parts: [{ name: 'worker', ...left }] });
  await take();
  expect(isAlive(left)).toBe(false);
  expect(said).toContain('ending what an earlier start left: worker');
});

test('a process that got the number of a former part is left alone', async () => {
  const stranger = aProcess();
  leave({ launcher: GONE, parts: [{ name: 'worker', pid: stranger.pid, startTime: '1' }] });
  await take();
  expect(isAlive(stranger)).toBe(true);
});

test('a file that makes no sense does not stand in the way', async () => {
  writeFileSync(paths.running, '{"laun');
  await expect(take()).resolves.toBeDefined();
});
