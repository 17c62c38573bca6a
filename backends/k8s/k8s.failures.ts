import { z } from 'zod';
import { ClusterFailure } from '../cluster-client.js';
import { UnknownAuthority } from '../cluster-failures.js';
import type { Reply } from './k8s.client.js';

const Text = z.string().optional().catch(undefined);
const Cause = z.object({ reason: Text, message: Text, field: Text });
export type Cause = z.infer<typeof Cause>;

const Details = z.object({
  name: Text,
  kind: Text,
  causes: z.array(Cause).catch([]),
  retryAfterSeconds: z.number().optional().catch(undefined),
});
const NOTHING: z.infer<typeof Details> = { name: undefined, kind: undefined, causes: [], retryAfterSeconds: undefined };

/** How an API server refuses: nothing before it does. */
const Status = z.object({
  kind: z.literal('Status'),
  reason: z.string().catch(''),
  message: z.string().catch(''),
  details: Details.catch(NOTHING),
});
export type Status = z.infer<typeof Status>;

/** An API server answered, and not with what was asked for. */
export class K8sRefusal extends ClusterFailure {
  constructor(
    readonly reply: Reply,
    ...rest: ConstructorParameters<typeof ClusterFailure>
  ) {
    super(...rest);
  }

  get status(): number {
    return this.reply.status;
  }

  /** Absent where something else than an API server answered. */
  get said(): Status | undefined {
    return Status.safeParse(this.reply.body).data;
  }

  /** It says itself that there is no such object: nothing else that answers 404 does. */
  get isAbsence(): boolean {
    return this.status === 404 && this.said?.reason === 'NotFound';
  }

  /** There is one of that name. */
  get isOccupied(): boolean {
    return this.status === 409 && this.said?.reason === 'AlreadyExists';
  }

  /** It is no longer what it was taken for; or something that is counted with it was being changed. */
  get isConflict(): boolean {
    return this.status === 409 && this.said?.reason === 'Conflict';
  }

  /** It no longer has that version of a list. */
  get isExpired(): boolean {
    return this.status === 410 || this.said?.reason === 'Expired' || this.said?.reason === 'Gone';
  }
}

/** More is not waited before the next try. */
const LONGEST_REST_SEC = 5;

/** Reasons of the API server that are passed on: other words of a stranger are not. */
const REASONS = new Set([
  'BadRequest',
  'Conflict',
  'Expired',
  'Gone',
  'InternalError',
  'Invalid',
  'MethodNotAllowed',
  'NotAcceptable',
  'RequestEntityTooLarge',
  'ServerTimeout',
  'ServiceUnavailable',
  'StorageReadError',
  'Timeout',
  'UnsupportedMediaType',
]);

/** What a status that is no success means, in our words. */
export function refusalOf(reply: Reply): K8sRefusal {
  const { status, body } = reply;
  const said = Status.safeParse(body).data;
  const refuse = (...rest: ConstructorParameters<typeof ClusterFailure>) => new K8sRefusal(reply, ...rest);
  const reason = said?.reason && REASONS.has(said.reason) ? ` ${said.reason}` : '';
  if (status === 401) return refuse('auth', 'it does not accept the credential (401)');
  if (status === 403 && said) {
    return refuse(
      'auth',
      forbiddenAccount(reply) === ANONYMOUS ? NOBODY : `the account may not ${rightIn(reply) ?? 'do that'} (403)`,
    );
  }
  if (status === 404 && !said) return refuse('error', 'it is no Kubernetes API server (404)');
  if (status === 404) return refuse('error', 'there is no such thing (404)');
  if (status === 429) return refuse('error', 'it has too many requests (429)');
  const origin = said ? '' : ', and not as a Kubernetes API server does';
  return refuse('error', `it answers ${status}${reason}${origin}`);
}

/** Whether the same request may be answered before long. Busy, starting, behind something that restarts. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof ClusterFailure) || error instanceof UnknownAuthority) return false;
  if (error.reason === 'unreachable') return true;
  if (error.reason !== 'error' || !(error instanceof K8sRefusal)) return error.reason === 'error';
  const { status, said } = error;
  // The page of what stands before it. One that takes nothing as large takes it no more the next time.
  if (!said) return status !== 413;
  if (status === 409) return said.reason === 'Conflict' && said.details.kind === 'resourcequotas';
  if (status < 500) return status === 429 || status === 408;
  // Asked for a version that it is yet to have, it answers as if it were slow.
  return !said.details.causes.some((cause) => cause.reason === 'ResourceVersionTooLarge');
}

/** For how long it asks to be left alone. */
export function restMsOf(error: unknown): number | undefined {
  if (!(error instanceof K8sRefusal)) return undefined;
  const askedSec = error.reply.retryAfterSec ?? error.said?.details.retryAfterSeconds ?? 0;
  return Math.min(LONGEST_REST_SEC, askedSec) * 1_000;
}

/** Whom an API server refuses something: it knows them. */
export function forbiddenAccount({ status, body }: Reply): string | undefined {
  const said = status === 403 ? Status.safeParse(body).data : undefined;
  return /\bUser "([^"]{1,200})" cannot /.exec(said?.message ?? '')?.[1];
}

/** What somebody is not allowed, as people write it: `delete pods`, `get pods/log`. */
export function rightIn({ status, body }: Reply): string | undefined {
  const said = status === 403 ? Status.safeParse(body).data : undefined;
  const [, verb, resource, group] = RIGHT.exec(said?.message ?? '') ?? [];
  return verb && resource && `${verb} ${resource}${group && `.${group}`}`;
}

const RIGHT = /\bcannot ([a-z]{1,20}) resource "([a-z/]{1,60})" in API group "([a-z.0-9]{0,60})"/;

/** Anonymous requests are answered, too: that something is answered says nothing of the credential. */
export const NOBODY = 'it does not know the credential, and takes us for anonymous';
export const ANONYMOUS = 'system:anonymous';

export const plainHttpFailure = (): ClusterFailure =>
  new ClusterFailure('error', 'it speaks HTTPS: give an https:// address');

export const unreadableFailure = (): ClusterFailure =>
  new ClusterFailure('error', 'it is no Kubernetes API server: it answers with something else than JSON');
