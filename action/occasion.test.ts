import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readActionEnv } from '../config/action-env.js';
import { FakeGithub, pullRequestEvent } from '../test/fake-github.js';
import { metadataOf, occasionOf } from './occasion.js';

const dir = mkdtempSync(path.join(tmpdir(), 'everdict-action-'));
let github: FakeGithub;
beforeAll(async () => {
  github = await FakeGithub.start();
});
afterAll(async () => {
  await github.close();
  rmSync(dir, { recursive: true });
});

const repository = { full_name: 'acme/agent', default_branch: 'trunk' };
const merge_group = {
  head_sha: 'c0ffee',
  head_ref: 'refs/heads/gh-readonly-queue/main/pr-7',
  base_ref: 'refs/heads/main',
};

test.each([
  ['a pull request', pullRequestEvent(), { sha: 'a'.repeat(40), branch: 'a-branch', baseBranch: 'main', pr: 7 }],
  ['one of a fork', pullRequestEvent({ fork: true, ref: 'main' }), { branch: 'stranger:main', isFork: true, pr: 7 }],
  [
    'a merge group',
    { merge_group, repository },
    { sha: 'c0ffee', branch: 'gh-readonly-queue/main/pr-7', baseBranch: 'main' },
  ],
  ['a push', { repository }, { sha: 'e'.repeat(40), branch: 'feature/x', baseBranch: 'trunk', pr: undefined }],
  ['a run by hand', { inputs: {} }, { branch: 'feature/x', baseBranch: undefined, isFork: false }],
])('%s says which commit, which branch, and what it is compared with', (_what, event, occasion) => {
  const env = readActionEnv(github.job(dir, { event, refName: 'feature/x' }));
  expect(occasionOf(env)).toMatchObject(occasion);
});

test('a scorecard tells where it comes from, in values the platform takes', () => {
  const env = readActionEnv(github.job(dir, { event: pullRequestEvent() }));
  const metadata = metadataOf(env, occasionOf(env), 'k'.repeat(2_000));
  expect(metadata).toMatchObject({ pr: '7', branch: 'a-branch', repository: 'acme/agent', run: '100', attempt: '1' });
  expect(metadata.url).toBe('https://github.example/acme/agent/actions/runs/100');
  expect(metadata.key).toHaveLength(1_024);
});

test('outside of a job it says what is missing', () => {
  expect(() => readActionEnv({ GITHUB_REPOSITORY: 'nobody' })).toThrow(
    /no job of GitHub Actions: GITHUB_REPOSITORY is not/,
  );
});
