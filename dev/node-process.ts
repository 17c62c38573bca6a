import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLog, readLog, tailOf } from './log-file.js';
import { endProcess, identify, isAlive, type ProcessId } from './process-id.js';

const POLL_MS = 50;
/** What a process has to give its work away after it was asked to end. */
const GRACE_MS = 15_000;

export interface NodeProcessSpec {
  name: string;
  script: string;
  args?: readonly string[];
  env: NodeJS.ProcessEnv;
  logFile: string;
  /** Whether it is ready, told by what it has logged since it started. */
  isReady(log: string): boolean | Promise<boolean>;
  readyWithinMs: number;
}

/** Starts a program of ours in a process group of its own, so that Ctrl-C reaches the launcher alone. */
export async function startNodeProcess(spec: NodeProcessSpec, signal: AbortSignal) {
  const { fd: log, from } = openLog(spec.logFile);
  const child = spawn(process.execPath, ['--enable-source-maps', spec.script, ...(spec.args ?? [])], {
    env: spec.env,
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  if (child.pid === undefined) throw new Error(`${spec.name} could not be started: node ${spec.script}`);
  const target = identify(child.pid);
  const stop = (): Promise<void> => endProcess(target, 'SIGTERM', GRACE_MS);
  try {
    await waitUntilReady(spec, target, from, signal);
  } catch (error) {
    await stop();
    throw error;
  }
  return { pid: child.pid, stop };
}

async function waitUntilReady(spec: NodeProcessSpec, target: ProcessId, from: number, signal: AbortSignal) {
  const deadline = performance.now() + spec.readyWithinMs;
  while (!(await spec.isReady(readLog(spec.logFile, from)))) {
    if (signal.aborted) throw new Error(`${spec.name} was stopped while it started`);
    if (!isAlive(target)) throw failure(spec, 'ended while it started', from);
    if (performance.now() > deadline) throw failure(spec, `is not ready after ${spec.readyWithinMs / 1_000} s`, from);
    await sleep(POLL_MS);
  }
}

/** With the reason that our programs log last when they fail, else with the end of what was printed. */
function failure({ name, logFile }: NodeProcessSpec, what: string, from: number): Error {
  const tail = tailOf(logFile, from);
  const reason = /"error":\{"name":"[^"]*","message":("(?:[^"\\]|\\.)*")/.exec(tail.split('\n').at(-1) ?? '')?.[1];
  if (reason) return new Error(`${name} ${what}: ${JSON.parse(reason)}\nMore is in ${logFile}`);
  return new Error(`${name} ${what}; the end of ${logFile}:\n${tail}`);
}
