import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import type { z } from 'zod';
import { EXIT } from './exit-codes.js';
import { CliError } from './failures.js';
import { type Call, jsonBody } from './http.client.js';
import { collectPair, wholeNumber } from './options.js';
import type { Session } from './session.js';
import { plain } from './text.js';

/** Tries to submit while the connection breaks; the key makes a repetition harmless. */
const SUBMIT_TRIES = 3;
const SUBMIT_PAUSE_MS = 1_000;

/** What every submit can be given. */
export interface SubmitOptions {
  runtime?: string;
  class?: string;
  infraRetries?: number;
  param?: Record<string, string>;
  metadata?: Record<string, string>;
  idempotencyKey?: string;
}

export const withSubmitOptions = (command: Command): Command =>
  command
    .option(
      '--runtime <ref>',
      'id or id@version, or auto: what fits with most room; without it a case needs a placement.target',
    )
    .addOption(new Option('--class <class>', 'interactive goes first').choices(['interactive', 'batch']))
    .option('--infra-retries <n>', 'new attempts after a failure of the infrastructure', wholeNumber(0))
    .option('--param <name=value>', 'EVERDICT_PARAM_<NAME> of the job; may be repeated', collectPair)
    .option('--metadata <name=value>', 'where it comes from, like sha=… or branch=…; may be repeated', collectPair)
    .option('--idempotency-key <key>', 'the same key again within 24 h is the same submit');

/** Their part of the body; what was not given is left to the platform's defaults. */
export const submitRequest = ({ runtime, infraRetries, class: workClass, param, metadata }: SubmitOptions) => ({
  runtime,
  infraRetries,
  class: workClass,
  params: param,
  metadata,
});

export async function submit<Reply extends { warnings: string[]; runtime?: string | null }>(
  session: Session,
  path: string,
  schema: z.ZodType<Reply>,
  request: Record<string, unknown>,
  { idempotencyKey, runtime }: SubmitOptions,
): Promise<{ reply: Reply; raw: unknown }> {
  const answered = await create(session, path, schema, { body: jsonBody(request) }, idempotencyKey);
  if (runtime === 'auto' && answered.reply.runtime) session.note(`runtime: ${plain(answered.reply.runtime)}`);
  return answered;
}

/** Has something made once, also over a connection that breaks, and tells what is worth knowing of it. */
export async function create<Reply extends { warnings: string[] }>(
  session: Session,
  path: string,
  schema: z.ZodType<Reply>,
  call: Pick<Call, 'body' | 'query'>,
  key: string = randomUUID(),
): Promise<{ reply: Reply; raw: unknown }> {
  for (let tried = 1; ; tried += 1) {
    try {
      const answered = await session.client.post(path, schema, { ...call, headers: { 'idempotency-key': key } });
      for (const warning of answered.reply.warnings) session.note(`note: ${plain(warning)}`);
      return answered;
    } catch (error) {
      if (!mayPass(error) || tried === SUBMIT_TRIES) throw error;
      await session.terminal.sleep(SUBMIT_PAUSE_MS);
    }
  }
}

/** Worth another try: a connection that broke on the way. Where nobody listens, nobody will in a second. */
const mayPass = (error: unknown): boolean =>
  error instanceof CliError && error.exitCode === EXIT.unreachable && !/ECONNREFUSED|ENOTFOUND/.test(error.message);
