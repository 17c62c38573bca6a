import { getInput } from '@actions/core';
import { z } from 'zod';
import type { ActionEnv } from '../config/action-env.js';
import { SpecRef, WorkspaceId } from '../contracts/ids.js';
import { hasUserInfo } from '../contracts/user-info.js';

const MOST_SHARE = 0.5;

const Flag = z.enum(['true', 'false'], { error: 'is true or false' }).transform((word) => word === 'true');
const whole = (min: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'is not a whole number')
    .transform(Number)
    .refine((number) => number >= min, `is below ${min}`);
const Line = z.string().regex(/^.+$/, 'is more than one line');
const Lines = z.string().transform((text) => text.split(/\r?\n/).map(trimmed).filter(Boolean));
const Words = z.string().transform((text) => text.split(/[,\n]/).map(trimmed).filter(Boolean));

const Pairs = Lines.transform((lines, ctx) => {
  const pairs: Record<string, string> = {};
  for (const line of lines) {
    const at = line.indexOf('=');
    if (at < 1) ctx.addIssue({ code: 'custom', message: `has a line that is not NAME=value: ${JSON.stringify(line)}` });
    pairs[line.slice(0, at)] = line.slice(at + 1);
  }
  return pairs;
});

/** `false`, or the rate of error that is stood for. */
const EarlyStop = z.string().transform((word, ctx) => {
  if (word === 'false') return undefined;
  if (word === 'true') return {};
  const errorRate = Number(word);
  if (errorRate >= 0 && errorRate <= MOST_SHARE) return { errorRate };
  ctx.addIssue({ code: 'custom', message: 'is true, false, or a share from 0 to 0.5' });
  return z.NEVER;
});

const Inputs = z.object({
  'api-url': z
    .url({ protocol: /^https?$/, error: 'is not an http(s) URL' })
    .refine(
      (url) => !hasUserInfo(url),
      'has a user or a password in it: give the address alone, and a key as `api-key`',
    ),
  workspace: WorkspaceId.optional(),
  dataset: SpecRef,
  harness: SpecRef,
  runtime: SpecRef.optional(),
  image: z.string().optional(),
  'allow-mutable-image': Flag.default(false),
  cases: Lines.optional(),
  tags: Words.optional(),
  limit: whole(1).optional(),
  trials: whole(1).optional(),
  params: Pairs.optional(),
  policy: z.string().optional(),
  baseline: Line.optional(),
  'baseline-branch': Line.optional(),
  'early-stop': EarlyStop.optional(),
  timeout: whole(1).optional(),
  patience: whole(1).default(300),
  'fail-on': z.enum(['block', 'cannot-tell'], { error: 'is block or cannot-tell' }).default('cannot-tell'),
  comment: Flag.default(true),
  supersede: Flag.default(true),
  key: z.string().max(255, 'is longer than 255 characters').optional(),
  'report-dir': z.string().default('everdict-report'),
  'api-key': z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'is not a key')
    .optional(),
  audience: z.string().default('everdict'),
  'github-token': z.string().optional(),
});
export type Inputs = z.infer<typeof Inputs>;

export const INPUT_NAMES = Object.keys(Inputs.shape);

/** What the step was given under `with`. What is empty was not given. */
export function readInputs(read: (name: string) => string = getInput): Inputs {
  const given = INPUT_NAMES.map((name) => [name, read(name)] as const).filter(([, value]) => value !== '');
  const parsed = Inputs.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => faultOf(String(path[0]), message, given));
  throw new Error(faults.join('; '));
}

function faultOf(name: string, message: string, given: readonly (readonly [string, string])[]): string {
  const isGiven = given.some(([each]) => each === name);
  return isGiven ? `the input ${name} ${message}` : `the input ${name} is missing`;
}

/** Names this use of the action, for the comment and for what supersedes what. */
export function keyOf(
  env: Pick<ActionEnv, 'GITHUB_WORKFLOW' | 'GITHUB_JOB' | 'GITHUB_ACTION'>,
  { key }: Pick<Inputs, 'key'>,
): string {
  return key ?? [env.GITHUB_WORKFLOW, env.GITHUB_JOB, env.GITHUB_ACTION].join('/');
}

function trimmed(text: string): string {
  return text.trim();
}
