import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, type ProcessId } from './local.process.js';
import { type StartOrder, WrapperStarter } from './local.starter.js';

const dir = mkdtempSync(join(tmpdir(), 'everdict-starter-'));
const running: number[] = [];
afterAll(() => {
  for (const pid of running) process.kill(-pid, 'SIGKILL');
  rmSync(dir, { recursive: true });
});

const order = (script: string, parts: Partial<StartOrder> = {}): StartOrder => ({
  args: ['-c', script],
  cwd: dir,
  env: { PATH: '/usr/bin:/bin', GREETING: 'hello' },
  stdout: join(dir, 'out'),
  stderr: join(dir, 'err'),
  ...parts,
});

const statOf = (pid: number): string[] => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
const identify = (pid: number): ProcessId => ({ pid, startTime: statOf(pid)[19] ?? '' });

async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000 && !holds(); turn++) await sleep(5);
  expect(holds()).toBe(true);
}

test('starts a group leader with the environment it is given, and says how it ended', async () => {
  const started = await new WrapperStarter().start(order('echo "$GREETING $HOME"; exit 7'));
  await until(() => started.end !== undefined);

  expect(started.end).toBe('ended with status 7');
  expect(readFileSync(join(dir, 'out'), 'utf8')).toBe('hello \n');
});

test('refuses with the code of the system', async () => {
  const starter = new WrapperStarter();

  await expect(starter.start(order('true', { cwd: join(dir, 'nowhere') }))).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(starter.start(order('true', { stdout: join(dir, 'nowhere', 'out') }))).rejects.toMatchObject({
    code: 'ENOENT',
  });
});

test('takes no job with it when it dies, and is replaced', async () => {
  const starter = new WrapperStarter();
  const { pid } = await starter.start(order('sleep 600'));
  running.push(pid);
  const job = identify(pid);
  const own = identify(Number(statOf(pid)[1]));
  process.kill(own.pid, 'SIGKILL');

  const next = (await starter.start(order('sleep 600'))).pid;
  running.push(next);
  expect(isAlive(own)).toBe(false);
  expect(isAlive(job)).toBe(true);
  expect(isAlive(identify(next))).toBe(true);
});
