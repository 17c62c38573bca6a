import { compare } from '../policy/comparison/compare.js';
import { trialReport } from '../policy/trials.js';
import { aScore } from '../test/builders.js';
import { aScorecard, everdict, problem } from '../test/cli-fakes.js';
import { aResult, aSide } from '../test/results.js';

const failed = { outcome: 'failed', reason: 'no \u001b[31mred', scores: [aScore({ passed: false })] } as const;
const comparison = compare(
  aSide([aResult('a', { scores: [aScore()], durationMs: 1_000 }), aResult('b'), aResult('gone')], { id: 'sc_old' }),
  aSide([aResult('a', { ...failed, durationMs: 3_000 }), aResult('b')], { id: 'sc_new' }),
  { on: 'all', limit: 20 },
);
const diff = ['scorecard', 'diff', 'main', 'sc_new'];

describe('scorecard diff', () => {
  test('asks for both, and tells what changed, the worst first', async () => {
    const { asked, out, exitCode } = await everdict(diff, () => ({ body: comparison }));
    expect(asked.map(({ path, query }) => [path, query])).toEqual([
      ['/scorecards/diff', { baseline: 'main', candidate: 'sc_new', limit: '20' }],
    ]);
    expect(out).toContain('sc_new (tasks@1.0.0 × solver@1.0.0) against sc_old\n');
    expect(out).toMatch(/Regressions \(1\)\ncase .*\na +passed +failed +no red\n/);
    expect(out).toMatch(/missing +gone +passed +–/);
    expect(out).toContain('Over 2 cases: 1 regressed, 0 fixed; difference of the pass rates −50.0 points');
    expect(out).toContain('exact McNemar p = 1.00.');
    expect(out).toMatch(/equals +100\.0 % of 1 .* 1 +0\n/);
    expect(out).toMatch(/time +1 +1\.0 s +3\.0 s +\+2\.0 s/);
    expect(out).not.toContain('\u001b');
    expect(exitCode).toBe(0);
  });

  test('of two of the same says so without tables of nothing', async () => {
    const side = aSide([aResult('a', { scores: [aScore()] })]);
    const { out } = await everdict(diff, () => ({ body: compare(side, side, { on: 'all', limit: 20 }) }));
    expect(out).toMatch(/unchanged +as before +1\n/);
    expect(out).not.toMatch(/Regressions|Graders|tokens/);
  });

  test('says how to see the changes that it leaves out', async () => {
    const { out } = await everdict([...diff, '--limit', '1'], () => ({ body: { ...comparison, hasMore: true } }));
    expect(out).toContain('more: the same command with a higher --limit\n');
  });

  test('asks for the intersection, and prints all of it as JSON', async () => {
    const answer = { ...comparison, novelty: 1, test: { ...comparison.test, novelty: 2 } };
    const words = [...diff, '--on', 'intersection', '--limit', '3', '--json'];
    const { asked, out } = await everdict(words, () => ({ body: answer }));
    expect(asked[0]?.query).toEqual({ baseline: 'main', candidate: 'sc_new', on: 'intersection', limit: '3' });
    expect(JSON.parse(out)).toEqual(answer);
  });

  test('ends with 3 where the two cannot be compared, and says why', async () => {
    const detail = 'sc_old and sc_new cannot be compared: trials: one has 1, the other 2. `on=intersection` compares';
    const errors = [{ path: 'trials', message: 'one has 1, the other 2' }];
    const { err, exitCode } = await everdict(diff, () => problem(409, { code: 'NOT_COMPARABLE', detail, errors }));
    expect(err).toMatch(
      /^error: sc_old and sc_new cannot be compared \(NOT_COMPARABLE\)\n {2}trials: one has 1, the other 2\nnext: .*--on intersection/,
    );
    expect(exitCode).toBe(3);
  });
});

describe('trials of a scorecard', () => {
  const results = [true, false].flatMap((passed, at) => [
    aResult('flaky', { trial: at + 1, outcome: passed ? 'passed' : 'failed' }),
    aResult('sure', { trial: at + 1 }),
  ]);
  const scorecard = aScorecard({ trials: 2, counts: { passed: 3, failed: 1 } });
  const answer = ({ path }: { path: string }) => {
    if (path.endsWith('/trials')) return { body: trialReport(results) };
    if (path.endsWith('/cases')) return { body: { items: [], next: null } };
    if (path.endsWith('/events')) return problem(404, { code: 'NOT_FOUND' });
    return { body: scorecard };
  };

  test.each([['trials'], ['show'], ['watch']])('are told by scorecard %s', async (verb) => {
    const { out } = await everdict(['scorecard', verb, 'sc_1'], answer);
    expect(out).toContain('2 cases with 2 trials each.\n');
    expect(out).toMatch(/pass@1 +75\.0 %/);
    expect(out).toMatch(/pass\^2 +50\.0 %/);
    expect(out).toContain('Flaky (1):\n  flaky: 1 passed, 1 failed\n');
  });

  test('are asked for only where there are several', async () => {
    const { asked } = await everdict(['scorecard', 'show', 'sc_1'], () => ({ body: aScorecard() }));
    expect(asked.map(({ path }) => path)).not.toContain('/scorecards/sc_1/trials');
  });
});
