import { z } from 'zod';
import type { CliEnv } from '../config/cli-env.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import { CliError } from './failures.js';
import { fetchFailure } from './foreign-errors.js';

/** What a caller proves who it is with. */
export interface Credential {
  /** The bearer token; undefined: it comes without. */
  token(): Promise<string | undefined>;
  /** Makes another one after it was refused; false: there is no other. */
  renew(): Promise<boolean>;
}

/** A key stays what it is. */
export const fixedCredential = (key: string | undefined): Credential => ({
  token: async () => key,
  renew: async () => false,
});

/** A key goes first; without any, a workflow of GitHub that may have a token (`id-token: write`) asks for one. */
export function credentialOf(key: string | undefined, env: CliEnv): Credential {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret } = env;
  if (key !== undefined || url === undefined || secret === undefined) return fixedCredential(key);
  return new GithubToken(url, secret, env.EVERDICT_GITHUB_AUDIENCE);
}

const TIMEOUT_MS = 30_000;
const Answer = z.object({ value: z.string().min(1) });

/** The OIDC token of a GitHub workflow. It is valid for minutes, and a scorecard may take hours. */
class GithubToken implements Credential {
  private current: Promise<string> | undefined;

  constructor(
    private readonly url: string,
    private readonly secret: string,
    private readonly audience: string,
  ) {}

  token(): Promise<string> {
    this.current ??= this.ask();
    return this.current;
  }

  async renew(): Promise<boolean> {
    this.current = undefined;
    await this.token();
    return true;
  }

  private async ask(): Promise<string> {
    let exit: ExitCode = EXIT.unreachable;
    try {
      const url = new URL(this.url);
      url.searchParams.set('audience', this.audience);
      const headers = { authorization: `bearer ${this.secret}`, accept: 'application/json' };
      const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
      // What is refused now will be refused again: nobody waits for it.
      if (response.status >= 400 && response.status < 500 && response.status !== 429) exit = EXIT.refused;
      if (!response.ok) throw new Error(`it answered ${response.status}`);
      return Answer.parse(await response.json()).value;
    } catch (error) {
      this.current = undefined;
      const nextStep = 'the job needs `permissions: id-token: write`; or set EVERDICT_API_KEY';
      const message = `GitHub gives this job no token (${fetchFailure(error)})`;
      throw new CliError(exit, message, nextStep, undefined, { cause: error });
    }
  }
}
