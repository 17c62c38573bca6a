import { ClusterFailure } from '../cluster-client.js';
import type { ClusterReply } from '../cluster-http.js';

/** Nomad answered, and not with what was asked for. */
export class NomadRefusal extends ClusterFailure {
  constructor(
    readonly status: number,
    ...rest: ConstructorParameters<typeof ClusterFailure>
  ) {
    super(...rest);
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
  [/^No path to region/, 'Nomad has no way to its region'],
  [/issuing too many concurrent connections/, 'Nomad takes no more connections of this address'],
  [/^Client sent an HTTP request to an HTTPS server/, 'it speaks HTTPS: give an https:// address'],
];

/** What a status that is no success means, in our words: the status alone does not tell, and the text is not passed on. */
export function refusalOf({ status, text }: Pick<ClusterReply, 'status' | 'text'>, hasToken: boolean): NomadRefusal {
  const refuse = (...rest: ConstructorParameters<typeof ClusterFailure>) => new NomadRefusal(status, ...rest);
  const token = hasToken ? TOKEN.find(([pattern]) => pattern.test(text)) : undefined;
  if (token) return refuse('auth', `${token[1]} (${status})`);
  if (status === 403 || /Permission denied$/.test(text)) {
    return refuse('auth', hasToken ? `the ACL token may not do this (${status})` : NEEDS_TOKEN);
  }
  if (status === 401) return refuse('auth', 'something before Nomad asks for another credential (401)');
  const trouble = TROUBLE.find(([pattern]) => pattern.test(text));
  if (trouble) return refuse('error', `${trouble[1]} (${status})`);
  if (status === 404) return refuse('error', 'it answers 404: is this the address of a Nomad agent?');
  return refuse('error', `it answers ${status}`);
}

const NEEDS_TOKEN = 'it asks for an ACL token: name a secret with one in `authSecret` (403)';

export const noNomad = (): ClusterFailure =>
  new ClusterFailure('error', 'it answers, but not as a Nomad agent: is this its address?');

export const tooMany = (most: number): ClusterFailure => new ClusterFailure('error', `there are more than ${most}`);
