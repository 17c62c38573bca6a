#!/usr/bin/env node
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type CliEnv, readCliEnv } from '../config/cli-env.js';
import { Logins } from '../config/logins.js';
import { VERSION } from '../config/version.js';
import { EXIT } from './exit-codes.js';
import { messageOf } from './foreign-errors.js';
import { runCommandLine } from './program.js';
import type { Screen } from './progress.js';
import type { Terminal } from './session.js';
import { readAll, typedUnseen } from './unseen-input.js';

const FALLBACK_COLUMNS = 80;
/** Ctrl-C, and what CI systems send. */
const STOPPING = ['SIGINT', 'SIGTERM'] as const;

function screenOf(stream: NodeJS.WriteStream): Screen {
  return {
    write: (text) => void stream.write(text),
    writeBytes: async (bytes) => {
      if (!stream.write(bytes)) await once(stream, 'drain');
    },
    isTty: stream.isTTY === true,
    columns: () => stream.columns || FALLBACK_COLUMNS,
  };
}

const terminalOf = (env: CliEnv): Terminal => ({
  out: screenOf(process.stdout),
  err: screenOf(process.stderr),
  env,
  logins: new Logins({ configHome: env.XDG_CONFIG_HOME, home: env.HOME }),
  now: Date.now,
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
  every(ms, work) {
    const timer = setInterval(work, ms);
    return () => clearInterval(timer);
  },
  onInterrupt(stop) {
    for (const signal of STOPPING) process.on(signal, stop);
    return () => {
      for (const signal of STOPPING) process.off(signal, stop);
    };
  },
  setExitCode(code) {
    process.exitCode = code;
  },
  async ask(question) {
    if (!process.stdin.isTTY) return undefined;
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
    } finally {
      lines.close();
    }
  },
  readSecret: (question) =>
    process.stdin.isTTY ? typedUnseen(question, process.stdin, process.stderr) : readAll(process.stdin),
});

const words = process.argv.slice(2);

// A reader that has seen enough, such as `head`, is no failure. What `dev` started it still has to stop.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (words[0] !== 'dev') process.exit(code === 'EPIPE' ? 0 : EXIT.refused);
});

try {
  // Not an option of the program, since `dataset add` has one of that name.
  if (words.length === 1 && words[0] === '--version') process.stdout.write(`${VERSION}\n`);
  else await runCommandLine(words, terminalOf(readCliEnv()));
} catch (error) {
  process.stderr.write(`error: ${messageOf(error)}\n`);
  process.exitCode = EXIT.refused;
}
