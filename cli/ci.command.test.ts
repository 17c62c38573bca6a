import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { GateVerdict } from '../contracts/gate.js';
import {
  type Answer,
  type Asked,
  aPlatform,
  aRun,
  aScorecard,
  aTerminal,
  everdict,
  problem,
} from '../test/cli-fakes.js';
import { aChange, aComparison, aGate, aGateSummary } from '../test/report-data.js';
import { runCommandLine } from './program.js';

const dir = mkdtempSync(path.join(tmpdir(), 'everdict-ci-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Of ids as the platform makes them, oldest first. */
const [OLD, OWN] = ['0', '1'].map((digit) => `sc_01k5q8zj3v000000000000000${digit}`);
const words = ['ci', '--dataset', 'tasks', '--harness', 'solver@2', '--runtime', 'desk'];
const done = aScorecard({ id: OWN, counts: { passed: 2 } });
const { counts, rates } = aScorecard();
const aReroll = {
  ...{ scorecard: 'sc_0', classes: ['infra'], retried: 1, decidedAgain: 0, by: null, at: '' },
  ...{ counts, rates },
};

interface Site {
  scorecard?: ReturnType<typeof aScorecard>;
  gate?: Answer;
  /** Of the branch, newest first. */
  ofBranch?: ReturnType<typeof aScorecard>[];
  /** What comes before everything else. */
  first?: (asked: Asked) => Answer | undefined;
}

/** A platform on which a submitted scorecard is over at once. */
const aSite =
  ({ scorecard = done, gate = { body: aGate('pass') }, ofBranch = [], first }: Site = {}) =>
  (asked: Asked): Answer => {
    const { method, path: at } = asked;
    const special = first?.(asked);
    if (special) return special;
    if (method === 'POST' && at === '/scorecards') {
      return { status: 202, body: { id: OWN, status: 'queued', cases: 2, links: {}, warnings: [] } };
    }
    if (at === '/scorecards/gate') return gate;
    if (at === '/scorecards/diff') return { body: aComparison([aChange('math/sum', 'regressed')]) };
    if (at === '/scorecards') return { body: { items: ofBranch, next: null } };
    if (at === '/policies/main/versions/latest')
      return { body: { id: 'main', version: '1', tags: [], minPassRate: 0.8 } };
    if (at === '/baselines/release')
      return { body: { name: 'release', scorecard: OLD, pinnedBy: 'ann', pinnedAt: '' } };
    if (at === `/scorecards/${OWN}/cases`) return { body: { items: [aRun({ id: `${OWN}.1` })], next: null } };
    if (at === `/scorecards/${OWN}` || at === `/scorecards/${OWN}/cancel`) return { body: scorecard };
    return problem(404, { code: 'NOT_FOUND', detail: `there is no ${at}` });
  };

const asked = (all: Asked[], method: string, at: string): Asked[] =>
  all.filter((one) => one.method === method && one.path === at);
const bodyOf = (all: Asked[], at: string) => JSON.parse(asked(all, 'POST', at)[0]?.body ?? 'null');

describe('everdict ci', () => {
  test.each<[GateVerdict, number]>([
    ['pass', 0],
    ['block', 1],
    ['blocked_missing', 2],
    ['not_comparable', 2],
    ['inconclusive', 2],
  ])('E11 ends as the gate says: %s is %d', async (verdict, code) => {
    const { exitCode, out } = await everdict(words, aSite({ gate: { body: aGate(verdict) } }));
    expect(exitCode).toBe(code);
    expect(out.trimEnd().split('\n').at(-1)).toBe(
      `Everdict: ${verdict === 'blocked_missing' ? 'blocked: results are missing' : verdict.replace('_', ' ')}`,
    );
  });

  test('E11 what somebody overrode counts', async () => {
    const override = { verdict: 'pass' as const, reason: 'known', by: 'ann', at: '' };
    const { exitCode, out } = await everdict(
      words,
      aSite({ gate: { body: aGate('block', { effective: 'pass', override }) } }),
    );
    expect(exitCode).toBe(0);
    expect(out).toContain('The rules say block; overridden by ann: known');
  });

  test.each<[string, string[], Answer | undefined, number]>([
    ['what the platform refuses', [], problem(400, { code: 'NO_RUNTIME_FITS', detail: 'no runtime fits' }), 3],
    [
      'a platform that is broken for longer than patience lasts',
      ['--patience', '3'],
      problem(503, { detail: 'no' }),
      4,
    ],
    ['a connection that drops each time', ['--patience', '3'], 'drop', 4],
  ])('E11 %s has a status of its own', async (_what, more, answer, code) => {
    expect((await everdict([...words, ...more], () => answer ?? 'drop')).exitCode).toBe(code);
  });

  test('submits once what was asked for, and lets the default rules judge it', async () => {
    const more = [
      '--trials',
      '2',
      '--case',
      'a',
      '--timeout',
      '2h',
      '--metadata',
      'sha=1',
      '--idempotency-key',
      'build-7',
    ];
    const { asked: all } = await everdict([...words, ...more], aSite());
    expect(bodyOf(all, '/scorecards')).toEqual({
      ...{ dataset: 'tasks', harness: 'solver@2', runtime: 'desk', trials: 2, deadlineSec: 7_200 },
      ...{ cases: { ids: ['a'] }, metadata: { sha: '1' } },
    });
    expect(asked(all, 'POST', '/scorecards')[0]?.headers['idempotency-key']).toBe('build-7');
    expect(bodyOf(all, '/scorecards/gate')).toMatchObject({ candidate: OWN, policy: { minPassRate: 1 } });
  });

  test('a gate whose answer was lost is asked again under the same key', async () => {
    let isLost = true;
    const first = ({ path: at }: Asked): Answer | undefined => {
      if (at !== '/scorecards/gate' || !isLost) return undefined;
      isLost = false;
      return 'drop';
    };
    const { exitCode, asked: all } = await everdict(words, aSite({ first }));
    const keys = asked(all, 'POST', '/scorecards/gate').map(({ headers }) => headers['idempotency-key']);
    expect([exitCode, keys]).toEqual([0, [expect.any(String), keys[0]]]);
  });

  test('a pinned baseline is found before anything runs, and both gate and comparison have it', async () => {
    const more = ['--baseline', 'release', '--policy', 'main', '--intersection', '--early-stop', '0.1'];
    const { asked: all, out, err } = await everdict([...words, ...more], aSite({ gate: { body: aGate('block') } }));
    const paths = all.map(({ path: at }) => at);
    expect(paths.indexOf('/baselines/release')).toBeLessThan(paths.indexOf('/scorecards'));
    expect(bodyOf(all, '/scorecards').earlyStop).toEqual({ policy: 'main@1', baseline: OLD, errorRate: 0.1 });
    const shared = { candidate: OWN, baseline: OLD, on: 'intersection' };
    expect(bodyOf(all, '/scorecards/gate')).toEqual({ ...shared, policy: 'main@1' });
    expect(asked(all, 'GET', '/scorecards/diff')[0]?.query).toMatchObject(shared);
    expect(out).toMatch(/Regressions \(1\)\n.*\nmath\/sum +passed +failed/);
    expect(err).toContain(`baseline: ${OLD} (release)`);
  });

  test('the baseline of a branch is its newest that no pull request made', async () => {
    const ofBranch = [
      aScorecard({ id: 'sc_fork', metadata: { branch: 'main', pr: '3' } }),
      aScorecard({ id: OLD, metadata: { branch: 'main' } }),
    ];
    const { asked: all, exitCode } = await everdict([...words, '--baseline-branch', 'main'], aSite({ ofBranch }));
    expect(asked(all, 'GET', '/scorecards')[0]?.query).toMatchObject({
      ...{ status: 'completed', stoppedEarly: 'false', dataset: 'tasks', harness: 'solver', metadata: 'branch=main' },
    });
    expect(bodyOf(all, '/scorecards/gate')).toMatchObject({ baseline: OLD, policy: { maxRegressions: 0 } });
    expect(exitCode).toBe(0);
  });

  test('the baseline of a branch is of the same repository and key, where they are known', async () => {
    const branch = ['--baseline-branch', 'main'];
    const env = { GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'Acme/Agent', GITHUB_REF: 'refs/pull/7/merge' };
    const entriesOf = async (more: string[], options = {}) =>
      asked((await everdict([...words, ...branch, ...more], aSite(), options)).asked, 'GET', '/scorecards')[0]?.entries;
    expect(await entriesOf([])).toEqual(['branch=main']);
    expect(await entriesOf([], { env })).toEqual(['branch=main', 'repository=acme/agent']);
    const matrix = await entriesOf(['--metadata', 'key=big', '--metadata', 'model=x'], { env });
    expect(matrix).toEqual(['branch=main', 'repository=acme/agent', 'key=big']);
  });

  test('where none of the repository is there, the baseline of a branch is one that names no repository', async () => {
    const env = { GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'acme/agent', GITHUB_REF: 'refs/pull/7/merge' };
    const others = [
      aScorecard({ id: 'sc_2', metadata: { branch: 'main', repository: 'acme/other' } }),
      aScorecard({ id: OLD, metadata: { branch: 'main' } }),
    ];
    const site = aSite({ ofBranch: others });
    const ofNone = (call: Asked) => !call.entries.some((entry) => entry.startsWith('repository='));
    const { asked: all } = await everdict(
      [...words, '--baseline-branch', 'main'],
      (call) =>
        call.method === 'GET' && call.path === '/scorecards' && !ofNone(call)
          ? { body: { items: [], next: null } }
          : site(call),
      { env },
    );
    expect(bodyOf(all, '/scorecards/gate')).toMatchObject({ baseline: OLD });
  });

  test.each([
    ['judged anew by other graders', { regradeOf: 'sc_0' }],
    ['cancelled in part', { counts: { passed: 3, cancelled: 1 } }],
    ['run again where it had failed', { retryOf: 'sc_0', rerolls: [{ ...aReroll, decidedAgain: 1 }] }],
  ])('the baseline of a branch is none that was %s', async (_how, parts) => {
    const ofBranch = [aScorecard({ id: 'sc_2', ...parts }), aScorecard({ id: OLD, rerolls: [aReroll] })];
    const { asked: all } = await everdict([...words, '--baseline-branch', 'main'], aSite({ ofBranch }));
    expect(bodyOf(all, '/scorecards/gate')).toMatchObject({ baseline: OLD });
  });

  test('the first of a branch runs, cannot be told, and says so', async () => {
    const { asked: all, out, err, exitCode } = await everdict([...words, '--baseline-branch', 'main'], aSite());
    expect(exitCode).toBe(2);
    expect(out).toContain('No verdict\nno completed scorecard of tasks with solver@2 has the metadata branch=main');
    expect(out).toContain('Everdict: cannot tell, completed: 2 passed');
    expect(err).not.toContain('error:');
    expect(asked(all, 'POST', '/scorecards/gate')).toEqual([]);
    const judged = await everdict([...words, '--baseline-branch', 'main', '--policy', 'main'], aSite());
    expect(judged.exitCode).toBe(0);
  });

  test.each([
    ['there is no baseline yet', ['is needed: `maxRegressions` counts against it'], []],
    ['the baseline has other cases', ['lacks 1 of the selected cases', 'is of tasks@1'], [aScorecard({ id: OLD })]],
  ])('with an early end, where %s, it runs to the end and says so', async (_when, messages, ofBranch) => {
    const errors = messages.map((message) => ({ path: 'earlyStop.baseline', message }));
    const first = ({ method, path: at, body }: Asked) =>
      method === 'POST' && at === '/scorecards' && JSON.parse(body).earlyStop
        ? problem(400, { code: 'BAD_REQUEST', detail: 'the scorecard cannot end early: earlyStop.baseline: …', errors })
        : undefined;
    const more = ['--baseline-branch', 'main', '--early-stop'];
    const { asked: all, err, exitCode } = await everdict([...words, ...more], aSite({ ofBranch, first }));
    const submits = asked(all, 'POST', '/scorecards');
    expect(submits.map(({ body }) => 'earlyStop' in JSON.parse(body))).toEqual([true, false]);
    expect(new Set(submits.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(err).toContain('note: it runs to its end, whatever the verdict: the scorecard cannot end early');
    expect(exitCode).toBe(ofBranch.length > 0 ? 0 : 2);
  });

  test('with an early end by rules that are wrong, nothing runs', async () => {
    const errors = ['earlyStop.baseline', 'earlyStop.policy.critical.cases'].map((at) => ({ path: at, message: 'no' }));
    const first = ({ method, path: at }: Asked) =>
      method === 'POST' && at === '/scorecards' ? problem(400, { code: 'BAD_REQUEST', errors }) : undefined;
    const { asked: all, exitCode } = await everdict([...words, '--early-stop'], aSite({ first }));
    expect([exitCode, asked(all, 'POST', '/scorecards').length]).toEqual([3, 1]);
  });

  test('a scorecard is never its own baseline, also where the step is tried again', async () => {
    const ofBranch = [aScorecard({ id: OWN }), aScorecard({ id: OLD })];
    const { asked: all } = await everdict([...words, '--baseline-branch', 'main'], aSite({ ofBranch }));
    expect(bodyOf(all, '/scorecards/gate')).toMatchObject({ baseline: OLD });
  });

  test.each<[string, string[], RegExp]>([
    ['a policy that is not registered', ['--policy', 'none'], /there is no \/policies\/none/],
    ['a file that is none', ['--policy', path.join(dir, 'none.json')], /there is no file/],
    [
      'a policy that is malformed',
      ['--policy', path.join(dir, 'bad.json')],
      /bad\.json is no policy: `minPassRate` .*`maxregressions`|bad\.json is no policy/,
    ],
    ['a policy that needs a baseline', ['--policy', path.join(dir, 'regressions.json')], /takes a baseline/],
    [
      'an unknown baseline',
      ['--baseline', 'none'],
      /there is no \/baselines\/none.*`list` of .*baseline, policy or gate/s,
    ],
    ['two baselines', ['--baseline', 'release', '--baseline-branch', 'main'], /cannot be used with/],
    ['a time that is none', ['--timeout', '3'], /write it as 90s/],
    ['a rate that is none', ['--early-stop', '2'], /it is a number from 0 to 1/],
    ['a file that cannot be written', ['--junit', '/dev/null/x.xml'], /cannot be written/],
  ])('%s is refused before anything runs', async (_what, more, message) => {
    writeFileSync(path.join(dir, 'bad.json'), '{"minPassRate": 80}');
    writeFileSync(path.join(dir, 'regressions.json'), '{"maxRegressions": 0}');
    const { asked: all, err, exitCode } = await everdict([...words, ...more], aSite());
    expect(err).toMatch(message);
    expect(exitCode).toBe(3);
    expect(asked(all, 'POST', '/scorecards')).toEqual([]);
  });

  test('a policy of a file is sent as it is, without its name', async () => {
    const file = path.join(dir, 'policy.json');
    writeFileSync(file, JSON.stringify({ id: 'p', version: '1', tags: [], minPassRate: 0.5 }));
    const { asked: all } = await everdict([...words, '--policy', file], aSite());
    expect(bodyOf(all, '/scorecards/gate').policy).toEqual({
      minPassRate: 0.5,
      minCoverage: 1,
      maxInfraShare: 1,
      rerolls: 'infra',
    });
  });

  test('a network that loses every third call takes longer, and changes nothing', async () => {
    let calls = 0;
    const first = (): Answer | undefined => {
      calls += 1;
      return calls % 3 === 0 ? 'drop' : undefined;
    };
    for (const more of [[], ['--baseline-branch', 'main']]) {
      const { exitCode, out } = await everdict(
        [...words, ...more],
        aSite({ first, ofBranch: [aScorecard({ id: OLD })] }),
      );
      expect([exitCode, out]).toEqual([0, expect.stringContaining('Everdict: pass')]);
    }
  });

  test('every step goes on after dropped connections, with one submit', async () => {
    const failing = new Map<string, number>();
    const first = ({ method, path: at }: Asked): Answer | undefined => {
      const step = `${method} ${at}`;
      const tries = (failing.get(step) ?? 0) + 1;
      failing.set(step, tries);
      if (tries === 1) return 'drop';
      return tries === 2 ? problem(503, { code: 'STORE_UNAVAILABLE', detail: 'starting' }) : undefined;
    };
    const { asked: all, exitCode, err } = await everdict([...words, '--baseline', 'release'], aSite({ first }));
    expect(exitCode).toBe(0);
    const keys = asked(all, 'POST', '/scorecards').map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(err).toContain('the platform answers again');
  });

  test.each([
    [[], true, /interrupted; scorecard sc_\w+ is cancelled/],
    [['--no-cancel'], false, /stopped waiting; scorecard sc_\w+ goes on\n.*scorecard watch/],
  ])('an interrupt with %j cancels the scorecard: %s', async (more, isCancelled, message) => {
    const running = aScorecard({ id: OWN, status: 'running', finishedAt: null, counts: { running: 2 } });
    const terminal = aTerminal();
    const first = ({ path: at }: Asked): undefined => {
      if (at === `/scorecards/${OWN}`) terminal.interrupt();
    };
    const platform = await aPlatform(aSite({ scorecard: running, first }));
    terminal.env.EVERDICT_URL = platform.url;
    await runCommandLine([...words, ...more], terminal);
    await platform.close();
    expect(terminal.exitCode).toBe(130);
    expect(terminal.err.text).toMatch(message);
    expect(asked(platform.asked, 'POST', `/scorecards/${OWN}/cancel`)).toHaveLength(isCancelled ? 1 : 0);
  });

  test('knows what GitHub says of the job, and leaves its report where GitHub shows it', async () => {
    const summary = path.join(dir, 'summary.md');
    writeFileSync(summary, 'before\n');
    const github = {
      ...{ GITHUB_ACTIONS: 'true', GITHUB_SHA: 'abc', GITHUB_REF: 'refs/pull/12/merge', GITHUB_HEAD_REF: 'fix' },
      ...{ GITHUB_REPOSITORY: 'acme/agent', GITHUB_RUN_ID: '9', GITHUB_STEP_SUMMARY: summary },
    };
    const { asked: all } = await everdict([...words, '--metadata', 'branch=other'], aSite(), { env: github });
    expect(bodyOf(all, '/scorecards').metadata).toEqual({
      ...{ sha: 'abc', branch: 'other', pr: '12', repository: 'acme/agent' },
      url: 'https://github.com/acme/agent/actions/runs/9',
    });
    expect(readFileSync(summary, 'utf8')).toMatch(/^before\n## Everdict: pass\n/);
  });

  test('writes every report it is asked for, and answers with JSON', async () => {
    const file = (name: string): string => path.join(dir, 'new', name);
    const more = [
      '--junit',
      file('r.xml'),
      '--html',
      file('r.html'),
      '--json-file',
      file('r.json'),
      '--summary',
      file('r.md'),
    ];
    const { out } = await everdict([...words, ...more, '--json'], aSite());
    expect(JSON.parse(out)).toMatchObject({ verdict: 'pass', scorecard: { id: OWN } });
    expect(JSON.parse(readFileSync(file('r.json'), 'utf8'))).toEqual(JSON.parse(out));
    expect(readFileSync(file('r.xml'), 'utf8')).toContain('<testcase name="math/sum"');
    expect(readFileSync(file('r.html'), 'utf8')).toContain('<h1 class="pass">');
    expect(readFileSync(file('r.md'), 'utf8')).toContain('## Everdict: pass');
  });

  test('supersedes what is older and unfinished of the same pull request, and nothing else', async () => {
    const of = (id: string | undefined, status: 'running' | 'completed') =>
      aScorecard({ id, status, metadata: { pr: '7' } });
    const own = aScorecard({ id: OWN, metadata: { pr: '7' }, counts: { passed: 1 } });
    const ofBranch = [of('sc_9', 'running'), of(OWN, 'running'), of(OLD, 'running'), of('sc_00', 'completed')];
    const first = ({ path: at }: Asked) =>
      at === `/scorecards/${OLD}/cancel` ? { body: of(OLD, 'running') } : undefined;
    const { asked: all, err } = await everdict([...words, '--supersede'], aSite({ scorecard: own, ofBranch, first }));
    expect(all.filter(({ path: at }) => at.endsWith('/cancel')).map(({ path: at }) => at)).toEqual([
      `/scorecards/${OLD}/cancel`,
    ]);
    expect(asked(all, 'GET', '/scorecards')[0]?.query).toMatchObject({
      metadata: 'pr=7',
      dataset: 'tasks',
      harness: 'solver',
    });
    expect(err).toContain(`${OLD}: cancelled`);
  });

  test('supersedes nothing of another key, and nothing of a CI run that began later', async () => {
    const mine = { pr: '7', key: 'small', run: '100' };
    const own = aScorecard({ id: OWN, metadata: mine, counts: { passed: 1 } });
    const ofBranch = [aScorecard({ id: OLD, status: 'running', metadata: { ...mine, run: '101' } })];
    const { asked: all } = await everdict([...words, '--supersede'], aSite({ scorecard: own, ofBranch }));
    expect(all.filter(({ path: at }) => at.endsWith('/cancel'))).toEqual([]);
    expect(new Set(all.map(({ query }) => query.metadata))).toContain('key=small');
  });
});

describe('everdict scorecard report', () => {
  const report = ['scorecard', 'report', OWN ?? '', '--format'];
  const last = aGate('block', { evidence: { ...aGate().evidence, baseline: null } });
  const gates = { body: { items: [aGateSummary(last)], next: null } };
  const first = ({ path: at }: Asked): Answer | undefined => {
    if (at === `/gates/${last.id}`) return { body: last };
    return at === '/gates' ? gates : undefined;
  };

  test.each([
    ['md', /^## Everdict: block\n/],
    ['junit', /<testsuites name="everdict"/],
    ['json', /"verdict": "block"/],
    ['html', /^<!doctype html>/],
  ])('as %s has the last verdict', async (format, pattern) => {
    const { out, exitCode } = await everdict([...report, format], aSite({ first }));
    expect(out).toMatch(pattern);
    expect(exitCode).toBe(0);
  });

  test('goes to a file, and compares with what is asked for', async () => {
    const file = path.join(dir, 'report.md');
    const { out, asked: all } = await everdict(
      [...report, 'md', '--baseline', 'release', '-o', file],
      aSite({ first }),
    );
    expect(out).toBe('');
    expect(readFileSync(file, 'utf8')).toContain('### Regressions (1)');
    expect(asked(all, 'GET', '/scorecards/diff')[0]?.query).toMatchObject({ baseline: OLD, candidate: OWN });
  });
});
