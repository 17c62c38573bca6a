import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { runCommandLine } from '../cli/program.js';
import type { Screen } from '../cli/progress.js';
import type { Terminal } from '../cli/session.js';
import type { AttemptReply } from '../cli/wire.js';
import type { CliEnv } from '../config/cli-env.js';
import { Logins } from '../config/logins.js';

/** A screen that remembers. */
export function aScreen({ isTty = false, columns = 120 } = {}): Screen & { text: string } {
  const decoder = new TextDecoder();
  const screen = {
    text: '',
    isTty,
    columns: () => columns,
    write(text: string) {
      screen.text += text;
    },
    async writeBytes(bytes: Uint8Array) {
      screen.text += decoder.decode(bytes, { stream: true });
    },
  };
  return screen;
}

/** Where nobody listens. */
export const NOBODY = 'http://127.0.0.1:2';

/** A terminal whose clock moves only by sleeping. */
export function aTerminal({
  url = NOBODY,
  isTty = false,
  input = '',
  env = {},
  home,
}: {
  url?: string;
  isTty?: boolean;
  input?: string | Uint8Array;
  env?: Partial<CliEnv>;
  /** Where logins are kept; without it there are none. */
  home?: string;
} = {}) {
  let now = 0;
  let interrupt = (): void => {};
  const out = aScreen({ isTty });
  const err = aScreen({ isTty });
  const terminal = {
    out,
    err,
    exitCode: 0,
    slept: 0,
    env: { EVERDICT_URL: url, NO_COLOR: '', TERM: '', ...env } as CliEnv,
    logins: new Logins({ home }),
    now: () => now,
    async sleep(ms: number) {
      now += ms;
      terminal.slept += ms;
    },
    every: () => () => {},
    onInterrupt(stop: () => void) {
      interrupt = stop;
      return () => {};
    },
    interrupt: () => interrupt(),
    ask: async () => undefined,
    readSecret: async () => Buffer.from(input),
    setExitCode(code: number) {
      terminal.exitCode = code;
    },
  };
  return terminal satisfies Terminal;
}

export interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  /** Each `metadata` of the query. */
  entries: string[];
  headers: IncomingMessage['headers'];
  body: string;
}

/** What a fake platform says to one call; `drop` breaks the connection. */
export type Answer = { status?: number; body: unknown; type?: string } | 'drop';

/** For commands that must not get as far as the platform. */
export const unused = (): Answer => {
  throw new Error('the platform is not asked');
};
export const problem = (status: number, body: object): Answer => ({ status, type: 'application/problem+json', body });

/** A platform over HTTP that answers as the test says, and remembers what it was asked. */
export async function aPlatform(answer: (asked: Asked, calls: number) => Answer) {
  const asked: Asked[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://platform');
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method = '', headers } = request;
    const query = Object.fromEntries(url.searchParams);
    const one = { method, headers, body, path: url.pathname, query, entries: url.searchParams.getAll('metadata') };
    asked.push(one);
    const reply = answer(one, asked.length);
    if (reply === 'drop') {
      request.socket.destroy();
      return;
    }
    response.writeHead(reply.status ?? 200, { 'content-type': reply.type ?? 'application/json' });
    response.end(
      typeof reply.body === 'string' || reply.body instanceof Uint8Array ? reply.body : JSON.stringify(reply.body),
    );
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (!address || typeof address === 'string') throw new Error('no port');
  const url = `http://127.0.0.1:${address.port}`;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return { url, asked, close };
}

/** Runs one command line against a fake platform. */
export async function everdict(
  words: readonly string[],
  answer: Parameters<typeof aPlatform>[0],
  options: Omit<NonNullable<Parameters<typeof aTerminal>[0]>, 'url'> = {},
) {
  const platform = await aPlatform(answer);
  const terminal = aTerminal({ url: platform.url, ...options });
  try {
    await runCommandLine(words, terminal);
  } finally {
    await platform.close();
  }
  const { out, err, exitCode } = terminal;
  return { out: out.text, err: err.text, exitCode, asked: platform.asked };
}

const NO_COUNTS = {
  submitted: 0,
  queued: 0,
  waiting: 0,
  running: 0,
  settled: 0,
  passed: 0,
  failed: 0,
  errored: 0,
  cancelled: 0,
  infraErrors: 0,
  decided: 0,
};

const aRate = (passed: number, n: number) => ({
  n,
  passed,
  rate: n ? passed / n : null,
  low: n ? 0.1 : null,
  high: n ? 0.9 : null,
});

/** A scorecard as the platform shows it, with counts that add up. */
export function aScorecard({
  counts = {},
  ...rest
}: {
  counts?: Partial<typeof NO_COUNTS>;
  [key: string]: unknown;
} = {}) {
  const all = { ...NO_COUNTS, ...counts };
  const settled = all.passed + all.failed + all.errored + all.cancelled;
  const submitted = settled + all.queued + all.waiting + all.running;
  const rate = aRate(all.passed, submitted - all.cancelled);
  return {
    id: 'sc_1',
    status: 'completed' as const,
    dataset: 'tasks@1.0.0',
    harness: 'solver@1.0.0',
    runtime: 'desk@1.0.0',
    class: 'batch' as const,
    trials: 1,
    metadata: {},
    counts: { ...all, settled, submitted },
    rates: {
      firstAttempt: rate,
      final: rate,
      infraExcluded: aRate(all.passed, submitted - all.cancelled - all.infraErrors),
    },
    pausedAt: null,
    pauseReason: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    deadlineAt: null,
    finishedAt: '2026-01-01T00:01:05.000Z',
    rerolls: [],
    ...rest,
  };
}

/** A settled run as the platform shows it. */
export const anAttempt = (fields: Partial<AttemptReply> = {}): AttemptReply => ({
  ...{ attempt: 1, allocation: 'everdict-run-1-1', state: 'open', openedAt: '2026-01-01T00:00:00.000Z' },
  ...{ submittedAt: null, closedAt: null, end: null, exitCode: null, setupMs: null, commandMs: null },
  ...{ answer: null, answerCut: false, graders: [], usage: null, provenance: {} },
  ...fields,
});

export const aRun = (fields: object = {}) => ({
  id: 'sc_1.7',
  scorecard: 'sc_1',
  caseId: 'math/sum',
  trial: 1,
  harness: 'solver@1.0.0',
  runtime: 'desk@1.0.0',
  state: 'settled' as const,
  outcome: 'failed' as const,
  errorClass: null,
  errorCode: null,
  reason: 'expected 4, the answer is 5',
  decidedBy: null,
  attempts: 1,
  scores: null,
  durationMs: 12,
  createdAt: '2026-01-01T00:00:00.000Z',
  settledAt: '2026-01-01T00:00:01.000Z',
  ...fields,
});
