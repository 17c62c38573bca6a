import { spawn } from 'node:child_process';

/** Runs a program to its end. Fails with what it printed on stderr, or with why it was given up. */
export async function runCommand(
  program: string,
  args: readonly string[],
  { cwd, signal }: { cwd?: string; signal?: AbortSignal } = {},
): Promise<string> {
  const child = spawn(program, args, { cwd, signal, killSignal: 'SIGKILL', stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(signal?.aborted ? signal.reason : error));
    child.once('close', resolve);
  });
  if (status === 0) return stdout;
  const lines = stderr.trim().split('\n');
  throw new Error(lines.at(-1) || `${program} ended with status ${status}`);
}
