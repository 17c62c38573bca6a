import type { CaseEnv } from '../contracts/case.js';
import { hostOfUrl } from './origins.js';
import { type PasswordCredential, passwordCredentialOf } from './password-credential.js';

/** What a repository's host is answered with. */
export type GitCredential = PasswordCredential;

/** File of a payload that holds the credential of the checkout, as git's credential protocol has it. */
export const GIT_CREDENTIAL_FILE = 'git-credential';

/** What hosts that know tokens alone take for a user. */
const TOKEN_USER = 'x-access-token';

/** The host whose `git` secret a case may need; none where no secret can help. */
export function gitHostOf(env: CaseEnv): string | undefined {
  if (env.kind !== 'repo' || !('git' in env.source)) return undefined;
  return hostOfUrl(env.source.git);
}

export const gitCredentialOf = (value: string): GitCredential => passwordCredentialOf(value, TOKEN_USER);

export const gitCredentialFile = ({ username, password }: GitCredential): string =>
  `username=${username}\npassword=${password}\n`;
