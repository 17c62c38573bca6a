import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseJson } from '../cli/spec-files.js';
import type { ActionEnv } from '../config/action-env.js';

const Branch = z.looseObject({ ref: z.string(), sha: z.string() });
const Repository = z.looseObject({ full_name: z.string() });

/** What we read of an event's payload. */
const Payload = z.looseObject({
  pull_request: z
    .looseObject({
      number: z.int(),
      head: Branch.extend({ label: z.string().nullish(), repo: Repository.nullish() }),
      base: Branch.extend({ repo: Repository }),
    })
    .optional(),
  merge_group: z.looseObject({ head_sha: z.string(), head_ref: z.string(), base_ref: z.string() }).optional(),
  repository: z.looseObject({ default_branch: z.string().optional() }).optional(),
});

/** What a workflow runs for. */
export interface Occasion {
  sha: string;
  /** Of a fork with its owner, so that its `main` is never taken for ours. */
  branch: string;
  /** What it is going to be merged into, or stands beside. */
  baseBranch: string | undefined;
  pr: number | undefined;
  isFork: boolean;
}

const branchOf = (ref: string): string => ref.replace(/^refs\/heads\//, '');

export function occasionOf(env: ActionEnv): Occasion {
  const { pull_request: pull, merge_group: group, repository } = payloadOf(env.GITHUB_EVENT_PATH);
  if (pull) {
    const { head, base } = pull;
    // The repository of a fork may be gone already.
    const isFork = head.repo?.full_name !== base.repo.full_name;
    const branch = isFork ? (head.label ?? `fork:${head.ref}`) : head.ref;
    return { sha: head.sha, branch, baseBranch: base.ref, pr: pull.number, isFork };
  }
  if (group) {
    const [branch, baseBranch] = [branchOf(group.head_ref), branchOf(group.base_ref)];
    return { sha: group.head_sha, branch, baseBranch, pr: undefined, isFork: false };
  }
  const { GITHUB_SHA: sha, GITHUB_REF_NAME: branch } = env;
  return { sha, branch, baseBranch: repository?.default_branch, pr: undefined, isFork: false };
}

function payloadOf(file: string): z.infer<typeof Payload> {
  const parsed = Payload.safeParse(parseJson(readFileSync(file, 'utf8'), `the event at ${file}`));
  if (parsed.success) return parsed.data;
  throw new Error(`the event at ${file} is not as GitHub writes it: ${z.prettifyError(parsed.error)}`);
}

/** What the scorecard says about where it comes from; a later run finds it by that. */
export function metadataOf(env: ActionEnv, { sha, branch, pr }: Occasion, key: string): Record<string, string> {
  const { GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run, GITHUB_SERVER_URL: server } = env;
  const all = {
    sha,
    branch,
    ...(pr !== undefined && { pr: String(pr) }),
    repository: repository.toLowerCase(),
    key,
    run,
    attempt: env.GITHUB_RUN_ATTEMPT,
    url: `${server}/${repository}/actions/runs/${run}`,
  };
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, value.slice(0, 1_024)]));
}
