import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';

/** `pass`: bytes go both ways. `drop`: connections are closed, those to come as soon as they do. */
type Mode = 'pass' | 'drop';

/** Stands between a client and a server on this machine, and lets the network between them fail. */
export class TcpProxy {
  private readonly pairs = new Set<Socket[]>();
  private readonly frozen: Socket[] = [];
  private readonly server = net.createServer({ pauseOnConnect: true }, (client) => this.accept(client));
  private mode: Mode = 'pass';

  private constructor(private readonly target: { host: string; port: number }) {}

  static async before(target: { host: string; port: number }, mode: Mode = 'pass'): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.mode = mode;
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** From now on, for connections that are open, too. */
  set(mode: Mode): void {
    this.mode = mode;
    for (const socket of [...this.pairs].flat()) this.apply(socket);
  }

  /** Both ends of all open connections get a RST. */
  reset(): void {
    for (const socket of [...this.pairs].flat()) socket.resetAndDestroy();
  }

  /** Open connections stay so, and nothing moves on them ever again, as behind a cable that was pulled. */
  freeze(): void {
    for (const socket of [...this.pairs].flat()) {
      socket.pause();
      this.frozen.push(socket);
    }
    this.pairs.clear();
  }

  async close(): Promise<void> {
    this.server.close();
    this.reset();
    for (const socket of this.frozen) socket.destroy();
  }

  private accept(client: Socket): void {
    const server = net.connect({ ...this.target, noDelay: true });
    client.setNoDelay(true);
    const pair = [client, server];
    this.pairs.add(pair);
    for (const [from, to] of [[client, server] as const, [server, client] as const]) {
      from.on('data', (bytes) => to.write(bytes));
      from.on('end', () => to.end());
      from.on('error', () => to.resetAndDestroy());
      from.on('close', () => {
        this.pairs.delete(pair);
        to.destroy();
      });
      this.apply(from);
    }
  }

  private apply(socket: Socket): void {
    if (this.mode === 'drop') socket.destroy();
    else socket.resume();
  }
}
