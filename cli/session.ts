import type { CliEnv } from '../config/cli-env.js';
import type { Logins } from '../config/logins.js';
import { hasUserInfo } from '../contracts/user-info.js';
import { credentialOf } from './credential.js';
import { usageError } from './failures.js';
import { HttpClient } from './http.client.js';
import type { Screen } from './progress.js';

/** What commands touch of the world. */
export interface Terminal {
  out: Screen;
  /** Progress, notes and errors: never part of the result. */
  err: Screen;
  env: CliEnv;
  /** Keys that `login` kept. */
  logins: Logins;
  now(): number;
  /** Resolves early when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Does `work` again and again; the result ends that. */
  every(ms: number, work: () => void): () => void;
  /** Runs `stop` on Ctrl-C instead of ending at once; the result takes that back. */
  onInterrupt(stop: () => void): () => void;
  setExitCode(code: number): void;
  /** A question to be answered with yes or no; undefined where nobody can be asked. */
  ask(question: string): Promise<boolean | undefined>;
  /** What is piped in, as it is; else what is typed, which does not show. */
  readSecret(question: string): Promise<Uint8Array>;
}

export interface GlobalOptions {
  url?: string;
  json?: boolean;
  workspace?: string;
}

const DEFAULT_URL = 'http://127.0.0.1:8787';

/** The platform that is meant, as it was given, without a slash at the end. */
export function urlOf({ env, logins }: Terminal, url?: string): string {
  const asked = url ?? env.EVERDICT_URL ?? logins.current ?? DEFAULT_URL;
  if (hasUserInfo(asked)) {
    const nextStep = 'give its address alone, and a key by `npx everdict login` or EVERDICT_API_KEY';
    throw usageError('the URL of the platform has a user or a password in it', nextStep);
  }
  return asked.replace(/\/+$/, '');
}

/** One command at work: where it speaks to, and how it answers. */
export class Session {
  readonly client: HttpClient;
  readonly isJson: boolean;

  constructor(
    readonly terminal: Terminal,
    { url: given, json, workspace: wanted }: GlobalOptions,
    /** In place of the key that was kept. */
    newKey?: string,
  ) {
    const { env, logins } = terminal;
    const url = urlOf(terminal, given);
    const login = logins.find(url);
    const key = newKey ?? env.EVERDICT_API_KEY ?? login?.key;
    const workspace = wanted ?? env.EVERDICT_WORKSPACE ?? (newKey === undefined ? login?.workspace : undefined);
    const always: Record<string, string> = workspace === undefined ? {} : { 'x-everdict-workspace': workspace };
    this.client = new HttpClient(url, undefined, undefined, always, credentialOf(key, env));
    this.isJson = json === true;
  }

  /** The result: one JSON document, or the text. */
  answer(document: unknown, text: () => string): void {
    this.terminal.out.write(this.isJson ? `${JSON.stringify(document, null, 2)}\n` : text());
  }

  /** Something worth knowing beside the result. */
  note(message: string): void {
    this.terminal.err.write(`${message}\n`);
  }

  get columns(): number {
    return this.terminal.out.isTty ? this.terminal.out.columns() : 160;
  }
}
