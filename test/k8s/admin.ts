import { createInterface } from 'node:readline';
import { KubeConfig } from '@kubernetes/client-node';
import { Agent, request } from 'undici';
import { eventually } from '../eventually.js';

/** An object of the API, or an answer that is none. */
export type Answer = Record<string, unknown> & { kind?: string; message?: string };
export interface WatchEvent {
  type: string;
  object: unknown;
}
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

const MERGE = 'application/merge-patch+json';

/** Speaks to the cluster under test as its administrator: makes the faults, and looks at what is left. */
export class Admin {
  readonly server: string;
  readonly ca: string | undefined;
  private readonly agent: Agent;
  private readonly headers: Record<string, string>;

  constructor(kubeconfig: string) {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    const cluster = config.getCurrentCluster();
    const user = config.getCurrentUser();
    if (!cluster || !user) throw new Error(`${kubeconfig} has no current context`);
    const text = (data: string | undefined) => data && Buffer.from(data, 'base64').toString('utf8');
    this.server = cluster.server;
    this.ca = text(cluster.caData);
    this.agent = new Agent({
      connect: { ca: this.ca, cert: text(user.certData), key: text(user.keyData) },
      bodyTimeout: 0,
      connections: 8,
    });
    this.headers = user.token ? { authorization: `Bearer ${user.token}` } : {};
  }

  async ask(method: Method, path: string, body?: object): Promise<{ status: number; text: string }> {
    const type = method === 'PATCH' ? MERGE : 'application/json';
    const answer = await request(this.server + path, {
      method,
      dispatcher: this.agent,
      headers: { ...this.headers, ...(body && { 'content-type': type }) },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  }

  /** What is refused throws. */
  async call(method: Method, path: string, body?: object): Promise<Answer> {
    const { status, text } = await this.ask(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 500)}`);
    return JSON.parse(text) as Answer;
  }

  get = (path: string): Promise<Answer> => this.call('GET', path);
  post = (path: string, body: object): Promise<Answer> => this.call('POST', path, body);
  patch = (path: string, body: object): Promise<Answer> => this.call('PATCH', path, body);

  /** Succeeds for what is not there. */
  async remove(path: string, options: object = {}): Promise<void> {
    const { status, text } = await this.ask('DELETE', path, options);
    if (status >= 300 && status !== 404) throw new Error(`DELETE ${path}: ${status} ${text.slice(0, 500)}`);
  }

  async gone(path: string): Promise<void> {
    await eventually(`${path} is gone`, async () => (await this.ask('GET', path)).status === 404, 120_000);
  }

  async items(path: string, labels = ''): Promise<Answer[]> {
    const { items } = await this.get(`${path}?labelSelector=${encodeURIComponent(labels)}`);
    return (items ?? []) as Answer[];
  }

  /** Tells all that becomes of what is there, until `signal` aborts. */
  async watch(path: string, signal: AbortSignal, take: (event: WatchEvent) => void): Promise<void> {
    const answer = await request(`${this.server}${path}?watch=1`, {
      dispatcher: this.agent,
      headers: this.headers,
      signal,
    });
    if (answer.statusCode !== 200) throw new Error(`watch of ${path}: ${answer.statusCode}`);
    const lines = createInterface({ input: answer.body });
    lines.on('line', (line) => take(JSON.parse(line) as WatchEvent));
    // It ends with an error whenever it is left.
    for (const part of [lines, answer.body]) part.on('error', () => lines.close());
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }
}
