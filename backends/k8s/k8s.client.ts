import { z } from 'zod';
import type { ClusterListener } from '../answered-clock.js';
import type { ClusterFailure } from '../cluster-client.js';
import {
  type ByteBudget,
  type ClusterCall,
  type ClusterReply,
  jsonOf,
  type Method,
  TooLongAnswer,
} from '../cluster-http.js';
import type { Egress } from '../egress/guard.js';
import { patiently } from '../patiently.js';
import type { K8sAccess } from './k8s.access.js';
import { isPassing, plainHttpFailure, refusalOf, restMsOf, unreadableFailure } from './k8s.failures.js';
import { ListPage } from './k8s.replies.js';
import { K8sTransport, type Lane } from './k8s.transport.js';

/** How long what passes is tried again; the try that is under way then still has its time. */
const TRIED_MS = 5_000;
const PER_PAGE = 500;
/** After a credential was taken anew, until it is again. */
const RENEWAL_MS = 10_000;

export interface Reply {
  status: number;
  /** What was answered as JSON. Absent: something else was, or nothing. */
  body?: unknown;
  /** How long to leave it alone, by its own word. */
  retryAfterSec?: number;
}

/** What calls that belong together share. */
export interface Look {
  signal: AbortSignal;
  budget: ByteBudget;
}

export interface Call {
  signal: AbortSignal;
  query?: ClusterCall['query'];
  listener?: ClusterListener;
  budget?: ByteBudget;
}

export interface Listing extends Omit<Call, 'query'> {
  labelSelector?: string;
  fieldSelector?: string;
  limit?: number;
  /** Where an earlier page said that it goes on. */
  from?: string;
}

export interface Listed<Item> {
  items: Item[];
  /** What a watch goes on from, once the last page is read. */
  resourceVersion: string;
  next?: string;
}

export interface Watching {
  resourceVersion: string;
  labelSelector: string;
  /** The API server ends it after so long, and says something just before. */
  watchSec: number;
  signal: AbortSignal;
  /** The API server has taken it up: nothing is said before something changes. */
  onOpen(): void;
  onPiece(piece: Buffer): void;
}

export interface Deletion {
  signal: AbortSignal;
  /** Only that one, and no later one of its name. */
  uid?: string;
}

/** Asks one API server as one account. Every call has a time-out. */
export class K8sClient {
  private transport: K8sTransport;
  private readonly all = new Set<K8sTransport>();
  private renewing: Promise<void> | undefined;
  private renewedAt = Number.NEGATIVE_INFINITY;

  /** `renew` takes the credential anew from whatever hands it out. Absent: there is only this one. */
  constructor(
    access: K8sAccess,
    private readonly egress: Egress,
    private readonly renew?: () => Promise<K8sAccess>,
  ) {
    this.transport = this.open(access);
  }

  /** One request. A refusal is an answer; what is no answer of an API server throws. */
  async ask(method: Method, path: string, call: ClusterCall): Promise<Reply> {
    return replyOf(await this.send('call', method, path, call));
  }

  /** What it answers with, if that is of the shape; else a `ClusterFailure`. What passes is tried again for a while. */
  get<Shape extends z.ZodType>(path: string, shape: Shape, call: Call): Promise<z.infer<Shape>> {
    return this.patiently(call, async () => parsed(await this.ask('GET', path, call), shape));
  }

  /** A page of a list. */
  list<Item extends z.ZodType>(path: string, item: Item, listing: Listing): Promise<Listed<z.infer<Item>>> {
    return this.patiently(listing, () => this.page(path, item, listing));
  }

  /** The same, asked once; of a page that is too long, half is asked for. */
  async page<Item extends z.ZodType>(path: string, item: Item, listing: Listing): Promise<Listed<z.infer<Item>>> {
    for (let { limit = PER_PAGE } = listing; ; limit = Math.floor(limit / 2)) {
      try {
        return await this.pageOf(path, item, { ...listing, limit });
      } catch (error) {
        if (!(error instanceof TooLongAnswer) || limit < 2) throw error;
      }
    }
  }

  private async pageOf<Item extends z.ZodType>(path: string, item: Item, listing: Listing) {
    const { labelSelector, fieldSelector, limit, from, signal, budget } = listing;
    const query = { labelSelector, fieldSelector, limit, continue: from };
    const { items, metadata } = parsed(await this.ask('GET', path, { signal, budget, query }), ListPage);
    const found = z.array(item).safeParse(items);
    if (!found.success) throw unreadableFailure();
    const { resourceVersion = '', continue: next } = metadata;
    return { items: found.data, resourceVersion, ...(next && { next }) };
  }

  /** Asked once: whether it was created where the answer is lost is for the caller to read. */
  async post<Shape extends z.ZodType>(path: string, body: object, shape: Shape, call: Call): Promise<z.infer<Shape>> {
    return parsed(await this.ask('POST', path, { ...call, body }), shape);
  }

  /** A merge patch, which is tried again, so that it must mean the same a second time. */
  patch<Shape extends z.ZodType>(path: string, body: object, shape: Shape, call: Call): Promise<z.infer<Shape>> {
    const bodyType = 'application/merge-patch+json';
    return this.patiently(call, async () => parsed(await this.ask('PATCH', path, { ...call, body, bodyType }), shape));
  }

  /** With all that it owns. False where there is none, or another one by now. */
  delete(path: string, { signal, uid }: Deletion): Promise<boolean> {
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background', ...preconditions };
    return this.patiently({ signal }, async () => {
      const reply = await this.ask('DELETE', path, { signal, body });
      if (reply.status < 300) return true;
      const refusal = refusalOf(reply);
      if (refusal.isAbsence || (refusal.isConflict && uid !== undefined)) return false;
      throw refusal;
    });
  }

  /** Is told pieces of lines until the API server ends it, which it does soon. Asked once. */
  async watch(
    path: string,
    { resourceVersion, labelSelector, watchSec, signal, onOpen, onPiece }: Watching,
  ): Promise<void> {
    const query = {
      ...{ watch: 'true', allowWatchBookmarks: 'true', timeoutSeconds: watchSec },
      ...{ resourceVersion, labelSelector },
    };
    const take = (piece: Buffer): boolean => {
      onPiece(piece);
      return !signal.aborted;
    };
    const answer = await this.send('watch', 'GET', path, { query, signal, onOpen, take });
    if (answer.status !== 200) throw refusalOf(replyOf(answer));
  }

  /** Is given what is answered with 200, piece by piece, until `take` answers with false. Other answers are returned. */
  async stream(
    path: string,
    query: ClusterCall['query'],
    { signal, take }: { signal: AbortSignal; take(piece: Buffer, type: string): boolean | Promise<boolean> },
  ): Promise<Reply> {
    const answer = await this.send('log', 'GET', path, { query, signal, take });
    return answer.status < 300 ? { status: answer.status } : replyOf(answer);
  }

  /** Tries again what may pass. */
  patiently<Result>({ signal, listener }: Call, work: () => Promise<Result>): Promise<Result> {
    return patiently({ signal, listener, triedMs: TRIED_MS, isPassing, restMs: restMsOf }, work);
  }

  /** Ends its connections at once. */
  async close(): Promise<void> {
    await Promise.all([...this.all].map((transport) => transport.close()));
  }

  private async send(lane: Lane, method: Method, path: string, call: ClusterCall): Promise<ClusterReply> {
    const { transport } = this;
    const answer = await transport.ask(lane, method, path, call);
    if (answer.status !== 401 || !(await this.isRenewed(transport))) return answer;
    return this.transport.ask(lane, method, path, call);
  }

  /** Whether there is a newer credential than the one that was refused. */
  private async isRenewed(refused: K8sTransport): Promise<boolean> {
    const { renew } = this;
    if (this.transport === refused && renew && performance.now() - this.renewedAt > RENEWAL_MS) {
      this.renewing ??= this.takeAnew(renew).finally(() => {
        this.renewing = undefined;
      });
      await this.renewing;
    }
    return this.transport !== refused;
  }

  /** What gives none now leaves the old one, which is refused: that is told. */
  private async takeAnew(renew: () => Promise<K8sAccess>): Promise<void> {
    const access = await renew().catch((_: ClusterFailure) => undefined);
    this.renewedAt = performance.now();
    if (!access) return;
    const old = this.transport;
    this.transport = this.open(access);
    void old.retire().then(() => this.all.delete(old));
  }

  private open(access: K8sAccess): K8sTransport {
    const transport = new K8sTransport(access, this.egress);
    this.all.add(transport);
    return transport;
  }
}

function replyOf(answer: ClusterReply): Reply {
  if (/^Client sent an HTTP request to an HTTPS server/.test(answer.text)) throw plainHttpFailure();
  const body = jsonOf(answer);
  if (body === undefined && answer.status < 300) throw unreadableFailure();
  const retryAfterSec = Number(answer.headers['retry-after'] ?? Number.NaN);
  return { status: answer.status, body, ...(retryAfterSec >= 0 && { retryAfterSec }) };
}

/** A success in its shape; any other answer is thrown as what it means. */
function parsed<Shape extends z.ZodType>(reply: Reply, shape: Shape): z.infer<Shape> {
  if (reply.status >= 300) throw refusalOf(reply);
  const answer = shape.safeParse(reply.body);
  if (!answer.success) throw unreadableFailure();
  return answer.data;
}
