import { ClusterFailure } from '../cluster-client.js';
import { UnknownAuthority } from '../cluster-failures.js';
import type { ClusterReply } from '../cluster-http.js';
import { specFault } from './nomad.refusals.js';

const NO_REGION = /^(rpc error: )?No path to region/;

/** Nomad answered, and not with what was asked for. */
export class NomadRefusal extends ClusterFailure {
  constructor(
    /** Its own status and words: what it means is told by both together. */
    readonly answer: Pick<ClusterReply, 'status' | 'text'>,
    ...rest: ConstructorParameters<typeof ClusterFailure>
  ) {
    super(...rest);
  }

  get status(): number {
    return this.answer.status;
  }

  /** Nomad says itself that there is no such job or allocation: nothing else that answers 404 does. */
  get isAbsence(): boolean {
    return this.status === 404 && /^(job|alloc) not found\s*$/.test(this.answer.text);
  }

  /** There is no such region, or none of its servers can be reached now. */
  get isOfNoRegion(): boolean {
    return NO_REGION.test(this.answer.text);
  }

  /** A conditional register met a job of that name. */
  get isOccupied(): boolean {
    return /Enforcing job modify index 0: job already exists/.test(this.answer.text);
  }
}

/** What its text says of a token that it does not take; it answers so with 403, and on some routes with 500. */
const TOKEN: readonly (readonly [RegExp, string])[] = [
  [/ACL token expired/, 'its ACL token has expired'],
  [/ACL token not found/, 'it does not know the ACL token'],
  [/UUID must be 36 characters|token is malformed|compact JWS format/, 'the credential is no ACL token'],
  [/failed to (resolve ACL|verify) token|invalid workload identity/, 'it does not take the ACL token'],
];

/** Texts of answers whose status does not say what is wrong. */
const TROUBLE: readonly (readonly [RegExp, string])[] = [
  [/^No cluster leader/, 'Nomad has no leader now'],
  [/^Not ready to serve consistent reads/, 'Nomad is not ready yet'],
  [NO_REGION, '`region`: Nomad has no way to a region of that name'],
  [/disabled by the scheduler configuration/, 'its scheduler configuration admits no jobs now'],
  [/issuing too many concurrent connections/, 'Nomad takes no more connections of this address'],
  [/^Client sent an HTTP request to an HTTPS server/, 'it speaks HTTPS: give an https:// address'],
];

/** What a status that is no success means, in our words: the status alone does not tell, and the text is not passed on. */
export function refusalOf(answer: Pick<ClusterReply, 'status' | 'text'>, hasToken: boolean): NomadRefusal {
  const { status, text } = answer;
  const refuse = (...rest: ConstructorParameters<typeof ClusterFailure>) => new NomadRefusal({ status, text }, ...rest);
  const token = hasToken ? TOKEN.find(([pattern]) => pattern.test(text)) : undefined;
  if (token) return refuse('auth', `${token[1]} (${status})`);
  const trouble = TROUBLE.find(([pattern]) => pattern.test(text));
  if (trouble) return refuse('error', `${trouble[1]} (${status})`);
  if (status === 403 || /Permission denied$/.test(text)) {
    return refuse('auth', hasToken ? `the ACL token may not do this (${status})` : NEEDS_TOKEN);
  }
  if (status === 401) return refuse('auth', 'something before Nomad asks for another credential (401)');
  const fault = specFault(answer);
  if (fault !== undefined) return refuse('refused', fault);
  if (status === 404) return refuse('error', 'it answers 404: is this the address of a Nomad agent?');
  return refuse('error', `it answers ${status}`);
}

/** Whether the same request may be answered before long. Busy, without a leader, behind a proxy that restarts. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof ClusterFailure) || error instanceof UnknownAuthority) return false;
  if (error.reason === 'unreachable') return true;
  return error.reason === 'error' && !(error instanceof NomadRefusal && error.status < 500 && error.status !== 429);
}

const NEEDS_TOKEN = 'it asks for an ACL token: name a secret with one in `authSecret` (403)';

export const noNomad = (): ClusterFailure =>
  new ClusterFailure('error', 'it answers, but not as a Nomad agent: is this its address?');

export const tooMany = (most: number): ClusterFailure => new ClusterFailure('error', `there are more than ${most}`);
