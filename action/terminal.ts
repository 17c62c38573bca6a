import { setTimeout as delay } from 'node:timers/promises';
import type { Screen } from '../cli/progress.js';
import type { Terminal } from '../cli/session.js';
import { plainLines } from '../cli/text.js';
import type { CliEnv } from '../config/cli-env.js';
import { Logins } from '../config/logins.js';

const COLUMNS = 120;
/** Does not show, and keeps a line from being taken for a command. */
const BREAK = '\u200b';

/**
 * Text for the log of a job, where GitHub obeys lines that begin with `::` and lines with `##[`, whoever wrote them.
 */
export const inert = (text: string): string =>
  plainLines(text.replace(/\r\n?/g, '\n'))
    .replace(/^(\s*)::/gm, `$1:${BREAK}:`)
    .replace(/##\[/g, `##${BREAK}[`);

const screen: Screen = {
  write: (text) => void process.stdout.write(inert(text)),
  writeBytes: async (bytes) => void process.stdout.write(inert(Buffer.from(bytes).toString('utf8'))),
  isTty: false,
  columns: () => COLUMNS,
};

/** The log of a job, where nobody can be asked. A job that is cancelled stops the waiting. */
export const jobTerminal = (env: CliEnv): Terminal => ({
  out: screen,
  err: screen,
  env,
  logins: new Logins({}),
  now: Date.now,
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
  every(ms, work) {
    const timer = setInterval(work, ms);
    return () => clearInterval(timer);
  },
  onInterrupt(stop) {
    const signals = ['SIGINT', 'SIGTERM'] as const;
    for (const signal of signals) process.on(signal, stop);
    return () => {
      for (const signal of signals) process.off(signal, stop);
    };
  },
  setExitCode: (code) => {
    process.exitCode = code;
  },
  ask: async () => undefined,
  readSecret: async () => new Uint8Array(),
});
