import { isOurs, metaOf } from './nomad.job.js';

const owner = {
  deployment: 'lab',
  workspaceId: 'default',
  scorecardId: 'sc_1',
  runId: 'run_01',
  caseId: 'case-1',
  attempt: 2,
  expiresAt: Date.UTC(2026, 0, 2),
};

test.each([
  ['the same', {}, true],
  ['another try of it, later', { expiresAt: owner.expiresAt + 1 }, true],
  ['another attempt', { attempt: 3 }, false],
  ['another run', { runId: 'run_02' }, false],
  ['another workspace', { workspaceId: 'other' }, false],
  ['another deployment', { deployment: 'prod' }, false],
])('%s: ours %s', (_, parts, want) => {
  expect(isOurs(metaOf({ ...owner, ...parts }), owner)).toBe(want);
});

test.each([[null], [undefined], [{}], [{ run: 'run_01' }]])('a job with meta %j is not ours', (meta) => {
  expect(isOurs(meta, owner)).toBe(false);
});

test('a run without a scorecard has none in its meta', () => {
  expect(metaOf({ ...owner, scorecardId: undefined })).not.toHaveProperty('scorecard');
});
