import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { GateResult, GateVerdict } from '../contracts/gate.js';
import { GateRules } from '../contracts/gate.js';
import { judge } from '../policy/gate/judge.js';
import { type Answer, everdict, unused } from '../test/cli-fakes.js';
import { FAILED, GATE_EXAMPLES, INFRA, many, side } from '../test/gate-examples.js';
import { aGateSummary } from '../test/report-data.js';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'everdict-gate-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function aFile(name: string, content: unknown): Promise<string> {
  const file = path.join(dir, name);
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const RULES = GateRules.parse({ maxRegressions: 0 });

/** As the platform gives it. */
const aGate = (parts: Partial<GateResult> = {}): GateResult => {
  const judgement = judge({
    rules: RULES,
    candidate: side({ 4: FAILED }, { id: 'sc_2' }),
    baseline: side(),
    on: 'all',
  });
  const said = {
    effective: judgement.verdict,
    override: null,
    overrides: [],
    by: 'mel',
    createdAt: '2026-01-02T03:04:05.000Z',
  };
  return { id: 'gate_1', ...judgement, policy: { ref: 'merge@1.0.0', hash: 'h', rules: RULES }, ...said, ...parts };
};
const gives = (gate: GateResult) => (): Answer => ({ body: gate });

describe('scorecard gate', () => {
  test('sends what is to be judged, and says why it is what it is', async () => {
    const words = ['scorecard', 'gate', '--policy', 'merge', '--baseline', 'main', 'sc_2', '--on', 'intersection'];
    const { asked, out, exitCode } = await everdict(words, gives(aGate()));
    expect(asked).toMatchObject([{ method: 'POST', path: '/scorecards/gate' }]);
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
      candidate: 'sc_2',
      baseline: 'main',
      policy: 'merge',
      on: 'intersection',
    });
    expect(out.split('\n')).toEqual([
      'block: sc_2 against sc_1, by policy merge@1.0.0',
      '',
      'TOO_MANY_REGRESSIONS: 1 of 10 cases passed in the baseline and did not now, and `maxRegressions` is 0: "c-4"',
      '',
      '10 of 10 expected cases were measured, 0 are missing, 0 were left open by infrastructure',
      '9 passed: 90.0 % (95 % interval 59.6 % to 98.2 %); 1 passed in the baseline and did not now',
      'paired test over 10 cases: 1 regressed, 0 fixed, p = 1.00',
      '',
      'npx everdict gate show gate_1 --json   the rules, and every case by name',
      '',
    ]);
    expect(exitCode).toBe(1);
  });

  test.each(GATE_EXAMPLES.map(({ verdict }) => verdict).filter((verdict, at, all) => all.indexOf(verdict) === at))(
    'E11 ends with a status of its own when it is %s',
    async (verdict) => {
      const status: Record<GateVerdict, number> = {
        pass: 0,
        block: 1,
        blocked_missing: 2,
        not_comparable: 2,
        inconclusive: 2,
      };
      const { exitCode } = await everdict(
        ['scorecard', 'gate', '--policy', 'merge', 'sc_2', '--json'],
        gives(aGate({ verdict, effective: verdict })),
      );
      expect(exitCode).toBe(status[verdict]);
    },
  );

  test('tells what would decide it', async () => {
    const judgement = judge({
      rules: RULES,
      candidate: side({ 4: INFRA }, { id: 'sc_2' }),
      baseline: side(),
      on: 'all',
    });
    const { out } = await everdict(['scorecard', 'gate', '--policy', 'merge', 'sc_2'], gives(aGate(judgement)));
    expect(out).toContain('what would decide it: run 1 run again with `everdict scorecard retry sc_2 --class infra`');
  });

  test('lists the cases that a sentence leaves out', async () => {
    const candidate = side(many(0, 7, FAILED), { id: 'sc_2' });
    const judgement = judge({ rules: RULES, candidate, baseline: side(), on: 'all' });
    const { out } = await everdict(['scorecard', 'gate', '--policy', 'merge', 'sc_2'], gives(aGate(judgement)));
    expect(out).toMatch(/"c-4" and 2 more\n {2}c-0\n( {2}c-\d\n){5} {2}c-6\n\n/);
  });

  test('takes the rules of a file, with or without the head of a policy', async () => {
    const bare = await aFile('bare.json', { minPassRate: 1 });
    const whole = await aFile('whole.json', { id: 'x', version: '1', description: 'd', tags: [], minPassRate: 1 });
    for (const file of [bare, whole]) {
      const { asked } = await everdict(['scorecard', 'gate', '--policy', file, 'sc_2'], gives(aGate()));
      expect(JSON.parse(asked[0]?.body ?? '').policy).toEqual(GateRules.parse({ minPassRate: 1 }));
    }
  });

  test.each([
    ['none', 'missing.json', undefined, /there is no file/],
    ['no JSON', 'broken.json', '{', /not valid JSON/],
    ['a misspelt rule', 'near.json', { minPassrate: 1 }, /did you mean `minPassRate`/],
    ['no rules', 'list.json', [1], /list\.json is no policy/],
  ])('refuses a file that is %s', async (_title, name, content, message) => {
    const file = content === undefined ? path.join(dir, name) : await aFile(name, content);
    const { err, exitCode } = await everdict(['scorecard', 'gate', '--policy', file, 'sc_2'], unused);
    expect([exitCode, err]).toEqual([3, expect.stringMatching(message)]);
  });

  test.each([
    ['root:x:0:0:hunter2', 'line 1, column 1'],
    ['{"minPassRate": 1,\n "token": hunter2', 'line 2, column 11'],
    ['"hunter2"', 'it holds no object'],
    ['20261130', 'it holds no object'],
  ])('quotes nothing of a file that is no policy: %j', async (content, why) => {
    const file = await aFile('another.json', content);
    const { err, exitCode } = await everdict(['scorecard', 'gate', '--policy', file, 'sc_2'], unused);
    expect([exitCode, err]).toEqual([3, expect.stringContaining(why)]);
    expect(err).not.toMatch(/hunter2|root|20261130/);
  });

  test('needs a policy', async () => {
    const { err, exitCode } = await everdict(['scorecard', 'gate', 'sc_2'], unused);
    expect([exitCode, err]).toEqual([3, expect.stringContaining("'--policy <policy>'")]);
  });
});

describe('gate', () => {
  const OVERRIDE = {
    verdict: 'pass',
    reason: 'it\u001b[31m moved',
    by: 'ada',
    at: '2026-01-03T00:00:00.000Z',
  } as const;
  const overridden = aGate({ effective: 'pass', override: OVERRIDE, overrides: [OVERRIDE] });

  test('shows a verdict with what was said against it, as plain text', async () => {
    const { out, exitCode } = await everdict(['gate', 'show', 'gate_1'], gives(overridden));
    expect(out).toContain('pass: sc_2 against sc_1, by policy merge@1.0.0\n  the rules say block\n');
    expect(out).toContain('  ada said pass at 2026-01-03T00:00:00.000Z: it moved\n');
    expect(exitCode).toBe(0);
  });

  test('lists verdicts', async () => {
    const { out, asked } = await everdict(['gate', 'list', '--candidate', 'sc_2'], () => ({
      body: { items: [overridden, aGate({ id: 'gate_0' })].map(aGateSummary), next: null },
    }));
    expect(asked[0]?.query).toMatchObject({ candidate: 'sc_2' });
    expect(out).toMatch(/gate_1 +pass \(overridden\) +sc_2 +sc_1 +merge@1\.0\.0 +2026-01-02T03:04:05 +mel\n/);
    expect(out).toMatch(/gate_0 +block +sc_2/);
  });

  test('overrides one', async () => {
    const words = ['gate', 'override', 'gate_1', '--verdict', 'pass', '--reason', 'it moved'];
    const { asked, out } = await everdict(words, gives(overridden));
    expect(asked).toMatchObject([{ method: 'POST', path: '/gates/gate_1/override' }]);
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ verdict: 'pass', reason: 'it moved' });
    expect(out).toBe('gate_1 is pass now; the rules say block\n');
  });
});

describe('policy', () => {
  const policy = { id: 'merge', version: '1.0.0', minPassRate: 1 };

  test('is registered from a file as it is', async () => {
    const { asked, out } = await everdict(['policy', 'add', await aFile('p.json', policy)], () => ({
      status: 201,
      body: policy,
    }));
    expect(asked).toMatchObject([{ method: 'POST', path: '/policies', body: JSON.stringify(policy) }]);
    expect(out).toMatch(/^policy merge@1\.0\.0 is registered\n/);
  });

  test('is listed and shown', async () => {
    const item = { ...policy, latest: true, registeredBy: 'mel', createdAt: '2026-01-02T03:04:05.000Z' };
    const listed = await everdict(['policy', 'list', '--id', 'merge'], () => ({ body: { items: [item], next: null } }));
    expect(listed.out).toMatch(/merge +1\.0\.0 +latest +2026-01-02T03:04:05 +mel\n/);
    const shown = await everdict(['policy', 'show', 'merge'], () => ({ body: policy }));
    expect([shown.asked[0]?.path, JSON.parse(shown.out)]).toEqual(['/policies/merge/versions/latest', policy]);
  });
});
