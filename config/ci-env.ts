import { z } from 'zod';

const text = z.string().optional();

/** What CI systems tell a job about what it is for. */
export const CiEnv = z.object({
  /** Of a workflow that may have a token of its own. */
  ACTIONS_ID_TOKEN_REQUEST_URL: text,
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: text,
  GITHUB_ACTIONS: text,
  GITHUB_STEP_SUMMARY: text,
  GITHUB_REPOSITORY: text,
  GITHUB_SERVER_URL: text,
  GITHUB_SHA: text,
  /** Of a pull request: `refs/pull/12/merge`. */
  GITHUB_REF: text,
  GITHUB_REF_NAME: text,
  GITHUB_HEAD_REF: text,
  GITHUB_RUN_ID: text,
  GITLAB_CI: text,
  CI_PROJECT_PATH: text,
  CI_COMMIT_SHA: text,
  CI_COMMIT_REF_NAME: text,
  CI_MERGE_REQUEST_IID: text,
  CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: text,
  CI_JOB_URL: text,
  JENKINS_URL: text,
  GIT_COMMIT: text,
  BRANCH_NAME: text,
  /** Of a pull request, with its own branch. */
  CHANGE_ID: text,
  CHANGE_BRANCH: text,
  BUILD_URL: text,
});
