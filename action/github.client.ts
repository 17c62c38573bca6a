import { setTimeout as delay } from 'node:timers/promises';
import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import { retry } from '@octokit/plugin-retry';
import { RequestError } from '@octokit/request-error';

const CALL_MS = 30_000;
/** A limit that says it is over by then is waited for, so many times. */
const LONGEST_WAIT_SEC = 60;
const MOST_WAITS = 3;

const GitHub = Octokit.plugin(paginateRest, retry);
export type GitHub = InstanceType<typeof GitHub>;

interface GitHubOptions {
  /** The root of its REST API: `GITHUB_API_URL`. */
  apiUrl: string;
  token: string;
  /** Told of every limit that is waited for. */
  say: (message: string) => void;
  /** How long the first pause after an error of the server is; the later ones are longer. */
  pauseMs?: number;
}

/** GitHub's API, patient with what passes: errors of the server are tried again, and limits are waited for. */
export function createGitHub({ apiUrl, token, say, pauseMs = 1_000 }: GitHubOptions): GitHub {
  const github = new GitHub({
    baseUrl: apiUrl,
    auth: token,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    request: {
      fetch: (url: string, init: RequestInit) => fetch(url, { ...init, signal: AbortSignal.timeout(CALL_MS) }),
    },
    // Limits have a hook of their own, which knows how long they last.
    retry: { retryAfterBaseValue: pauseMs, doNotRetry: [400, 401, 403, 404, 410, 422, 429, 451] },
  });
  github.hook.wrap('request', async (request, options) => {
    for (let waits = 0; ; waits += 1) {
      try {
        return await request(options);
      } catch (error) {
        const waitSec = limitSec(error);
        if (waitSec === undefined || waitSec > LONGEST_WAIT_SEC || waits === MOST_WAITS) throw error;
        say(`GitHub has had enough of this token's calls for ${waitSec} s; waiting`);
        await delay(waitSec * pauseMs);
      }
    }
  });
  return github;
}

/** How long a limit lasts, where a refusal is one: https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api */
function limitSec(error: unknown): number | undefined {
  if (!(error instanceof RequestError) || (error.status !== 403 && error.status !== 429)) return undefined;
  const {
    'retry-after': after,
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset': reset,
  } = error.response?.headers ?? {};
  if (after !== undefined) return Number(after);
  if (remaining === '0') return Math.max(1, Math.ceil(Number(reset) - Date.now() / 1_000));
  return /secondary rate limit/i.test(error.message) ? LONGEST_WAIT_SEC : undefined;
}
