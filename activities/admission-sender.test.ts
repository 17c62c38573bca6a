import type { AdmissionMessage } from '../contracts/admission.js';
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
