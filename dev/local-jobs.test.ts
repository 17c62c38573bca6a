import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { endLocalJobs } from './local-jobs.js';
import { endProcess, identify, isAlive, type ProcessId } from './process-id.js';

const stateDir = mkdtempSync(path.join(tmpdir(), 'everdict-jobs-'));
const started: ProcessId[] = [];

afterAll(async () => {
  for (const target of started) await endProcess(target, 'SIGKILL', 1_000);
  rmSync(stateDir, { recursive: true, force: true });
});

function aProcess(env: Record<string, string>): ProcessId {
  const child = spawn('sleep', ['60'], { stdio: 'ignore', detached: true, env: { PATH: '/usr/bin:/bin', ...env } });
  const target = identify(child.pid ?? 0);
  started.push(target);
  return target;
}

function aJob(name: string, wrapper?: ProcessId): void {
  const state = path.join(stateDir, 'jobs', name, 'state');
  mkdirSync(state, { recursive: true });
  if (wrapper) writeFileSync(path.join(state, 'pid'), `${wrapper.pid} ${wrapper.startTime}\n`);
}

test('ends the group of a wrapper and every process that carries the marker of a job, and nothing else', async () => {
  const wrapper = aProcess({ EVERDICT_ATTEMPT: 'everdict-run-1-1' });
  const daemon = aProcess({ EVERDICT_ATTEMPT: 'everdict-run-2-1' });
  const foreign = aProcess({ EVERDICT_ATTEMPT: 'everdict-run-3-1' });
  const reused = aProcess({});
  const named = aProcess({});
  aJob('everdict-run-1-1', wrapper);
  aJob('everdict-run-2-1');
  aJob('everdict-run-4-1', { pid: reused.pid, startTime: '1' });

  aJob('everdict-run-5-1', named);

  expect(await endLocalJobs(stateDir)).toBe(1);
  expect([wrapper, daemon, foreign, reused, named].map(isAlive)).toEqual([false, false, true, true, true]);
});

test('a job that was cut short is gone for the next worker, one that had its result is kept', async () => {
  const record = '\n__EVERDICT_RESULT__ 00ff version 1\n__EVERDICT_RESULT__ 00ff end 2\n';
  for (const [name, printed] of Object.entries({ cut: 'half of it', done: `all of it${record}`, ended: 'before' })) {
    aJob(name, name === 'ended' ? undefined : aProcess({ EVERDICT_ATTEMPT: name }));
    writeFileSync(path.join(stateDir, 'jobs', name, 'stdout'), printed);
  }
  expect(await endLocalJobs(stateDir)).toBe(1);
  expect(['cut', 'done', 'ended'].map((name) => existsSync(path.join(stateDir, 'jobs', name)))).toEqual([
    false,
    true,
    true,
  ]);
});

test('a job whose wrapper says who it is while all are being ended was cut short, too', async () => {
  const name = 'everdict-run-6-1';
  const wrapper = aProcess({ EVERDICT_ATTEMPT: name });
  aJob(name);
  const ending = endLocalJobs(stateDir);
  aJob(name, wrapper);

  expect(await ending).toBe(1);
  expect(existsSync(path.join(stateDir, 'jobs', name))).toBe(false);
});

test('has nothing to do where no job ever ran', async () => {
  expect(await endLocalJobs(path.join(stateDir, 'none'))).toBe(0);
});
