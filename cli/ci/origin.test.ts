import { readCliEnv } from '../../config/cli-env.js';
import { originOf } from './origin.js';

test.each([
  [
    'GitHub, of a push',
    {
      GITHUB_ACTIONS: 'true',
      GITHUB_SHA: 'a1',
      GITHUB_REF: 'refs/heads/main',
      GITHUB_REF_NAME: 'main',
      GITHUB_HEAD_REF: '',
    },
    { sha: 'a1', branch: 'main' },
  ],
  [
    'GitLab, of a merge request',
    {
      ...{ GITLAB_CI: 'true', CI_COMMIT_SHA: 'a1', CI_COMMIT_REF_NAME: 'x', CI_MERGE_REQUEST_IID: '4' },
      ...{ CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'fix', CI_PROJECT_PATH: 'acme/agent', CI_JOB_URL: 'https://g/1' },
    },
    { sha: 'a1', branch: 'fix', pr: '4', repository: 'acme/agent', url: 'https://g/1' },
  ],
  [
    'Jenkins, of a change',
    {
      JENKINS_URL: 'https://j',
      GIT_COMMIT: 'a1',
      BRANCH_NAME: 'PR-4',
      CHANGE_BRANCH: 'fix',
      CHANGE_ID: '4',
      BUILD_URL: 'https://j/1',
    },
    { sha: 'a1', branch: 'fix', pr: '4', url: 'https://j/1' },
  ],
  ['nobody', { GIT_COMMIT: 'a1', GITHUB_SHA: 'a1' }, {}],
])('what is known of a job on %s', (_where, variables, want) => {
  expect(originOf(readCliEnv(variables))).toEqual(want);
});
