import { cases, idsIn, line, uploadTo } from '../dataset-upload.js';
import { type Api, rowCounts, startApi } from '../integration/api/server.js';

let api: Api;
beforeAll(async () => {
  api = await startApi({ env: { EVERDICT_UPLOAD_MB: '32' } });
}, 60_000);
afterAll(() => api.close());

test('a dataset of 100,000 cases comes back as it was sent', async () => {
  const { status, body } = await uploadTo(api.url, 'most', cases(100_000));
  expect([status, body.caseCount]).toEqual([201, 100_000]);
  const ids = idsIn(await (await fetch(`${api.url}/datasets/most/versions/1/cases.jsonl`)).text());
  expect([ids.length, ids[0], ids[99_999]]).toEqual([100_000, 'case-0', 'case-99999']);
}, 180_000);

test('a dataset with more cases than one may have is refused naming the place, and leaves nothing', async () => {
  const before = await rowCounts(api);
  const { status, body } = await uploadTo(api.url, 'faulty', [...cases(100_000), '\n', line('one-more')]);
  expect([status, body.errors[0].path]).toEqual([400, 'line 100002']);
  expect(body.errors[0].message).toContain('"one-more" is case number 100001; the limit is 100000');
  expect(await rowCounts(api)).toEqual(before);
}, 180_000);
