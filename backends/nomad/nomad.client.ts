import type { z } from 'zod';
import type { NomadRuntimeSpec } from '../../contracts/runtime.js';
import { type ClusterCall, ClusterHttp, jsonOf } from '../cluster-http.js';
import type { DispatcherOptions, Egress } from '../egress/guard.js';
import { noNomad, refusalOf, tooMany } from './nomad.failures.js';

const CONNECT_TIMEOUT_MS = 5_000;
/** Of an answer that is under way, and of one that has not begun; longer than a blocking query may take. */
const SILENCE_MS = 60_000;

/** Items of one answer; pages are asked for with far fewer. */
const MOST_ITEMS = 20_000;

type Query = Pick<ClusterCall, 'query' | 'signal' | 'budget'>;

export interface NomadClientOptions {
  /** An ACL token. */
  token?: string;
  egress: Egress;
  /** Connections to this Nomad. */
  connections: number;
}

/** Asks one Nomad, with one token. */
export class NomadClient {
  private readonly http: ClusterHttp;
  private readonly dispatcher: ReturnType<Egress['dispatcher']>;
  readonly hasToken: boolean;

  constructor({ addr, caCert }: Pick<NomadRuntimeSpec, 'addr' | 'caCert'>, options: NomadClientOptions) {
    const { token, egress, connections } = options;
    const limits: DispatcherOptions = { connections, connectTimeoutMs: CONNECT_TIMEOUT_MS, silenceMs: SILENCE_MS };
    this.dispatcher = egress.dispatcher({ ...limits, ...(caCert !== undefined && { tls: { ca: caCert } }) });
    this.hasToken = token !== undefined;
    this.http = new ClusterHttp(new URL(addr), this.dispatcher, token === undefined ? {} : { 'x-nomad-token': token });
  }

  /** What it answers with, if that is of the shape; else a `ClusterFailure`. */
  async get<Shape extends z.ZodType>(path: string, shape: Shape, query: Query): Promise<z.infer<Shape>> {
    const { reply } = await this.page(path, shape, query);
    return reply;
  }

  /** The same of a list that goes on: `next` is the `next_token` to go on with. */
  async page<Shape extends z.ZodType>(
    path: string,
    shape: Shape,
    query: Query,
  ): Promise<{ reply: z.infer<Shape>; next?: string }> {
    const answer = await this.http.call('GET', path, query);
    if (answer.status !== 200) throw refusalOf(answer, this.hasToken);
    const json = jsonOf(answer);
    if (Array.isArray(json) && json.length > MOST_ITEMS) throw tooMany(MOST_ITEMS);
    const parsed = shape.safeParse(json);
    if (!parsed.success) throw noNomad();
    const next = answer.headers['x-nomad-nexttoken'];
    return { reply: parsed.data, ...(typeof next === 'string' && next !== '' && { next }) };
  }

  /** Ends its connections at once. */
  close(): Promise<void> {
    return this.dispatcher.destroy();
  }
}
