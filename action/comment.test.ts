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

const LIMITED = 'You have exceeded a secondary rate limit';
const inSec = (seconds: number) => new Date(Date.now() + seconds * 1_000);
const epochIn = (seconds: number) => String(Math.floor(inSec(seconds).getTime() / 1_000));

test.each([
  ['a secondary limit', 403, { 'retry-after': '2' }, LIMITED, /for 2 s/],
  ['one that lasts until a date', 429, { 'retry-after': inSec(55).toUTCString() }, LIMITED, /for [1-5]\d s/],
  ['one that lasts until nobody knows', 429, { 'retry-after': 'soon' }, LIMITED, /for 60 s/],
  ['one of a date that is over', 429, { 'retry-after': inSec(-600).toUTCString() }, LIMITED, /for 1 s/],
  ['one that says no time', 403, {}, LIMITED, /for 60 s/],
  ['one that says nothing but 429', 429, {}, 'failed', /for 60 s/],
  [
    'the limit of an hour that is nearly over',
    403,
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' },
    'failed',
    /for 1 s/,
  ],
  ['one that does not say when it is over', 403, { 'x-ratelimit-remaining': '0' }, 'failed', /for 60 s/],
])('%s is waited for', async (_what, status, headers, message, wait) => {
  fake.failures.push({ match: /^POST \/repos/, status, headers, message });
  await put('first');
  expect(bodies()).toEqual(['first']);
  expect(said.at(-1)).toMatch(wait);
});

test.each([
  ['a secondary limit', 429, { 'retry-after': '600' }, /for 600 s \(429\)/],
  ['one until a date', 403, { 'retry-after': inSec(900).toUTCString() }, /for [789]\d\d s \(403\)/],
  [
    'the limit of an hour',
    403,
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': epochIn(1_800) },
    /for 1[78]\d\d s \(403\)/,
  ],
])('%s that lasts is not waited for, and is said to be the cause', async (_what, status, headers, why) => {
  fake.failures.push({ match: /^POST \/repos/, status, headers });
  const error = await put('first').catch((reason: unknown) => reason);
  expect(whyNoComment(error)).toMatch(why);
  expect(whyNoComment(error)).not.toMatch(/permissions/);
  expect(fake.calls.filter((call) => call.startsWith('POST /repos'))).toHaveLength(1);
});

test('a limit that does not end is waited for some times only', async () => {
  const failure = { match: /^POST \/repos/, status: 429 };
  fake.failures.push(failure, failure, failure, failure, failure);
  expect(whyNoComment(await put('first').catch((reason: unknown) => reason))).toMatch(/for 60 s \(429\)/);
  expect(fake.calls.filter((call) => call.startsWith('POST /repos'))).toHaveLength(4);
});

test('a token that may not comment is told what is missing, and is not tried again', async () => {
  fake.canComment = false;
  const error = await put('first').catch((reason: unknown) => reason);
  expect(whyNoComment(error)).toMatch(/pull-requests: write/);
  expect(fake.calls.filter((call) => call.startsWith('POST /repos'))).toHaveLength(1);
  expect(whyNoComment(await putComment(client('other'), PULL, 'k', 'x').catch((reason: unknown) => reason))).toMatch(
    /401.*github-token/,
  );
});
