import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPayload, type PayloadInput, type PayloadTimers } from '../policy/payload.js';
import type { JobRecord } from '../policy/record.js';
import { RecordScanner } from '../policy/record-scanner.js';
import { findProgram, type Shell } from './shells.js';

const WRAPPER = readFileSync(new URL('wrapper.sh', import.meta.url), 'utf8');
const TIMERS: PayloadTimers = { setupSec: 20, timeoutSec: 20, graderSec: 20, graceSec: 1, lingerSec: 0 };

const unshare = findProgram('unshare') ?? 'unshare';
/** Starts a program as the first process of a PID namespace; absent where that is not allowed. */
export const namespace = [[], ['--user', '--map-root-user']]
  .map((flags) => [unshare, ...flags, '--pid', '--fork', '--mount-proc', '--kill-child'])
  .find(([command = '', ...args]) => spawnSync(command, [...args, 'true']).status === 0);
export const canContain = namespace !== undefined;

export interface AttemptInput extends Omit<Partial<PayloadInput>, 'timers' | 'wrapper'> {
  timers?: Partial<PayloadTimers>;
  /** Variables of the image. */
  image?: Record<string, string>;
  /** Runs the wrapper as the first process of a PID namespace, as in a container. */
  isContained?: boolean;
  /** What starts the wrapper, instead of a shell directly. */
  launcher?: string[];
}

export interface Ended {
  code: number | null;
  /** stdout without the record. */
  log: Buffer;
  stderr: string;
  record: JobRecord | undefined;
}

const made: Attempt[] = [];

/** One attempt of a job, in directories of its own. */
export class Attempt {
  readonly dir = mkdtempSync(join(tmpdir(), 'everdict-attempt-'));
  readonly payload = join(this.dir, 'payload');
  readonly state = join(this.dir, 'state');
  readonly work = join(this.state, 'work');
  readonly nonce = randomBytes(16).toString('hex');
  readonly name = `test-${randomBytes(6).toString('hex')}-1`;
  private readonly children: ChildProcess[] = [];

  constructor(
    private readonly shell: Shell,
    private readonly input: AttemptInput,
  ) {
    made.push(this);
    const { timers, ...rest } = input;
    mkdirSync(this.payload);
    const files = buildPayload({
      ...{ runId: 'run_1', caseId: 'case-1', task: 'say hello', setup: [], command: 'true', graders: [] },
      ...{ env: {}, params: {}, answerLimit: 262_144 },
      ...rest,
      // The only thing the wrapper takes from a fixed place.
      wrapper: WRAPPER.replaceAll('/bin/sh ', `${shell.path}/sh `),
      timers: { ...TIMERS, ...timers },
    });
    for (const [name, bytes] of files) writeFileSync(join(this.payload, name), bytes);
  }

  /** Starts the wrapper; `log` grows as the job prints. */
  start(): { child: ChildProcess; ended: Promise<Ended>; untilLogged(text: string): Promise<void> } {
    const sh = join(this.shell.path, 'sh');
    const launcher = this.input.launcher ?? (this.input.isContained ? (namespace ?? []) : []);
    const [command = '', ...args] = [...launcher, sh, join(this.payload, 'wrapper.sh'), this.payload, this.state];
    const env = { PATH: this.shell.path, HOME: '/', TMPDIR: tmpdir(), LANG: 'C.UTF-8', ...this.input.image };
    const child = spawn(command, args, {
      cwd: this.dir,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...env, EVERDICT_NONCE: this.nonce, EVERDICT_ATTEMPT: this.name },
    });
    this.children.push(child);
    const output = new Output(this.nonce);
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => output.stderr.push(chunk));
    const ended = new Promise<Ended>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => resolve(output.end(code)));
    });
    return { child, ended, untilLogged: (text) => output.until(text) };
  }

  run(): Promise<Ended> {
    return this.start().ended;
  }

  /** Ends what a failed test left, and removes the directories. */
  discard(): void {
    for (const { pid, exitCode, signalCode } of this.children) {
      if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
    }
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export const runAttempt = (shell: Shell, input: AttemptInput): Promise<Ended> => new Attempt(shell, input).run();

export function discardAttempts(): void {
  for (const attempt of made.splice(0)) attempt.discard();
}

class Output {
  readonly stderr: Buffer[] = [];
  private readonly log: Buffer[] = [];
  private record: JobRecord | undefined;
  private readonly scanner: RecordScanner;
  private readonly waiting = new Set<() => void>();

  constructor(nonce: string) {
    this.scanner = new RecordScanner(nonce);
  }

  push(chunk: Buffer): void {
    const { plain, record } = this.scanner.push(chunk);
    this.log.push(...plain.map(({ bytes }) => Buffer.from(bytes)));
    this.record ??= record;
    for (const look of this.waiting) look();
  }

  /** Until the job has printed the text; `''` waits for the record. */
  until(text: string): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (text === '' ? !this.record : !Buffer.concat(this.log).includes(text)) return;
        this.waiting.delete(look);
        resolve();
      };
      this.waiting.add(look);
      look();
    });
  }

  end(code: number | null): Ended {
    this.log.push(...this.scanner.end().map(({ bytes }) => Buffer.from(bytes)));
    return { code, log: Buffer.concat(this.log), stderr: Buffer.concat(this.stderr).toString(), record: this.record };
  }
}
