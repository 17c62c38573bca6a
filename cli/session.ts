import type { CliEnv } from '../config/cli-env.js';
import { HttpClient } from './http.client.js';
import type { Screen } from './progress.js';

/** What commands touch of the world. */
export interface Terminal {
  out: Screen;
  /** Progress, notes and errors: never part of the result. */
  err: Screen;
  env: CliEnv;
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
}

/** One command at work: where it speaks to, and how it answers. */
export class Session {
  readonly client: HttpClient;
  readonly isJson: boolean;

  constructor(
    readonly terminal: Terminal,
    { url, json }: GlobalOptions,
  ) {
    this.client = new HttpClient(url ?? terminal.env.EVERDICT_URL);
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
