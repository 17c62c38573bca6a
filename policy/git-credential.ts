import type { CaseEnv } from '../contracts/case.js';
import { hostOfUrl } from './origins.js';

/** What a repository's host is answered with. */
export interface GitCredential {
  username: string;
  password: string;
}

/** File of a payload that holds the credential of the checkout, as git's credential protocol has it. */
export const GIT_CREDENTIAL_FILE = 'git-credential';

/** What hosts that know tokens alone take for a user. */
const TOKEN_USER = 'x-access-token';

/** The host whose `git` secret a case may need; none where no secret can help. */
export function gitHostOf(env: CaseEnv): string | undefined {
  if (env.kind !== 'repo' || !('git' in env.source)) return undefined;
  return hostOfUrl(env.source.git);
}

/** A value is `user:password`, or a token alone. */
export function gitCredentialOf(value: string): GitCredential {
  const colon = value.indexOf(':');
  if (colon < 0) return { username: TOKEN_USER, password: value };
  return { username: value.slice(0, colon), password: value.slice(colon + 1) };
}

export const gitCredentialFile = ({ username, password }: GitCredential): string =>
  `username=${username}\npassword=${password}\n`;
