import type { z } from 'zod';
import type { NomadRuntimeSpec } from '../../contracts/runtime.js';
import type { ClusterListener } from '../answered-clock.js';
import { ClusterFailure } from '../cluster-client.js';
import { type ClusterCall, ClusterHttp, type ClusterReply, jsonOf } from '../cluster-http.js';
import type { DispatcherOptions, Egress } from '../egress/guard.js';
import { patiently } from '../patiently.js';
import { pause } from '../pause.js';
import { withTimeLimit } from '../time-limit.js';
import { connectionsTo, type GiveBack, type NomadBudget, type NomadConnections } from './nomad.budget.js';
import { isPassing, noNomad, refusalOf, tooMany } from './nomad.failures.js';

const CONNECT_TIMEOUT_MS = 5_000;
/** Of an answer that is under way, and of one that has not begun; longer than a blocking query may take. */
const SILENCE_MS = 60_000;
/** One request and its answer. */
const CALL_MS = 10_000;
/** To have a connection for it, where many ask. */
const TURN_MS = 30_000;
/** The same where it may be of any length. */
const LONG_CALL_MS = 30_000;
/** How long a read is tried again; the try that is under way then still has its time. */
const TRIED_MS = 4_000;
/** How long Nomad may hold a request back. It adds up to a sixteenth, of which connections have to be told. */
const WAIT_SEC = 30;
const WAITED_MS = WAIT_SEC * 1_000 * 1.07 + CALL_MS;

/** Items of one answer; pages are asked for with far fewer. */
const MOST_ITEMS = 20_000;

export type NomadQuery = Pick<ClusterCall, 'query' | 'signal' | 'budget'>;

/** A list and its index: asked for with that, it comes once it has changed. */
export interface Indexed<Reply> {
  reply: Reply;
  index: number;
}

interface Next {
  index: number | undefined;
  waitSec: number;
  pauseMs: number;
  listener: ClusterListener;
  signal: AbortSignal;
}

export interface NomadClientOptions {
  /** An ACL token. */
  token?: string;
  egress: Egress;
  /** Connections of this process to this Nomad. */
  connections: number;
}

/** Asks one Nomad, with one token, about one namespace of one region. Every request has a time-out, and its turn at a connection. */
export class NomadClient {
  private readonly http: ClusterHttp;
  private readonly connections: NomadConnections;
  private readonly place: Readonly<Record<'region' | 'namespace', string | undefined>>;
  private readonly token: string | undefined;

  constructor(
    { addr, caCert, region, namespace }: Pick<NomadRuntimeSpec, 'addr' | 'caCert' | 'region' | 'namespace'>,
    { token, egress, connections }: NomadClientOptions,
  ) {
    const url = new URL(addr);
    const limits: DispatcherOptions = { connections, connectTimeoutMs: CONNECT_TIMEOUT_MS, silenceMs: SILENCE_MS };
    this.connections = connectionsTo(url, egress, { ...limits, ...(caCert !== undefined && { tls: { ca: caCert } }) });
    this.token = token;
    this.place = { region, namespace };
    const headers: Record<string, string> = token === undefined ? {} : { 'x-nomad-token': token };
    this.http = new ClusterHttp(url, this.connections.dispatcher, headers, caCert !== undefined);
  }

  get hasToken(): boolean {
    return this.token !== undefined;
  }

  get budget(): NomadBudget {
    return this.connections.budget;
  }

  /** What it answers with, if that is of the shape; else a `ClusterFailure`. Asked once. */
  async get<Shape extends z.ZodType>(path: string, shape: Shape, query: NomadQuery): Promise<z.infer<Shape>> {
    return (await this.page(path, shape, query)).reply;
  }

  /** The same of a list that goes on: `next` is the `next_token` to go on with. */
  async page<Shape extends z.ZodType>(
    path: string,
    shape: Shape,
    query: NomadQuery,
  ): Promise<{ reply: z.infer<Shape>; next?: string }> {
    const answer = await this.ask('GET', path, query);
    const next = answer.headers['x-nomad-nexttoken'];
    return { reply: this.parsed(answer, shape), ...(typeof next === 'string' && next !== '' && { next }) };
  }

  /** Asked again, for a while, where Nomad does not answer, or not now. */
  async read<Shape extends z.ZodType>(
    path: string,
    shape: Shape,
    { listener, ...query }: NomadQuery & { listener?: ClusterListener },
  ): Promise<z.infer<Shape>> {
    return this.patiently(query.signal, listener, async () => this.parsed(await this.ask('GET', path, query), shape));
  }

  /**
   * What it is once it is no longer what it was at `index`, or after `waitSec`. Where no connection is free to wait with,
   * or nothing is known to wait for, it is asked for after `pauseMs` instead. Without an index it is asked for at once.
   */
  async next<Shape extends z.ZodType>(
    path: string,
    shape: Shape,
    { index, waitSec, pauseMs, listener, signal }: Next,
  ): Promise<Indexed<z.infer<Shape>>> {
    return this.patiently(signal, listener, async () => {
      const turn = index ? this.budget.tryTakeToWait() : undefined;
      if (index !== undefined && !turn) await pause(pauseMs, signal);
      const wait = turn && { index, wait: `${Math.min(WAIT_SEC, Math.max(1, Math.ceil(waitSec)))}s` };
      const answer = await this.ask('GET', path, { signal, query: { ...wait } }, turn);
      const reply: z.infer<Shape> = this.parsed(answer, shape);
      const found = Number(answer.headers['x-nomad-index']) || 0;
      // A server that was restored counts anew.
      return { reply, index: found < (index ?? 0) ? 0 : found };
    });
  }

  /** One request, and the answer whatever its status. A turn is taken for it, or was taken to wait. */
  async ask(
    method: 'GET' | 'PUT' | 'DELETE',
    path: string,
    { query, signal, ...call }: ClusterCall,
    turn?: GiveBack,
  ): Promise<ClusterReply> {
    const all = { ...this.place, ...query };
    const giveBack = turn ?? (await withTimeLimit(signal, TURN_MS, (limited) => this.turn(limited)));
    const limitMs = call.take ? LONG_CALL_MS : CALL_MS;
    try {
      const answer = await withTimeLimit(signal, turn ? WAITED_MS : limitMs, (limited) =>
        this.http.call(method, path, {
          ...call,
          query: all,
          signal: limited,
          ...(call.take && { firstByteMs: CALL_MS }),
        }),
      );
      return { ...answer, text: this.withoutToken(answer.text) };
    } finally {
      giveBack();
    }
  }

  /** Tries again what may pass. */
  async patiently<Result>(
    signal: AbortSignal,
    listener: ClusterListener | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    return patiently({ signal, listener, triedMs: TRIED_MS, isPassing }, work);
  }

  /** The JSON of a success, in its shape; any other answer is thrown as what it means. */
  parsed<Shape extends z.ZodType>(answer: ClusterReply, shape: Shape): z.infer<Shape> {
    if (answer.status !== 200) throw refusalOf(answer, this.hasToken);
    const json = jsonOf(answer);
    if (Array.isArray(json) && json.length > MOST_ITEMS) throw tooMany(MOST_ITEMS);
    const parsed = shape.safeParse(json);
    if (!parsed.success) throw noNomad();
    return parsed.data;
  }

  /** Gives its share of the connections back. */
  close(): Promise<void> {
    return this.connections.giveBack();
  }

  /** Whatever repeats what it was sent does not pass the token on. */
  withoutToken(text: string): string {
    return this.token ? text.replaceAll(this.token, '*****') : text;
  }

  private async turn(signal: AbortSignal): Promise<GiveBack> {
    try {
      return await this.budget.take(signal);
    } catch (error) {
      const message = 'it did not answer in time those who asked before';
      throw new ClusterFailure('unreachable', message, { cause: error });
    }
  }
}
