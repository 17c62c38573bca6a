import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Answer, aRun, aScorecard, everdict, problem, unused } from '../test/cli-fakes.js';

describe('scorecard run', () => {
  const submit = ['scorecard', 'run', '--dataset', 'tasks', '--harness', 'solver@2', '--runtime', 'desk'];

  /** Accepts the scorecard, then shows it in these states, the last one for ever. */
  const plays =
    (...states: ReturnType<typeof aScorecard>[]) =>
    ({ method, path: at, query }: { method: string; path: string; query: Record<string, string> }): Answer => {
      if (method === 'POST')
        return {
          status: 202,
          body: { id: 'sc_1', status: 'queued', cases: 2, links: {}, warnings: ['harness h@1 is deprecated'] },
        };
      if (at.endsWith('/events')) return problem(404, { code: 'NOT_FOUND' });
      if (at.endsWith('/cases')) return { body: { items: query.outcome === 'failed' ? [aRun()] : [], next: null } };
      return { body: states.length > 1 ? states.shift() : states[0] };
    };

  test('submits what was asked for and nothing else', async () => {
    const words = [...submit, '--case', 'a/b', '--case', 'c', '--tag', 'text', '--limit', '5', '--trials', '2'];
    words.push(
      '--param',
      'STYLE=a=b',
      '--metadata',
      'sha=1',
      '--metadata',
      'branch=main',
      '--idempotency-key',
      'k',
      '--no-wait',
    );
    const { asked, out, err } = await everdict(words, plays(aScorecard()));
    expect(err).toBe('note: harness h@1 is deprecated\n');
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
      dataset: 'tasks',
      harness: 'solver@2',
      runtime: 'desk',
      trials: 2,
      params: { STYLE: 'a=b' },
      metadata: { sha: '1', branch: 'main' },
      cases: { ids: ['a/b', 'c'], tags: ['text'], limit: 5 },
    });
    expect(asked[0]?.headers['idempotency-key']).toBe('k');
    expect(out).toBe('sc_1 submitted: 2 cases\nnext: npx everdict scorecard watch sc_1\n');
  });

  test('asks for an early end by a policy, or by the rules in a file', async () => {
    const words = [...submit, '--no-wait', '--early-stop', 'release@1', '--baseline', 'nightly', '--error-rate', '0.1'];
    const { asked } = await everdict([...words, '--min-cases', '5'], plays(aScorecard()));
    expect(JSON.parse(asked[0]?.body ?? '').earlyStop).toEqual({
      ...{ policy: 'release@1', baseline: 'nightly', errorRate: 0.1, minCases: 5 },
    });
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'everdict-')), 'rules.json');
    writeFileSync(file, '{"minPassRate": 0.9}');
    const other = await everdict([...submit, '--no-wait', '--early-stop', file], plays(aScorecard()));
    expect(JSON.parse(other.asked[0]?.body ?? '').earlyStop).toEqual({
      policy: { minPassRate: 0.9, minCoverage: 1, maxInfraShare: 1, rerolls: 'infra' },
    });
  });

  test.each([
    [['--baseline', 'nightly'], '--baseline goes with --early-stop <policy>'],
    [['--early-stop', 'release', '--error-rate', '2'], 'it is a number from 0 to 1'],
  ])('refuses %j', async (words, message) => {
    const { err, exitCode } = await everdict([...submit, ...words], unused);
    expect(err).toContain(message);
    expect(exitCode).toBe(3);
  });

  test('waits, reports, and ends with the verdict', async () => {
    const running = aScorecard({ status: 'running', finishedAt: null, counts: { running: 2 } });
    const { out, err, exitCode } = await everdict(
      submit,
      plays(running, aScorecard({ counts: { passed: 1, failed: 1 } })),
    );
    expect(err).toContain('running 2');
    expect(out).toContain('1 passed, 1 failed, 0 errored, 0 cancelled');
    expect(out).toMatch(/math\/sum {2}failed {3}expected 4/);
    expect(exitCode).toBe(1);
  });

  test('with --json prints the scorecard and nothing else on stdout', async () => {
    const done = aScorecard({ counts: { passed: 2 }, novelty: 1 });
    const { out, exitCode } = await everdict([...submit, '--json'], plays(done));
    expect(JSON.parse(out)).toEqual(done);
    expect(exitCode).toBe(0);
  });

  test('repeats a submission that broke on the way under the same key', async () => {
    const answer = plays(aScorecard({ counts: { passed: 1 } }));
    const { asked, exitCode } = await everdict(submit, (one, calls) => (calls === 1 ? 'drop' : answer(one)));
    const keys = asked.filter(({ method }) => method === 'POST').map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
    expect(exitCode).toBe(0);
  });
});

describe('scorecard stragglers', () => {
  const straggler = {
    ...{ run: 7, id: 'sc_1.7', caseId: 'math/sum', trial: 1, runtime: 'desk@1', phase: 'running', attempt: 2 },
    ...{ since: '2026-01-01T00:00:00.000Z', ageMs: 65_000, timeoutSec: 100, leftMs: 35_000, timesMedian: 6.5 },
  };
  const waiting = { ...straggler, run: 9, phase: 'waiting', attempt: 0, leftMs: null, timesMedian: null };

  test('are listed with their age, what is left to them, and how they compare', async () => {
    const answer = () => ({ body: { medianMs: 10_000, queued: 3, items: [straggler, waiting] } });
    const { out } = await everdict(['scorecard', 'stragglers', 'sc_1'], answer);
    expect(out).toMatch(/ 7 {2}math\/sum {2}running +2 {2}1:05 +0:35 +6\.5 ×/);
    expect(out).toMatch(/ 9 {2}math\/sum {2}waiting +0 {2}1:05 +– +–/);
    expect(out).toContain('finished ones took 10.0 s (median); 3 more do not wait for a slot yet');
  });

  test('of a finished scorecard are none', async () => {
    const answer = () => ({ body: { medianMs: 10, queued: 0, items: [] } });
    expect((await everdict(['scorecard', 'stragglers', 'sc_1'], answer)).out).toBe('nothing runs or waits\n');
  });
});

describe('scorecard cases', () => {
  test('that did not pass are gathered from all three outcomes', async () => {
    const { out } = await everdict(['scorecard', 'cases', 'sc_1', '--not-passed', '--json'], ({ query }) => ({
      body: { items: [aRun({ outcome: query.outcome, id: `sc_1.${query.outcome}` })], next: null },
    }));
    const { items } = JSON.parse(out) as { items: { outcome: string }[] };
    expect(items.map(({ outcome }) => outcome)).toEqual(['failed', 'errored', 'cancelled']);
  });
});

describe('settling a case', () => {
  const settle = ['scorecard', 'settle', 'sc_1', 'suite/größe 1', '--outcome', 'failed', '--reason', 'it hangs'];

  test('names the case whatever is in its id, and says how it ended and by whom', async () => {
    const body = aRun({ caseId: 'suite/größe 1', decidedBy: 'local' });
    const { asked, out } = await everdict(settle, () => ({ status: 200, body }));
    const path = `/scorecards/sc_1/cases/${encodeURIComponent('suite/größe 1')}/settle`;
    expect(asked).toMatchObject([{ method: 'POST', path, body: '{"outcome":"failed","reason":"it hangs"}' }]);
    expect(out).toBe('sc_1.7 (suite/größe 1) is failed (operator)\n');
  });

  test.each([
    ['without a reason', settle.slice(0, -2)],
    ['with an outcome that does not exist', [...settle, '--outcome', 'won']],
  ])('%s is refused without asking the platform', async (_title, words) => {
    const { exitCode, asked } = await everdict(words, unused);
    expect([exitCode, asked.length]).toEqual([3, 0]);
  });

  test('that ended otherwise is refused, with both outcomes', async () => {
    const conflict = problem(409, { code: 'CONFLICT', detail: 'sc_1.7 is passed already, by its result' });
    const { err, exitCode } = await everdict(settle, () => conflict);
    expect(err).toContain('sc_1.7 is passed already, by its result');
    expect(exitCode).toBe(3);
  });
});

describe('pausing a scorecard', () => {
  const paused = aScorecard({ status: 'paused', finishedAt: null, pauseReason: 'the image\u001b[2J is rebuilt' });

  test('says why, and how to go on', async () => {
    const words = ['scorecard', 'pause', 'sc_1', '--reason', 'the image is rebuilt'];
    const { asked, out } = await everdict(words, () => ({ body: paused }));
    expect(asked).toMatchObject([{ path: '/scorecards/sc_1/pause', body: '{"reason":"the image is rebuilt"}' }]);
    expect(out).toMatch(/^sc_1 is paused: the image.* is rebuilt\nnext: npx everdict scorecard resume sc_1\n$/);
    expect(out).not.toContain('\u001b');
    const { out: shown } = await everdict(['scorecard', 'show', 'sc_1'], () => ({ body: paused }));
    expect(shown).toContain(': paused\npaused: the image');
  });

  test('is undone by resume', async () => {
    const body = aScorecard({ status: 'running', finishedAt: null });
    const { asked, out } = await everdict(['scorecard', 'resume', 'sc_1'], () => ({ body }));
    expect(asked).toMatchObject([{ method: 'POST', path: '/scorecards/sc_1/resume' }]);
    expect(out).toContain('sc_1 is running');
  });
});

test('`scorecard show` and `run show` end with the link to the workflow, where the platform knows the UI', async () => {
  const whoAmI = {
    ...{ subject: 'dev', mode: 'dev', scope: 'admin', isOperator: true, workspace: 'default', role: null },
    ...{ workspaces: [], expiresAt: null, temporalUi: 'http://ui.test/namespaces/default/workflows/' },
  };
  const answer =
    (body: unknown) =>
    ({ path: at }: { path: string }) => ({ body: at === '/whoami' ? whoAmI : body });
  const scorecard = await everdict(['scorecard', 'show', 'sc_1'], answer(aScorecard()));
  expect(scorecard.out).toMatch(
    /\nin Temporal: http:\/\/ui\.test\/namespaces\/default\/workflows\/scorecard%3Asc_1\n$/,
  );
  const run = await everdict(['run', 'show', 'sc_1.7'], answer(aRun({ carriedFrom: 'sc_0.7' })));
  expect(run.out).toMatch(/\nin Temporal: .*\/case%3Asc_0\.7\n$/);
});
