import path from 'node:path';
import type { Command } from 'commander';
import { wholeNumber } from './options.js';
import type { Terminal } from './session.js';

const DATA_DIR = '.everdict';

/** `dev`: the whole platform on this machine, in the foreground. */
export function addDevCommand(program: Command, terminal: Terminal): void {
  program
    .command('dev')
    .description('start the whole platform on this machine, until Ctrl-C; its data stays for the next start')
    .option('--dir <dir>', 'where its data is', DATA_DIR)
    .option('--port <port>', 'port of the API (default: 8787, or a free one if that is taken)', wholeNumber(1, 65_535))
    .action(async ({ dir, port }: { dir: string; port?: number }) => {
      const say = (line: string): void => terminal.out.write(`${line}\n`);
      // Postgres and Temporal are loaded by this command alone.
      const { runForeground } = await import('../dev/foreground.js');
      const isClean = await runForeground({ dataDir: path.resolve(dir), apiPort: port, say });
      if (!isClean) terminal.setExitCode(1);
    });
}
