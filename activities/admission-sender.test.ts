import type { AdmissionMessage } from '../contracts/admission.js';
import { aTicket } from '../test/builders.js';
import { eventually } from '../test/eventually.js';
import { AdmissionSender } from './admission-sender.js';

const message = (holder: string): AdmissionMessage => ({ acquire: [], release: [{ holder }] });

/** Signals that end when the test says so. */
class Server {
  readonly signals: { pool: string; holders: string[] }[] = [];
  private readonly ends: (() => void)[] = [];
  fails = 0;

  async signalWithStart(_type: unknown, options: { workflowId: string; signalArgs?: unknown }): Promise<never> {
    const messages = options.signalArgs as AdmissionMessage[];
    this.signals.push({
      pool: options.workflowId,
      holders: messages.flatMap(({ release }) => release.map(({ holder }) => holder)),
    });
    await new Promise<void>((resolve) => this.ends.push(resolve));
    if (this.fails > 0) {
      this.fails -= 1;
      throw new Error('unavailable');
    }
    return undefined as never;
  }

  endNext(): void {
    this.ends.shift()?.();
  }

  async untilSignals(count: number): Promise<void> {
    await eventually(`${count} signals are sent`, async () => this.signals.length >= count);
    expect(this.signals).toHaveLength(count);
  }
}

const senderOf = (server: Server): AdmissionSender =>
  new AdmissionSender(server as unknown as ConstructorParameters<typeof AdmissionSender>[0], 10_000);

test('what comes while a signal is in flight goes with the next, in order; pools do not wait for each other', async () => {
  const server = new Server();
  const sender = senderOf(server);
  const sent = [sender.send('rt:w:a', message('1'))];
  await server.untilSignals(1);
  sent.push(
    sender.send('rt:w:a', message('2')),
    sender.send('rt:w:a', message('3')),
    sender.send('rt:w:b', message('4')),
  );
  await server.untilSignals(2);
  expect(server.signals).toEqual([
    { pool: 'admission:w:a', holders: ['1'] },
    { pool: 'admission:w:b', holders: ['4'] },
  ]);
  server.endNext();
  await server.untilSignals(3);
  expect(server.signals.at(-1)).toEqual({ pool: 'admission:w:a', holders: ['2', '3'] });
  server.endNext();
  server.endNext();
  await Promise.all(sent);
});

test('a signal that fails fails for its own senders only', async () => {
  const server = new Server();
  const sender = senderOf(server);
  server.fails = 1;
  const first = sender.send('rt:w:a', message('1'));
  await server.untilSignals(1);
  const second = sender.send('rt:w:a', message('2'));
  const refused = expect(first).rejects.toThrow('unavailable');
  server.endNext();
  await refused;
  await server.untilSignals(2);
  server.endNext();
  await second;
});

test('a burst goes in signals of less than 32 KB, in order', async () => {
  const sizes: number[] = [];
  const holders: string[] = [];
  const client = {
    async signalWithStart(_type: unknown, { signalArgs }: { signalArgs: AdmissionMessage[] }): Promise<never> {
      sizes.push(JSON.stringify(signalArgs).length);
      holders.push(...signalArgs.flatMap(({ acquire }) => acquire.map(({ holder }) => holder)));
      return undefined as never;
    },
  };
  const sender = new AdmissionSender(client as unknown as ConstructorParameters<typeof AdmissionSender>[0], 10_000);
  // Windows that ask for all they may at once, and more.
  const id = 'sc_01j9z3k4x5y6w7v8t9s0r1q2p3';
  const messages = Array.from({ length: 50 }, (_, window) => {
    const ticket = (i: number) =>
      aTicket({
        ...{ holder: `case:${id}.${window * 500 + i}`, to: `window:${id}:${window}`, askedAt: 1_700_000_000_000 },
        demand: { memoryMb: 100_000, cpuMillicores: 100_000 },
      });
    return { acquire: Array.from({ length: window === 9 ? 500 : 60 }, (_, i) => ticket(i)), release: [] };
  });
  await Promise.all(messages.map((one) => sender.send('rt:w:a', one)));
  expect(Math.max(...sizes)).toBeLessThan(32_768);
  expect(holders).toEqual(messages.flatMap(({ acquire }) => acquire.map(({ holder }) => holder)));
});
