import { aScorecard, everdict } from '../test/cli-fakes.js';

const pinned = { name: 'release', scorecard: 'sc_1', pinnedBy: 'key:1', pinnedAt: '2026-01-01T00:00:00.000Z' };

describe('baseline', () => {
  test('pin gives a scorecard a name', async () => {
    const { out, asked } = await everdict(['baseline', 'pin', 'release', 'sc_1'], () => ({ body: pinned }));
    expect(out).toBe('release is sc_1\n');
    expect(asked[0]).toMatchObject({ method: 'PUT', path: '/baselines/release', body: '{"scorecard":"sc_1"}' });
  });

  test('list shows what is pinned, and unpin takes it back', async () => {
    const { out } = await everdict(['baseline', 'list'], () => ({ body: { items: [pinned], next: null } }));
    expect(out).toMatch(/release +sc_1 +2026-01-01T00:00:00 +key:1/);
    const { asked } = await everdict(['baseline', 'unpin', 'release'], () => ({ body: pinned }));
    expect(asked[0]).toMatchObject({ method: 'DELETE', path: '/baselines/release' });
  });
});

describe('scorecard list', () => {
  test('passes on what is looked for', async () => {
    const words = ['--status', 'completed', '--dataset', 'tasks', '--retry-of', 'sc_0', '--metadata', 'branch=main'];
    const { out, asked } = await everdict(['scorecard', 'list', ...words, '--metadata', 'pr=7'], ({ query }) => ({
      body: { items: query.metadata === 'pr=7' ? [aScorecard()] : [], next: null },
    }));
    expect(asked[0]?.query).toMatchObject({ status: 'completed', dataset: 'tasks', retryOf: 'sc_0' });
    expect(out).toContain('sc_1');
  });

  test('says that nothing fits', async () => {
    const none = () => ({ body: { items: [], next: null } });
    expect((await everdict(['scorecard', 'list', '--status', 'paused'], none)).out).toBe('no such scorecard\n');
    expect((await everdict(['scorecard', 'list'], none)).out).toBe('no scorecards yet\n');
    expect((await everdict(['scorecard', 'list', '--status', 'done'], none)).exitCode).toBe(3);
  });
});
