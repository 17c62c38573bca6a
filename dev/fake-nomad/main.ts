import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { aborted, onInterrupt } from '../interrupt.js';
import { FakeNomad } from './fake-nomad.js';

const USAGE = `A Nomad cluster for trying things out: it answers as Nomad does, and runs jobs as processes of this machine.

  --port <port>             where it listens on 127.0.0.1 (4646; 0: a free one)
  --nodes <n>               machines (1)
  --slots <n>               jobs that have room on each, of 1,000 MHz and 1,024 MB (8)
  --gc-max-allocs <n>       allocations that a client keeps, ended ones included (50; 0: none that has ended)
  --acl                     takes requests with the token that it prints alone
  --with-parent             ends when what started it does
  --help`;

const LOOK_MS = 1_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function optionsOf(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      port: { type: 'string', default: '4646' },
      nodes: { type: 'string', default: '1' },
      slots: { type: 'string', default: '8' },
      'gc-max-allocs': { type: 'string', default: '50' },
      acl: { type: 'boolean', default: false },
      'with-parent': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const number = (name: 'port' | 'nodes' | 'slots' | 'gc-max-allocs'): number => {
    if (!/^\d{1,5}$/.test(values[name])) throw new Error(`--${name} is ${JSON.stringify(values[name])}, not a number`);
    return Number(values[name]);
  };
  return {
    port: number('port'),
    nodes: number('nodes'),
    slots: number('slots'),
    gcMaxAllocs: number('gc-max-allocs'),
    hasAcl: values.acl,
    endsWithParent: values['with-parent'],
    isHelp: values.help,
  };
}

async function run({
  port,
  nodes,
  slots,
  gcMaxAllocs,
  hasAcl,
  endsWithParent,
}: ReturnType<typeof optionsOf>): Promise<void> {
  const interrupt = onInterrupt(say);
  const token = randomUUID();
  const machines = Array.from({ length: nodes }, (_, i) => ({
    name: `rack-${i + 1}`,
    cpuMhz: slots * 1_000,
    memoryMb: slots * 1_024,
  }));
  const fake = await FakeNomad.start({
    ...{ port, machines, gcMaxAllocs },
    ...(hasAcl && { acl: { tokens: { [token]: { type: 'management' } } } }),
  });
  if (hasAcl) say(`token ${token}`);
  say(`a fake Nomad listens at ${fake.url}`);
  await Promise.race([aborted(interrupt.signal), ...(endsWithParent ? [orphaned()] : [])]);
  interrupt.restore();
  await fake.stop();
}

function orphaned(): Promise<void> {
  const parent = process.ppid;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      resolve();
    }, LOOK_MS);
    timer.unref();
  });
}

function fail(error: unknown, hint: string): void {
  process.stderr.write(`error: ${error instanceof Error ? error.message : error}\n${hint}`);
  process.exitCode = 3;
}

let options: ReturnType<typeof optionsOf> | undefined;
try {
  options = optionsOf(process.argv.slice(2));
} catch (error) {
  fail(error, `\n${USAGE}\n`);
}
if (options?.isHelp) say(USAGE);
else if (options) await run(options).catch((error: unknown) => fail(error, ''));
