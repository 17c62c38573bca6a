import path from 'node:path';
import type { Command } from 'commander';
import { EXIT } from './exit-codes.js';
import { CliError, usageError } from './failures.js';
import { messageOf } from './foreign-errors.js';
import { wholeNumber } from './options.js';
import { Session, type Terminal } from './session.js';

const DATA_DIR = '.everdict';
const PORT = wholeNumber(1, 65_535);
const FAKE_NOMAD_PORT = 4646;
const FAKE_K8S_PORT = 6443;

// Postgres and Temporal are loaded by these commands alone, so each imports what it needs when it runs.

interface DevOptions {
  dir: string;
  port?: number;
  uiPort?: number;
  fakeNomad?: number | true;
  fakeK8s?: number | true;
}

/** `dev`: the whole platform on this machine, in the foreground, and what can be done about it from elsewhere. */
export function addDevCommand(program: Command, terminal: Terminal): void {
  const dev = program
    .command('dev')
    .description('start the whole platform on this machine, until Ctrl-C; its data stays for the next start')
    .option('--dir <dir>', 'where its data is', DATA_DIR)
    .option('--port <port>', 'port of the API (default: 8787, or the next free one if that is taken)', PORT)
    .option('--ui-port <port>', 'port of the Temporal UI (default: 8233, or the next free one if that is taken)', PORT)
    .option('--fake-nomad [port]', `start a fake Nomad, too, to try a nomad runtime on (port ${FAKE_NOMAD_PORT})`, PORT)
    .option('--fake-k8s [port]', `the same of a fake Kubernetes, for k8s runtimes (port ${FAKE_K8S_PORT})`, PORT)
    .action(async ({ dir, port, uiPort, fakeNomad, fakeK8s }: DevOptions) => {
      const { runForeground } = await import('../dev/foreground.js');
      const isClean = await runForeground({
        ...{ dataDir: path.resolve(dir), apiPort: port, uiPort, say: sayTo(terminal) },
        fakeNomadPort: fakeNomad === true ? FAKE_NOMAD_PORT : fakeNomad,
        fakeK8sPort: fakeK8s === true ? FAKE_K8S_PORT : fakeK8s,
      });
      if (!isClean) terminal.setExitCode(1);
    });
  addStatus(dev, terminal);
  addStop(dev, terminal);
  addReset(dev, terminal);
}

const sayTo =
  (terminal: Terminal) =>
  (line: string): void =>
    terminal.out.write(`${line}\n`);

const dirOf = (command: Command): string => path.resolve(command.optsWithGlobals<{ dir: string }>().dir);

function addStatus(dev: Command, terminal: Terminal): void {
  dev
    .command('status')
    .description('what runs, where, its versions and disk use, and what is unfinished')
    .addHelpText('after', '\nEnds with 0 if all of it is up, 1 if some of it is not, 4 if nothing runs.')
    .action(async (_options: object, command: Command) => {
      const { describeStatus, readStatus } = await import('../dev/status.js');
      const status = await readStatus(dirOf(command));
      new Session(terminal, command.optsWithGlobals()).answer(status, () => `${describeStatus(status)}\n`);
      if (status.state === 'incomplete' || status.state === 'left-over') terminal.setExitCode(EXIT.failed);
      if (status.state === 'stopped' || status.state === 'absent') terminal.setExitCode(EXIT.unreachable);
    });
}

function addStop(dev: Command, terminal: Terminal): void {
  dev
    .command('stop')
    .description('stop all of it, as Ctrl-C does, also what a launcher that was killed has left')
    .action(async (_options: object, command: Command) => {
      const { stopPlatform } = await import('../dev/stop.js');
      await stopPlatform(dirOf(command), sayTo(terminal));
    });
}

function addReset(dev: Command, terminal: Terminal): void {
  dev
    .command('reset')
    .description('delete the data for good, after showing what it is; --keep moves it aside instead')
    .option('--yes', 'do not ask')
    .option('--keep', 'move the data aside, to be moved back by hand')
    .option('--stop', 'stop what runs there first')
    .action(async ({ yes, keep, stop }: { yes?: true; keep?: true; stop?: true }, command: Command) => {
      const { resetPlatform } = await import('../dev/reset.js');
      const confirm = async (stake: string): Promise<boolean> => {
        terminal.out.write(`${stake}\n`);
        const answer = yes ?? (await terminal.ask(keep ? 'move it aside?' : 'delete it for good?'));
        if (answer !== undefined) return answer;
        throw usageError('nobody can be asked here, so nothing was changed', 'add --yes to go on without a question');
      };
      const options = { dir: dirOf(command), isStopping: stop === true, isKept: keep === true, confirm };
      const isDone = await resetPlatform({ ...options, say: sayTo(terminal) }).catch((error: unknown) => {
        throw error instanceof CliError ? error : usageError(messageOf(error));
      });
      if (!isDone) throw usageError('nothing was changed');
    });
}
