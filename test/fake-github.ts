import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

const TOKEN = 'ghs_fake_token_of_a_job';
const REQUEST_TOKEN = 'fake-id-token-request';
const KEY = 'k1';
const TOKEN_SEC = 300;
const KEYS = generateKeyPair('RS256');
const WORKFLOW = 'github-actions[bot]';

const bodyOf = (text: string): string => (JSON.parse(text) as { body: string }).body;

export interface FakeComment {
  id: number;
  issue: number;
  login: string;
  body: string;
}

/** What of GitHub a job meets: comments of issues as the REST API has them, and the issuer of its OIDC tokens. */
export class FakeGithub {
  readonly comments: FakeComment[] = [];
  /** Every call, as `METHOD /path`. */
  readonly calls: string[] = [];
  /** Answers in place of the next ones, oldest first, to calls of the REST API that match. */
  readonly failures: { match: RegExp; status: number; headers?: Record<string, string>; message?: string }[] = [];
  /** Of the next tokens that are issued; negative: over already. The others are good for minutes. */
  readonly lifetimesSec: number[] = [];
  tokensIssued = 0;
  canComment = true;

  private constructor(
    readonly url: string,
    private readonly jwk: object,
    private readonly sign: (claims: Record<string, unknown>, seconds: number) => Promise<string>,
    readonly close: () => Promise<void>,
  ) {}

  static async start(): Promise<FakeGithub> {
    const { publicKey, privateKey } = await KEYS;
    const jwk = { ...(await exportJWK(publicKey)), kid: KEY, alg: 'RS256' };
    let fake: FakeGithub | undefined;
    const server = createServer((request, response) => {
      fake?.answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const sign = (claims: Record<string, unknown>, seconds: number): Promise<string> =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid: KEY })
        .setIssuedAt()
        .setExpirationTime(Math.floor(Date.now() / 1_000) + seconds)
        .sign(privateKey);
    const close = (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    fake = new FakeGithub(url, jwk, sign, close);
    return fake;
  }

  /** Somebody else's comment, or an earlier one of a workflow. */
  addComment(issue: number, login: string, body: string): FakeComment {
    const comment = { id: 1_000 + this.comments.length, issue, login, body };
    this.comments.push(comment);
    return comment;
  }

  /** The environment of a job as its runner sets it, with what the step was given. */
  job(dir: string, { event, inputs = {}, ...given }: FakeJob): Record<string, string> {
    mkdirSync(dir, { recursive: true });
    const file = (name: string, text: string): string => {
      writeFileSync(path.join(dir, name), text);
      return path.join(dir, name);
    };
    const named = Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
    const mayAskForToken = given.hasIdToken ?? true;
    return {
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: 'acme/agent',
      GITHUB_EVENT_NAME: given.eventName ?? 'pull_request',
      GITHUB_EVENT_PATH: file('event.json', JSON.stringify(event)),
      GITHUB_SHA: 'e'.repeat(40),
      GITHUB_REF_NAME: given.refName ?? '7/merge',
      GITHUB_RUN_ID: given.runId ?? '100',
      GITHUB_RUN_ATTEMPT: '1',
      GITHUB_WORKFLOW: 'evals',
      GITHUB_JOB: 'scorecard',
      GITHUB_ACTION: '__self',
      GITHUB_WORKSPACE: dir,
      GITHUB_OUTPUT: file('output', ''),
      GITHUB_STEP_SUMMARY: file('summary.md', ''),
      GITHUB_API_URL: this.url,
      GITHUB_SERVER_URL: 'https://github.example',
      ...(mayAskForToken && {
        ACTIONS_ID_TOKEN_REQUEST_URL: `${this.url}/token?api-version=2.0`,
        ACTIONS_ID_TOKEN_REQUEST_TOKEN: REQUEST_TOKEN,
      }),
      'INPUT_GITHUB-TOKEN': TOKEN,
      ...Object.fromEntries(named),
    };
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const call = `${request.method} ${url.pathname}`;
    this.calls.push(call);
    const text = await textOf(request);
    const { status, body, headers } = await this.reply(call, url, request.headers.authorization ?? '', text);
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
    response.end(JSON.stringify(body));
  }

  private async reply(call: string, url: URL, authorization: string, text: string): Promise<FakeReply> {
    const failure = this.failures[0];
    if (failure?.match.test(call)) {
      this.failures.shift();
      return { status: failure.status, body: { message: failure.message ?? 'failed' }, headers: failure.headers };
    }
    switch (call) {
      case 'GET /.well-known/openid-configuration':
        return { status: 200, body: { issuer: this.url, jwks_uri: `${this.url}/keys` } };
      case 'GET /keys':
        return { status: 200, body: { keys: [this.jwk] } };
      case 'GET /token':
        if (authorization.toLowerCase() !== `bearer ${REQUEST_TOKEN}`) return { status: 401, body: {} };
        return { status: 200, body: { value: await this.issue(url.searchParams.get('audience') ?? '') } };
    }
    if (!authorization.endsWith(` ${TOKEN}`)) return { status: 401, body: { message: 'Bad credentials' } };
    if (call === 'POST /graphql') return { status: 200, body: { data: { viewer: { login: WORKFLOW } } } };
    return this.rest(call, url, text);
  }

  private rest(call: string, { pathname, searchParams }: URL, text: string): FakeReply {
    const [, issue] = /^\/repos\/acme\/agent\/issues\/(\d+)\/comments$/.exec(pathname) ?? [];
    const [, edited] = /^\/repos\/acme\/agent\/issues\/comments\/(\d+)$/.exec(pathname) ?? [];
    if (call.startsWith('GET') && issue !== undefined) return this.page(Number(issue), searchParams);
    if (!this.canComment) return { status: 403, body: { message: 'Resource not accessible by integration' } };
    if (call.startsWith('POST') && issue !== undefined) {
      return { status: 201, body: shown(this.addComment(Number(issue), WORKFLOW, bodyOf(text))) };
    }
    const found = this.comments.find(({ id }) => String(id) === edited);
    if (!call.startsWith('PATCH') || !found) return { status: 404, body: { message: 'Not Found' } };
    found.body = bodyOf(text);
    return { status: 200, body: shown(found) };
  }

  /** Oldest first, with the next page in the header `Link`. */
  private page(issue: number, query: URLSearchParams): FakeReply {
    const [size, page] = [Number(query.get('per_page') ?? 30), Number(query.get('page') ?? 1)];
    const all = this.comments.filter((comment) => comment.issue === issue);
    const next = `${this.url}/repos/acme/agent/issues/${issue}/comments?per_page=${size}&page=${page + 1}`;
    const headers: Record<string, string> = all.length > page * size ? { link: `<${next}>; rel="next"` } : {};
    return { status: 200, body: all.slice((page - 1) * size, page * size).map(shown), headers };
  }

  private issue(audience: string): Promise<string> {
    this.tokensIssued += 1;
    const claims = {
      iss: this.url,
      aud: audience,
      sub: 'repo:acme/agent:pull_request',
      repository: 'acme/agent',
      ref: 'refs/pull/7/merge',
      jti: String(this.tokensIssued),
    };
    return this.sign(claims, this.lifetimesSec.shift() ?? TOKEN_SEC);
  }
}

interface FakeReply {
  status: number;
  body: unknown;
  headers?: Record<string, string> | undefined;
}

interface FakeJob {
  event: object;
  eventName?: string;
  refName?: string;
  runId?: string;
  inputs?: Record<string, string>;
  /** Whether the job has `id-token: write`. */
  hasIdToken?: boolean;
}

const shown = ({ id, issue, login, body }: FakeComment): object => ({
  id,
  body,
  user: { login, type: login.endsWith('[bot]') ? 'Bot' : 'User' },
  html_url: `https://github.example/acme/agent/pull/${issue}#issuecomment-${id}`,
});

/** Of a pull request of the repository itself, or of a fork. */
export const pullRequestEvent = ({ fork = false, ref = 'a-branch' } = {}): object => ({
  action: 'synchronize',
  number: 7,
  pull_request: {
    number: 7,
    head: {
      ref,
      sha: 'a'.repeat(40),
      label: `${fork ? 'stranger' : 'acme'}:${ref}`,
      repo: { full_name: fork ? 'stranger/agent' : 'acme/agent' },
    },
    base: { ref: 'main', sha: 'b'.repeat(40), label: 'acme:main', repo: { full_name: 'acme/agent' } },
  },
  repository: { full_name: 'acme/agent', default_branch: 'main' },
});

/** What a step said by `GITHUB_OUTPUT`. */
export function outputsOf(env: Record<string, string>): Record<string, string> {
  const text = readFileSync(env.GITHUB_OUTPUT ?? '', 'utf8');
  const found = text.matchAll(/^(.+?)<<(ghadelimiter_\S+)\n(.*?)\n\2$/gms);
  return Object.fromEntries([...found].map(([, name = '', , value = '']) => [name, value]));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
