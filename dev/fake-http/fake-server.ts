import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A server on loopback whose connections can be cut, and which can be down for a while. */
export class FakeServer {
  /** Connections are taken and not answered. */
  isSilent = false;
  /** Is told of every connection, and how many there are with it. */
  connected: (socket: Socket, open: number) => void = () => undefined;
  private readonly sockets = new Set<Socket>();
  private isRefusing = false;

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
      this.connected(socket, this.sockets.size);
    });
  }

  /** On a free port if none is given. */
  static async listen(server: Server, port: number | undefined): Promise<FakeServer> {
    server.listen(port ?? 0, '127.0.0.1');
    await once(server, 'listening');
    return new FakeServer(server, (server.address() as AddressInfo).port);
  }

  /** Cuts every connection. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Is down: connections are refused, or taken and not answered. */
  async pause(how: 'refused' | 'hang'): Promise<void> {
    this.isSilent = how === 'hang';
    this.isRefusing = how === 'refused';
    this.cut();
    if (this.isRefusing) await this.close();
  }

  async resume(): Promise<void> {
    const wasRefusing = this.isRefusing;
    this.isSilent = false;
    this.isRefusing = false;
    this.cut();
    if (!wasRefusing) return;
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  async stop(): Promise<void> {
    if (this.isRefusing) return;
    this.cut();
    await this.close();
  }

  private async close(): Promise<void> {
    this.server.close();
    await once(this.server, 'close');
  }
}
