import { setTimeout as delay } from 'node:timers/promises';
import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import { retry } from '@octokit/plugin-retry';
import { RequestError } from '@octokit/request-error';

const CALL_MS = 30_000;
/** A limit that says it is over by then is waited for, so many times. */
const LONGEST_WAIT_SEC = 60;
const MOST_WAITS = 3;
/** What GitHub asks to wait at least, where it does not say how long. */
const UNTOLD_SEC = 60;

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
        const limit = limitSec(error);
        if (limit === undefined || limit > LONGEST_WAIT_SEC || waits === MOST_WAITS) throw error;
        say(`GitHub has had enough of this token's calls for ${limit} s; waiting`);
        await delay(limit * pauseMs);
      }
    }
  });
  return github;
}

/** How long a limit lasts, where a refusal is one: https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api */
export function limitSec(error: unknown): number | undefined {
  if (!(error instanceof RequestError) || (error.status !== 403 && error.status !== 429)) return undefined;
  const {
    'retry-after': after,
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset': reset,
  } = error.response?.headers ?? {};
  if (after !== undefined) return waitSec(Number(after), Date.parse(String(after)));
  if (remaining === '0') return waitSec(Number.NaN, Number(reset) * 1_000);
  return error.status === 429 || /rate limit/i.test(error.message) ? UNTOLD_SEC : undefined;
}

/** Told as seconds or as a moment; whatever is neither counts as untold. */
function waitSec(seconds: number, untilMs: number): number {
  const sec = Number.isFinite(seconds) ? seconds : (untilMs - Date.now()) / 1_000;
  return Number.isFinite(sec) ? Math.max(1, Math.ceil(sec)) : UNTOLD_SEC;
}
