import { FakeGithub } from '../test/fake-github.js';
import { putComment, whyNoComment } from './comment.js';
import { createGitHub } from './github.client.js';

const TOKEN = 'ghs_fake_token_of_a_job';
const PULL = { repository: 'acme/agent', number: 7 };

let fake: FakeGithub;
beforeEach(async () => {
  fake = await FakeGithub.start();
});
afterEach(() => fake.close());

const said: string[] = [];
const client = (token = TOKEN) =>
  createGitHub({ apiUrl: fake.url, token, pauseMs: 1, say: (message) => void said.push(message) });
const put = (text: string, key = 'evals') => putComment(client(), PULL, key, text);
const bodies = () => fake.comments.map(({ body }) => body.split('\n').slice(1).join('\n'));

test('the first text is a comment, the next ones are edits of it, and it links there', async () => {
  const url = await put('first');
  expect(await put('second')).toBe(url);
  expect(url).toMatch(/#issuecomment-1000$/);
  expect(bodies()).toEqual(['second']);
});

test('several uses on one pull request have a comment each', async () => {
  await put('small', 'evals/small --> <b>');
  await put('large', 'evals/large');
  await put('small again', 'evals/small --> <b>');
  expect(bodies()).toEqual(['small again', 'large']);
  expect(fake.comments[0]?.body).toMatch(/^<!-- everdict [0-9a-f]{32} -->\n/);
});

test('its own comment is found behind pages of others, and a forged one is left alone', async () => {
  await put('own');
  const marker = fake.comments[0]?.body.split('\n')[0] ?? '';
  fake.comments.splice(0);
  for (let n = 0; n < 205; n += 1) fake.addComment(7, 'ada', `talk ${n}`);
  const forged = fake.addComment(7, 'mallory', `${marker}\nall passed`);
  const quoting = fake.addComment(7, 'github-actions[bot]', `another bot quotes ${marker}`);
  const own = fake.addComment(7, 'github-actions[bot]', `${marker}\nold`);
  await put('new');
  expect(own.body).toBe(`${marker}\nnew`);
  expect([forged.body, quoting.body]).toEqual([`${marker}\nall passed`, `another bot quotes ${marker}`]);
  expect(fake.calls.filter((call) => call.startsWith('GET /repos'))).toHaveLength(1 + 3);
});

test('errors of the server pass, and a comment that was made all the same is not made twice', async () => {
  fake.failures.push({ match: /^GET \/repos/, status: 502 });
  await put('first');
  expect(bodies()).toEqual(['first']);

  fake.comments.splice(0);
  fake.failures.push({ match: /^POST \/repos/, status: 502 });
  await put('second');
  expect(bodies()).toEqual(['second']);
  expect(fake.calls.filter((call) => call.startsWith('POST /repos'))).toHaveLength(3);
});

test.each([
  ['a secondary limit', 403, { 'retry-after': '2' }],
  ['one that says no time', 403, {}],
  ['the limit of an hour that is nearly over', 429, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' }],
])('%s is waited for', async (_what, status, headers) => {
  fake.failures.push({ match: /^POST \/repos/, status, headers, message: 'You have exceeded a secondary rate limit' });
  await put('first');
  expect(bodies()).toEqual(['first']);
  expect(said.at(-1)).toMatch(/enough of this token/);
});

test('a limit that lasts is not waited for', async () => {
  fake.failures.push({ match: /^POST \/repos/, status: 429, headers: { 'retry-after': '600' } });
  await expect(put('first')).rejects.toMatchObject({ status: 429 });
});

test('a token that may not comment is told what is missing, and is not tried again', async () => {
  fake.canComment = false;
  const error = await put('first').catch((reason: unknown) => reason);
  expect(whyNoComment(error)).toMatch(/pull-requests: write/);
  expect(fake.calls.filter((call) => call.startsWith('POST /repos'))).toHaveLength(1);
  expect(whyNoComment(await putComment(client('other'), PULL, 'k', 'x').catch((reason: unknown) => reason))).toBe(
    'GitHub answered 401',
  );
});
