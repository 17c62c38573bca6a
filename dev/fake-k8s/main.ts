import path from 'node:path';
import { parseArgs } from 'node:util';
import { fakeMain, numberOf, say, untilOver } from '../fake-main.js';
import { keptKeys, writeKubeconfig } from './fake-keys.js';
import { FakeSite } from './fake-site.js';

const USAGE = `A Kubernetes cluster for trying things out: it answers as Kubernetes does, and runs pods as processes of this machine.

  --port <port>             where it listens on 127.0.0.1, by TLS (6443; 0: a free one)
  --nodes <n>               nodes (1)
  --slots <n>               pods that have room on each, of 1 CPU and 1Gi (8)
  --dir <dir>               where its certificates, token and kubeconfig are kept for the next start (fake-k8s);
                            of kubectl it serves 'get --raw' only
  --with-parent             ends when what started it does
  --help`;

/** `undefined`: it was asked how this is called. */
function optionsOf(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      port: { type: 'string', default: '6443' },
      nodes: { type: 'string', default: '1' },
      slots: { type: 'string', default: '8' },
      dir: { type: 'string', default: 'fake-k8s' },
      'with-parent': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  return {
    port: numberOf('port', values.port),
    nodes: numberOf('nodes', values.nodes),
    slots: numberOf('slots', values.slots),
    dir: path.resolve(values.dir),
    endsWithParent: values['with-parent'],
  };
}

type Options = NonNullable<ReturnType<typeof optionsOf>>;

async function run({ port, nodes, slots, dir, endsWithParent }: Options): Promise<void> {
  const keys = keptKeys(dir);
  const { certificates, token } = keys;
  const site = await FakeSite.start({
    ...{ port, certificates },
    accounts: { [token]: { user: 'everdict', rights: ['*'] } },
    nodes: Array.from({ length: nodes }, (_, i) => ({
      name: `rack-${i + 1}`,
      capacity: { cpu: String(slots), memory: `${slots}Gi` },
    })),
  });
  const kubeconfig = writeKubeconfig(dir, site.fake.url, keys);
  say(`kubeconfig ${kubeconfig} (of kubectl for 'get --raw' only: nothing here says which kinds there are)`);
  say(`a fake Kubernetes listens at ${site.fake.url}`);
  await untilOver(endsWithParent);
  await site.close();
}

await fakeMain(USAGE, optionsOf, run);
