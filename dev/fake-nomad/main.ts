import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { fakeMain, numberOf, say, untilOver } from '../fake-main.js';
import { FakeNomad } from './fake-nomad.js';

const USAGE = `A Nomad cluster for trying things out: it answers as Nomad does, and runs jobs as processes of this machine.

  --port <port>             where it listens on 127.0.0.1 (4646; 0: a free one)
  --nodes <n>               machines (1)
  --slots <n>               jobs that have room on each, of 1,000 MHz and 1,024 MB (8)
  --gc-max-allocs <n>       allocations that a client keeps, ended ones included (50; 0: none that has ended)
  --acl                     takes requests with the token that it prints alone
  --with-parent             ends when what started it does
  --help`;

/** `undefined`: it was asked how this is called. */
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
  if (values.help) return undefined;
  return {
    port: numberOf('port', values.port),
    nodes: numberOf('nodes', values.nodes),
    slots: numberOf('slots', values.slots),
    gcMaxAllocs: numberOf('gc-max-allocs', values['gc-max-allocs']),
    hasAcl: values.acl,
    endsWithParent: values['with-parent'],
  };
}

type Options = NonNullable<ReturnType<typeof optionsOf>>;

async function run({ port, nodes, slots, gcMaxAllocs, hasAcl, endsWithParent }: Options): Promise<void> {
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
  await untilOver(endsWithParent);
  await fake.stop();
}

await fakeMain(USAGE, optionsOf, run);
