import path from 'node:path';
import { dataPaths, furnish, openDataDir } from '../../dev/data-dir.js';
import type { StackOptions } from '../../dev/launcher.js';
import type { Running } from '../../dev/part.js';
import { type PartContext, startApi, startDatabase, startTemporalServer, startWorker } from '../../dev/stack-parts.js';
import type { PartName, Site } from '../e2e/platform.js';
import { TcpProxy } from '../tcp-proxy.js';

/** A platform whose API and worker reach its two servers over a network that can fail. Nobody starts a part again. */
export class ProxiedStack implements Site {
  readonly failed = new Promise<Error>(() => {});
  private readonly running: [PartName, Running][] = [];

  private constructor(
    /** How a test reaches the servers itself. */
    readonly addresses: PartContext['addresses'],
    readonly postgres: TcpProxy,
    readonly temporal: TcpProxy,
    readonly logs: string,
  ) {}

  static async start({ dataDir, env = {} }: StackOptions): Promise<ProxiedStack> {
    const paths = openDataDir(path.resolve(dataDir));
    furnish(paths);
    const addresses = {};
    const context = { paths, ports: {}, env, addresses, signal: new AbortController().signal, say: () => {} };
    const parts: [PartName, Running][] = [
      ['postgres', await startDatabase(context)],
      ['temporal', await startTemporalServer(context)],
    ];
    const stack = await ProxiedStack.before(addresses, dataPaths(dataDir).logs);
    stack.running.push(...parts);
    try {
      await stack.startOurs(context);
      return stack;
    } catch (error) {
      await stack.stop();
      throw error;
    }
  }

  private static async before(addresses: PartContext['addresses'], logs: string): Promise<ProxiedStack> {
    const { databaseUrl = '', temporalAddress = '' } = addresses;
    const target = ({ hostname: host, port }: URL) => ({ host, port: Number(port) });
    const postgres = await TcpProxy.before(target(new URL(databaseUrl)));
    const temporal = await TcpProxy.before(target(new URL(`http://${temporalAddress}`)));
    return new ProxiedStack({ ...addresses }, postgres, temporal, logs);
  }

  private async startOurs(context: PartContext): Promise<void> {
    const { databaseUrl = '' } = this.addresses;
    context.addresses.databaseUrl = Object.assign(new URL(databaseUrl), { port: String(this.postgres.port) }).href;
    context.addresses.temporalAddress = `127.0.0.1:${this.temporal.port}`;
    this.running.push(['api', await startApi(context)]);
    this.running.push(['worker', await startWorker(context)]);
    this.addresses.apiUrl = context.addresses.apiUrl;
  }

  get apiUrl(): string {
    return this.addresses.apiUrl ?? '';
  }

  get pids(): Record<string, number> {
    return Object.fromEntries(this.running.map(([name, { pid = 0 }]) => [name, pid]));
  }

  async stop(): Promise<void> {
    for (const [name, part] of this.running.splice(0).reverse()) {
      await part.stop();
      if (name === 'api') await Promise.all([this.postgres.close(), this.temporal.close()]);
    }
  }
}
