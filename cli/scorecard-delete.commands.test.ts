import { aScorecard, everdict, problem, unused } from '../test/cli-fakes.js';

const deleted = { id: 'sc_1', deletedAt: '2026-01-01T00:00:00Z', deletedBy: 'key:1', purgeAt: '2026-01-08T00:00:00Z' };

test('scorecard delete says until when it can be restored', async () => {
  const { out, err, asked } = await everdict(['scorecard', 'delete', 'sc_1'], () => ({ body: deleted }));
  expect(asked[0]).toMatchObject({ method: 'DELETE', path: '/scorecards/sc_1' });
  expect(out).toBe('sc_1 is deleted\n');
  expect(err).toContain('until 2026-01-08T00:00:00Z: npx everdict scorecard restore sc_1');
});

test('scorecard delete passes on why it stays', async () => {
  const detail = 'sc_1 is pinned as release: unpin it first (DELETE /baselines/release)';
  const { err, exitCode } = await everdict(['scorecard', 'delete', 'sc_1', '--yes'], () =>
    problem(409, { code: 'CONFLICT', detail }),
  );
  expect([exitCode, err]).toEqual([3, expect.stringContaining(detail)]);
});

test('scorecard restore brings it back', async () => {
  const { out, asked } = await everdict(['scorecard', 'restore', 'sc_1'], () => ({ body: aScorecard() }));
  expect([out, asked[0]?.path]).toEqual(['sc_1 is back: completed\n', '/scorecards/sc_1/restore']);
});

test('retention is shown and set, and needs both', async () => {
  const kept = { resultsDays: 365, logsDays: null, graceDays: 7 };
  const { out, asked } = await everdict(['retention', 'set', '--results', '365', '--logs', 'ever'], () => ({
    body: kept,
  }));
  expect(asked[0]).toMatchObject({ method: 'PUT', path: '/retention', body: '{"resultsDays":365,"logsDays":null}' });
  expect(out).toBe('results are kept for 365 days, and restorable for 7 more\nlogs are kept as long as results\n');
  expect((await everdict(['retention', 'show'], () => ({ body: kept }))).out).toBe(out);
  const { err, exitCode } = await everdict(['retention', 'set', '--results', '365'], unused);
  expect([exitCode, err]).toEqual([3, expect.stringContaining('--logs')]);
});
