import { type Command, Option } from 'commander';
import { duration } from './duration.js';
import { usageError } from './failures.js';
import { jsonBody } from './http.client.js';
import { optionsOf, wholeNumber, withExamples } from './options.js';
import { admissionText, dialText } from './runtime-admission-text.js';
import { Session, type Terminal } from './session.js';
import { CircuitResetReply, DialReply, RuntimeAdmissionReply } from './steering-wire.js';

interface DialOptions {
  for?: number;
  until?: string;
  reason?: string;
}

interface LimitOptions extends DialOptions {
  slots?: number;
  memoryMb?: number;
  cpu?: number;
}

const pathOf = (id: string): string => `/runtimes/${encodeURIComponent(id)}/admission`;

/** `runtime pause`, `drain`, `limit`, `resume`, `reset`, `admission`: what is set above the spec of a runtime. */
export function addRuntimeDial(group: Command, terminal: Terminal): void {
  addMode(group, terminal, 'pause', 'paused', 'grant nothing for now: new work is taken and waits, what runs goes on');
  addMode(group, terminal, 'drain', 'draining', 'grant nothing and refuse new work: what runs goes on');
  addLimit(group, terminal);
  group
    .command('resume <id>')
    .description('take back pause, drain and lower limits')
    .action((id: string, _options, command: Command) => turn(terminal, command, id, { mode: 'open' }));
  group
    .command('reset <id>')
    .description('give a runtime work again at once that got none because it failed too often')
    .action(async (id: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { raw } = await session.client.post(`${pathOf(id)}/reset-circuit`, CircuitResetReply);
      session.answer(raw, () => `${id} gets work again\nnext: npx everdict runtime admission ${id}\n`);
    });
  group
    .command('admission <id>')
    .description('limits in force, use, who holds slots and for how long, who waits, last decisions')
    .action(async (id: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await session.client.get(pathOf(id), RuntimeAdmissionReply);
      session.answer(raw, () => admissionText(reply, session.columns));
    });
}

const withEnd = (command: Command): Command =>
  command
    .option('--for <time>', 'take it back by itself after 90s, 30m, 2h or 1d', duration)
    .addOption(new Option('--until <time>', 'take it back by itself then, as 2026-01-31T12:00:00Z').conflicts('for'))
    .option('--reason <text>', 'why, for everybody whose work waits');

function addMode(group: Command, terminal: Terminal, name: string, mode: string, description: string): void {
  withEnd(group.command(`${name} <id>`))
    .description(description)
    .action((id: string, _options, command: Command) => turn(terminal, command, id, { mode }));
}

function addLimit(group: Command, terminal: Terminal): void {
  const command = withEnd(group.command('limit <id>'))
    .description('lower the limits of a runtime: what runs goes on, and nothing starts above them')
    .option('--slots <n>', 'at most so many cases at once', wholeNumber(1))
    .option('--memory-mb <n>', 'at most so much declared memory, MB', wholeNumber(1))
    .option('--cpu <millicores>', 'at most so much declared CPU, thousandths of a core', wholeNumber(1))
    .action(async (id: string, _options, self: Command) => {
      const { slots, memoryMb, cpu } = optionsOf<LimitOptions>(self);
      if ([slots, memoryMb, cpu].every((limit) => limit === undefined)) {
        throw usageError('no limit is given', 'give --slots, --memory-mb or --cpu; `runtime resume` takes them back');
      }
      await turn(terminal, self, id, { limits: { slots, memoryMb, cpuMillicores: cpu } });
    });
  withExamples(command, ['runtime limit desk --slots 2 --for 30m', 'runtime pause desk --reason "new disks"']);
}

async function turn(terminal: Terminal, command: Command, id: string, change: object): Promise<void> {
  const { for: forSec, until, reason, ...options } = optionsOf<DialOptions>(command);
  const session = new Session(terminal, options);
  const body = jsonBody({ ...change, forSec, until, reason });
  const { reply, raw } = await session.client.patch(pathOf(id), DialReply, { body });
  session.answer(raw, () => dialText(reply));
}
