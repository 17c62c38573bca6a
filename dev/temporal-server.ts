import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { openLog, tailOf } from './log-file.js';
import { choosePorts } from './ports.js';
import { endProcess, identify } from './process-id.js';
import { findTemporalCli, SKIP_NEWS, type TemporalCli } from './temporal-binary.js';

const HOST = '127.0.0.1';
const NAMESPACE = 'default';
const RETENTION = '7 days';
const READY_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 10_000;

const SEARCH_ATTRIBUTES = ['Workspace', 'Scorecard', 'Runtime', 'Phase', 'Outcome'];

export interface TemporalOptions {
  /** Absent: the one that is found. */
  cli?: TemporalCli;
  /** Where histories are kept between starts. Absent: in memory. */
  dbFile?: string;
  /** Absent: beside `dbFile`. */
  logFile?: string;
  /** Absent: free ones. */
  port?: number;
  uiPort?: number;
  /** Without the web UI. */
  headless: boolean;
  say?: (line: string) => void;
}

export interface TemporalServer {
  address: string;
  uiUrl?: string;
  pid: number;
  stop(): Promise<void>;
}

/** Starts the Temporal dev server on loopback, ready to answer. */
export async function startTemporal(options: TemporalOptions): Promise<TemporalServer> {
  const cli = options.cli ?? (await findTemporalCli(options.say));
  const { port, uiPort } = await choosePorts({ port: options.port ?? 0, uiPort: options.uiPort ?? 0 });
  const temporary = path.join(os.tmpdir(), `everdict-temporal-${randomBytes(6).toString('hex')}.log`);
  const logFile = options.logFile ?? (options.dbFile ? `${options.dbFile}.log` : temporary);
  const { fd: log, from } = openLog(logFile);
  // A session of its own: Ctrl-C in the terminal must not end it before those who use it.
  const child = spawn(cli.program, flags({ ...options, cli }, port, uiPort), {
    detached: true,
    stdio: ['ignore', log, log],
  });
  const ended = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (status, signal) => reject(new Error(`it ended with ${signal ?? `status ${status}`}`)));
  });
  ended.catch(() => undefined);
  closeSync(log);
  if (child.pid === undefined) return ended;
  child.unref();
  const server = identify(child.pid);
  const address = `${HOST}:${port}`;
  const stop = async (): Promise<void> => {
    await endProcess(server, 'SIGTERM', STOP_WITHIN_MS);
    await fs.rm(temporary, { force: true });
  };
  const giveUp = new AbortController();
  try {
    await Promise.race([prepare(address, giveUp.signal), ended]);
  } catch (error) {
    giveUp.abort();
    const said = tailOf(logFile, from);
    await stop();
    throw new Error(`the Temporal server did not start on ${address}: ${messageOf(error)}\n${said}`, { cause: error });
  }
  return { address, pid: server.pid, stop, ...(options.headless ? {} : { uiUrl: `http://${HOST}:${uiPort}` }) };
}

function flags(
  { cli, dbFile, headless }: TemporalOptions & { cli: TemporalCli },
  port: number,
  uiPort: number,
): string[] {
  const ui = headless ? ['--headless'] : ['--ui-port', String(uiPort), ...(cli.canSkipNews ? [SKIP_NEWS] : [])];
  // WAL with synchronous=1 loses nothing when the server is killed.
  const pragmas = ['journal_mode=wal', 'synchronous=1'].flatMap((pragma) => ['--sqlite-pragma', pragma]);
  const attributes = SEARCH_ATTRIBUTES.flatMap((name) => ['--search-attribute', `Everdict${name}=Keyword`]);
  return [
    ...['server', 'start-dev', '--ip', HOST, '--port', String(port), '--namespace', NAMESPACE, '--log-level', 'error'],
    ...ui,
    ...(dbFile ? ['--db-filename', dbFile, ...pragmas] : []),
    ...attributes,
  ];
}

/** Waits until the server answers and sets how long ended workflows are kept. */
async function prepare(address: string, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  for (;;) {
    try {
      const connection = await Connection.connect({ address, connectTimeout: 2_000 });
      try {
        await connection.workflowService.updateNamespace({
          namespace: NAMESPACE,
          config: { workflowExecutionRetentionTtl: msToTs(RETENTION) },
        });
      } finally {
        await connection.close();
      }
      return;
    } catch (error) {
      if (signal.aborted || performance.now() > deadline) throw error;
      await sleep(100);
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
