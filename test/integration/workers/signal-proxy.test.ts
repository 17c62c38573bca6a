import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { eventually } from '../../eventually.js';
import { type Fate, SignalProxy, unreliably } from '../../signal-proxy.js';
import { installRuntime, sharedTemporal } from '../../temporal.js';

const NAME = `proxied-${process.pid}`;

let proxy: SignalProxy;
let direct: Connection;
let proxied: Connection;
let client: Client;
beforeAll(async () => {
  installRuntime();
  const { address } = await sharedTemporal();
  proxy = await SignalProxy.before(address);
  direct = await Connection.connect({ address });
  proxied = await Connection.connect({ address: proxy.address });
  client = new Client({ connection: proxied });
}, 120_000);
afterAll(async () => {
  await Promise.all([direct, proxied].map((connection) => connection.close()));
  proxy.close();
});

/** A workflow that nobody works on: it only keeps what arrives. */
function start(name: string): Promise<WorkflowHandle> {
  return client.workflow.start('nobody', { workflowId: `${NAME}-${name}`, taskQueue: NAME });
}

async function arrived({ workflowId }: WorkflowHandle): Promise<string[]> {
  const { events } = await new Client({ connection: direct }).workflow.getHandle(workflowId).fetchHistory();
  const signals = (events ?? []).flatMap((event) => event.workflowExecutionSignaledEventAttributes ?? []);
  return signals.map(({ input }) => String(JSON.parse(Buffer.from(input?.payloads?.[0]?.data ?? []).toString())));
}

test.each<[string, Fate, string[]]>([
  ['that pass arrive as they were sent', 'passed', ['by itself', 'with a start']],
  ['that are lost never arrive, and their sender does not know', 'lost', []],
  ['that are doubled arrive twice', 'twice', ['by itself', 'by itself', 'with a start', 'with a start']],
])('signals %s', async (title, fate, wanted) => {
  const handle = await start(title);
  proxy.set(() => fate);
  await handle.signal('told', 'by itself');
  await client.workflow.signalWithStart('nobody', {
    ...{ workflowId: handle.workflowId, taskQueue: NAME, signal: 'told', signalArgs: ['with a start'] },
  });
  await eventually(`${wanted.length} arrive`, async () => (await arrived(handle)).length === wanted.length);
  expect((await arrived(handle)).sort()).toEqual(wanted);
  expect(proxy.seen.get(`told ${fate}`)).toBe(2);
  await handle.terminate();
});

test('a signal that is late is overtaken by one that was sent after it', async () => {
  const handle = await start('late');
  const fates: Fate[] = [{ lateMs: 300 }, 'passed'];
  proxy.set(() => fates.shift() ?? 'passed');
  await Promise.all([handle.signal('told', 'first'), handle.signal('told', 'second')]);
  expect(await arrived(handle)).toEqual(['second', 'first']);
  expect(proxy.count('late')).toBe(1);
  await handle.terminate();
});

test('everything else goes through, refusals and calls that wait included', async () => {
  proxy.set(() => 'lost');
  await expect(start('twin').then(() => start('twin'))).rejects.toThrow(/already/i);
  const handle = client.workflow.getHandle(`${NAME}-twin`);
  const waiting = handle.result();
  await handle.terminate('by a test');
  await expect(waiting).rejects.toThrow(/by a test|terminated/i);
  await expect(handle.describe()).resolves.toMatchObject({ status: { name: 'TERMINATED' } });
});

test('of unreliable signals each kind of fault takes its share', () => {
  let draw = -1;
  const inTurn = (low: number, high: number): number => {
    if (high !== 99) return low;
    draw += 1;
    return draw;
  };
  const rule = unreliably(inTurn, { lost: 5, twice: 10, late: 20 });
  const fates = Array.from({ length: 100 }, () => rule('told'));
  const shares = ['lost', 'twice', 'passed'].map((fate) => fates.filter((each) => each === fate).length);
  expect(shares).toEqual([5, 10, 65]);
  expect(fates.filter((fate) => typeof fate === 'object')).toEqual(Array(20).fill({ lateMs: 100 }));
});
