import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '@temporalio/worker';
import { Registry } from 'prom-client';
import { isLoopbackHost } from '../config/loopback.js';

const RETRY_MS = 2_000;

interface Parts {
  address: { host: string; port: number };
  read(): Promise<string>;
  log: Logger;
}

/** Serves `/metrics` of a worker. */
export class MetricsServer {
  private readonly server: Server;
  private retry: NodeJS.Timeout | undefined;

  constructor(private readonly parts: Parts) {
    this.server = createServer((request, response) => void this.answer(request, response));
  }

  /**
   * Returns after the first try. An address that is taken, as by the worker that this one replaces, is asked for again
   * until it is free: work does not wait for it.
   */
  start(): Promise<void> {
    const { address, log } = this.parts;
    this.server.unref();
    return new Promise((resolve) => {
      this.server.on('error', (error) => {
        log.warn('metrics are not served yet, their address is asked for again', { ...address, error });
        this.retry = setTimeout(() => this.server.listen(address), RETRY_MS).unref();
        resolve();
      });
      this.server.on('listening', () => {
        log.info('metrics ready', { url: this.url });
        resolve();
      });
      this.server.listen(address);
    });
  }

  stop(): void {
    clearTimeout(this.retry);
    this.server.close();
    this.server.closeAllConnections();
  }

  private get url(): string {
    const { address, family, port } = this.server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/metrics`;
  }

  private async answer({ method, url, headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path] = (url ?? '').split('?');
    if (!isLoopbackHost(headers.host))
      return refuse(response, 403, 'only requests to a loopback host name are answered');
    if (path !== '/metrics') return refuse(response, 404, 'there is only /metrics');
    if (method !== 'GET' && method !== 'HEAD') return refuse(response, 405, 'there is only GET');
    try {
      const text = await this.parts.read();
      response.writeHead(200, { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text);
    } catch (error) {
      this.parts.log.warn('metrics could not be read', { error });
      refuse(response, 500, 'the metrics could not be read');
    }
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${message}\n`);
}
