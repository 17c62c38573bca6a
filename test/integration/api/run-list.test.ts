import type { RunView } from '../../../contracts/run.js';
import { type Api, registerWorld, startApi } from './server.js';

let api: Api;
/** Newest first. */
let ids: string[];
beforeAll(async () => {
  api = await startApi();
  await registerWorld(api);
  await api.send('POST', '/scorecards', { dataset: 'tasks', harness: 'echo', runtime: 'here' });
  const wanted = { dataset: 'tasks', caseId: 'case-1', harness: 'echo', runtime: 'here' };
  const replies = await Promise.all(Array.from({ length: 5 }, () => api.send('POST', '/runs', wanted)));
  ids = replies.map(({ body }): string => body.id).sort((a, b) => (a < b ? 1 : -1));
  await api.send('POST', `/runs/${ids[2]}/cancel`);
}, 60_000);
afterAll(() => api.close());

async function listed(query: string): Promise<{ ids: string[]; next: string | null }> {
  const { body } = await api.send('GET', `/runs?${query}`);
  return { ids: body.items.map(({ id }: RunView) => id), next: body.next };
}

test('single runs are listed newest first, page by page, without those of scorecards', async () => {
  const seen: string[] = [];
  const sizes: number[] = [];
  for (let cursor = ''; ; ) {
    const page = await listed(`limit=2${cursor}`);
    seen.push(...page.ids);
    sizes.push(page.ids.length);
    if (page.next === null) break;
    cursor = `&cursor=${page.next}`;
  }
  expect(seen).toEqual(ids);
  expect(sizes).toEqual([2, 2, 1]);
});

test('single runs are filtered by state, outcome and class', async () => {
  const cancelled = ids[2] ?? '';
  expect((await listed('outcome=cancelled')).ids).toEqual([cancelled]);
  expect((await listed('state=settled')).ids).toEqual([cancelled]);
  expect((await listed('state=queued&limit=3')).ids).toEqual(ids.filter((id) => id !== cancelled).slice(0, 3));
  expect((await listed('class=infra')).ids).toEqual([]);
});

test('a run tells its harness', async () => {
  expect((await api.send('GET', `/runs/${ids[0]}`)).body.harness).toBe('echo@1.0.0');
});

test.each([
  ['outcome=won', 'outcome'],
  ['scorecard=sc_1', 'scorecard'],
  ['cursor=nonsense', 'cursor'],
])('%s is refused by its name', async (query, name) => {
  const { status, body } = await api.send('GET', `/runs?${query}`);
  expect([status, body.detail]).toEqual([400, expect.stringContaining(name)]);
});
