import type { CliEnv } from '../../config/cli-env.js';

type Entries = Record<string, string | undefined>;

/** What a scorecard keeps of the CI job that submitted it: `sha`, `branch`, `pr`, `repository` and `url`, as far as they are told. */
export function originOf(env: CliEnv): Record<string, string> {
  const told = [github, gitlab, jenkins].map((read) => read(env)).find((entries) => entries !== undefined) ?? {};
  const known = Object.entries(told).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return Object.fromEntries(known.map(([name, value]) => [name, value.slice(0, 1_024)]));
}

function github(env: CliEnv): Entries | undefined {
  if (!env.GITHUB_ACTIONS) return undefined;
  const { GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run, GITHUB_SERVER_URL: server = 'https://github.com' } = env;
  return {
    sha: env.GITHUB_SHA,
    branch: env.GITHUB_HEAD_REF ?? env.GITHUB_REF_NAME,
    pr: /^refs\/pull\/(\d+)\//.exec(env.GITHUB_REF ?? '')?.[1],
    // Its names are the same in any case.
    repository: repository?.toLowerCase(),
    url: repository && run && `${server}/${repository}/actions/runs/${run}`,
  };
}

function gitlab(env: CliEnv): Entries | undefined {
  if (!env.GITLAB_CI) return undefined;
  return {
    sha: env.CI_COMMIT_SHA,
    branch: env.CI_MERGE_REQUEST_SOURCE_BRANCH_NAME ?? env.CI_COMMIT_REF_NAME,
    pr: env.CI_MERGE_REQUEST_IID,
    repository: env.CI_PROJECT_PATH,
    url: env.CI_JOB_URL,
  };
}

function jenkins(env: CliEnv): Entries | undefined {
  if (!env.JENKINS_URL) return undefined;
  return {
    sha: env.GIT_COMMIT,
    branch: env.CHANGE_BRANCH ?? env.BRANCH_NAME,
    pr: env.CHANGE_ID,
    url: env.BUILD_URL,
  };
}
