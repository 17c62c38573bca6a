import { z } from 'zod';

/** What GitHub tells an action about the job it is in. */
const ActionEnv = z.object({
  GITHUB_REPOSITORY: z.string().regex(/^[^/\s]+\/[^/\s]+$/, 'is not owner/name'),
  GITHUB_EVENT_NAME: z.string().min(1),
  GITHUB_EVENT_PATH: z.string().min(1),
  GITHUB_SHA: z.string().min(1),
  GITHUB_REF_NAME: z.string().default(''),
  GITHUB_RUN_ID: z.string().regex(/^\d+$/, 'is not a number'),
  GITHUB_RUN_ATTEMPT: z.string().default('1'),
  GITHUB_WORKFLOW: z.string().default(''),
  GITHUB_JOB: z.string().default(''),
  GITHUB_ACTION: z.string().default(''),
  GITHUB_WORKSPACE: z.string().min(1),
  GITHUB_STEP_SUMMARY: z.string().optional(),
  /** Another one on GitHub Enterprise Server. */
  GITHUB_API_URL: z.url().default('https://api.github.com'),
  GITHUB_SERVER_URL: z.url().default('https://github.com'),
  /** Where a job that may have a token asks for it. */
  ACTIONS_ID_TOKEN_REQUEST_URL: z.string().optional(),
});
export type ActionEnv = z.infer<typeof ActionEnv>;

export function readActionEnv(source: NodeJS.ProcessEnv = process.env): ActionEnv {
  const set = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ''));
  const parsed = ActionEnv.safeParse(set);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
  throw new Error(`this is no job of GitHub Actions: ${faults.join('; ')}`);
}
