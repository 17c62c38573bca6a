import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PACKAGE_DIR } from './cache-dir.js';
import { runCommand } from './child-command.js';

const FIRST_BYTE_MS = 20_000;
const LOOK_MS = 250;
/** Of a program while it arrives. */
const PARTIAL = '.downloading';

/** Run apart, so that it can be given up: starting the server is how the SDK downloads it. */
const DOWNLOAD = `
  import { TestWorkflowEnvironment } from '@temporalio/testing';
  const [version, downloadDir] = process.argv.slice(1);
  const executable = { type: 'cached-download', version, downloadDir };
  const environment = await TestWorkflowEnvironment.createLocal({ server: { executable } });
  await environment.teardown();
`;

/** Lets the Temporal SDK download its CLI and puts it at `target`. Given up if no byte has come within 20 s. */
export async function downloadBySdk(version: string, target: string): Promise<void> {
  const dir = await fs.mkdtemp(`${target}.`);
  const giveUp = new AbortController();
  const watch = abortWithoutFirstByte(dir, giveUp);
  try {
    const args = ['--input-type=module', '--eval', DOWNLOAD, `v${version}`, dir];
    await runCommand(process.execPath, args, { cwd: PACKAGE_DIR, signal: giveUp.signal });
    const file = (await fs.readdir(dir)).find((name) => !name.endsWith(PARTIAL));
    if (!file) throw new Error('the SDK downloaded nothing');
    await fs.rename(path.join(dir, file), target);
  } finally {
    giveUp.abort();
    await watch;
    await fs.rm(dir, { recursive: true, force: true });
  }
}

async function abortWithoutFirstByte(dir: string, giveUp: AbortController): Promise<void> {
  const deadline = performance.now() + FIRST_BYTE_MS;
  while (!giveUp.signal.aborted) {
    await sleep(LOOK_MS);
    if (await hasContent(dir)) return;
    if (performance.now() > deadline) giveUp.abort(new Error(`nothing arrived within ${FIRST_BYTE_MS / 1_000} s`));
  }
}

async function hasContent(dir: string): Promise<boolean> {
  const names = await fs.readdir(dir).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      fs.stat(path.join(dir, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.some((size) => size > 0);
}
