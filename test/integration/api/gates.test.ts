import { finish } from './finished.js';
import { type Api, type Reply, registerWorld, startApi } from './server.js';

const ALL_PASS = { minPassRate: 1 };
const NONE_REGRESSES = { maxRegressions: 0 };
const tagRules = (tags: number) => Object.fromEntries(Array.from({ length: tags }, (_, at) => [`tag-${at}`, ALL_PASS]));

let api: Api;
/** Finished scorecards: `good` is pinned as `main`. */
let good: string;
let worse: string;
beforeAll(async () => {
  api = await startApi();
  await registerWorld(api, { size: 10 });
  good = await finished([]);
  worse = await finished(['passed', 'failed']);
  await api.send('PUT', '/baselines/main', { scorecard: good });
}, 60_000);
afterAll(() => api.close());

const submit = async (parts: object = {}): Promise<string> =>
  (await api.send('POST', '/scorecards', { dataset: 'tasks', harness: 'echo', runtime: 'here', ...parts })).body.id;

/** Its runs end like this, one after the other; the last ones pass. */
async function finished(ends: readonly string[], parts: object = {}): Promise<string> {
  const id = await submit(parts);
  await finish(api, id, [...ends, ...Array.from({ length: 10 - ends.length }, () => 'passed')]);
  return id;
}

const gate = (body: object, headers: Record<string, string> = {}): Promise<Reply> =>
  api.send('POST', '/scorecards/gate', body, headers);
const register = (policy: object): Promise<Reply> => api.send('POST', '/policies', policy);

describe('a policy', () => {
  const policy = {
    id: 'merge',
    version: '1.0.0',
    description: 'for main',
    ...ALL_PASS,
    perTag: { even: NONE_REGRESSES },
  };

  test('is registered once, and is immutable', async () => {
    const first = await register(policy);
    expect([first.status, first.headers.get('location')]).toEqual([201, '/policies/merge/versions/1.0.0']);
    expect(first.body).toMatchObject({ ...policy, minCoverage: 1, maxInfraShare: 1, rerolls: 'infra', tags: [] });
    expect((await register({ tags: [], ...policy })).status).toBe(200);
    const other = await register({ ...policy, minPassRate: 0.5, perTag: { even: { maxRegressions: 1 } } });
    expect([other.status, other.body.code]).toEqual([409, 'CONFLICT']);
    expect(other.body.errors.map(({ path }: { path: string }) => path)).toEqual([
      'minPassRate',
      'perTag.even.maxRegressions',
    ]);
  });

  test('is read by version, and the latest is the highest', async () => {
    for (const version of ['1.10.0', '1.9.0']) await register({ ...policy, version });
    expect((await api.send('GET', '/policies/merge/versions/latest')).body.version).toBe('1.10.0');
    expect((await api.send('GET', '/policies/merge/versions/1.9.0')).body).toMatchObject({
      ...policy,
      version: '1.9.0',
    });
    const first = (await api.send('GET', '/policies?id=merge&limit=2')).body;
    const rest = (await api.send('GET', `/policies?id=merge&cursor=${first.next}`)).body;
    expect(first.items[0]).toEqual({
      ...{ id: 'merge', version: '1.0.0', description: 'for main', tags: [], latest: false, registeredBy: 'local' },
      ...{ contentHash: expect.stringMatching(/^[0-9a-f]{64}$/), createdAt: expect.any(String) },
    });
    const listed = [...first.items, ...rest.items].map(({ version, latest }) => [version, latest]);
    expect(listed).toEqual([
      ['1.0.0', false],
      ['1.10.0', true],
      ['1.9.0', false],
    ]);
  });

  test.each<[object, string, RegExp]>([
    [{}, '', /says nothing of what must pass: give `minPassRate`/],
    [{ minCoverage: 1 }, '', /says nothing of what must pass/],
    [{ minPassRate: 1.5 }, 'minPassRate', /1\.5.*allowed 1/],
    [{ minPassRate: '90%' }, 'minPassRate', /expected number/],
    [{ maxRegression: 0 }, 'maxRegression', /did you mean `maxRegressions`/],
    [{ ...ALL_PASS, perTag: { json: {} } }, 'perTag.json', /says nothing/],
    [{ ...ALL_PASS, perTag: { json: { minRate: 1 } } }, 'perTag.json.minRate', /not a known key/],
    [{ critical: {} }, 'critical', /says nothing/],
    [{ critical: { cases: [] } }, 'critical.cases', /empty/],
    [{ ...ALL_PASS, minTrialsPassed: 0 }, 'minTrialsPassed', /required 1/],
    [{ ...ALL_PASS, rerolls: 'all' }, 'rerolls', /one of infra, any/],
    [{ perTag: tagRules(101) }, 'perTag', /at most 100 tags/],
  ])('that is %j is refused at %s, registered or given', async (rules, path, message) => {
    const registered = await register({ id: 'bad', version: '1', ...rules });
    const given = await gate({ candidate: good, policy: rules });
    expect([registered.status, given.status]).toEqual([400, 400]);
    const under = path === '' ? 'policy' : `policy.${path}`;
    expect(registered.body.errors).toContainEqual({ path, message: expect.stringMatching(message) });
    expect(given.body.errors).toContainEqual({ path: under, message: expect.stringMatching(message) });
  });
});

describe('a gate', () => {
  test('stores its verdict with the rules, the reasons and who asked', async () => {
    await register({ id: 'strict', version: '2.0.0', ...NONE_REGRESSES });
    const { status, body } = await gate({ candidate: worse, baseline: 'main', policy: 'strict' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ verdict: 'block', effective: 'block', by: 'local', override: null, overrides: [] },
      policy: { ref: 'strict@2.0.0', rules: { ...NONE_REGRESSES, minCoverage: 1 } },
      reasons: [{ code: 'TOO_MANY_REGRESSIONS', rule: 'maxRegressions', actual: 1, cases: ['case-1'] }],
      evidence: { expected: 10, covered: 10, baseline: { id: good }, candidate: { id: worse }, test: { regressed: 1 } },
    });
    expect((await api.send('GET', `/gates/${body.id}`)).body).toEqual(body);
    const { id, by, createdAt } = body;
    expect((await api.send('GET', `/gates?candidate=${worse}`)).body.items).toEqual([
      {
        ...{
          id,
          by,
          createdAt,
          verdict: 'block',
          effective: 'block',
          override: null,
          candidate: worse,
          baseline: good,
        },
        ...{ reasons: ['TOO_MANY_REGRESSIONS'], policy: { ref: 'strict@2.0.0', hash: body.policy.hash } },
      },
    ]);
    const given = await gate({ candidate: worse, baseline: good, policy: NONE_REGRESSES });
    expect(given.body.policy).toMatchObject({ ref: null, hash: body.policy.hash });
  });

  test('asked again with the same key, is the same', async () => {
    const candidate = await finished([]);
    const key = { 'idempotency-key': 'build-7' };
    const first = await gate({ candidate, policy: ALL_PASS }, key);
    expect((await gate({ candidate, policy: ALL_PASS }, key)).body).toEqual(first.body);
    expect((await api.send('GET', `/gates?candidate=${candidate}`)).body.items).toHaveLength(1);
    const other = await gate({ candidate, policy: NONE_REGRESSES, baseline: 'main' }, key);
    expect([other.status, other.body.code]).toEqual([409, 'CONFLICT']);
  });

  test('passes a scorecard against itself, and one that is the same', async () => {
    const same = await finished(['passed', 'failed']);
    const policy = { ...NONE_REGRESSES, minPassRate: 0.9 };
    for (const candidate of [worse, same]) {
      expect((await gate({ candidate, baseline: worse, policy })).body.verdict).toBe('pass');
    }
  });

  test('never passes what is missing, and says what would decide what infrastructure failed', async () => {
    const part = await submit({ cases: { limit: 6 } });
    await finish(api, part, ['passed']);
    const missing = (await gate({ candidate: part, baseline: 'main', policy: NONE_REGRESSES })).body;
    expect([missing.verdict, missing.evidence.missing]).toEqual(['blocked_missing', 4]);
    const alone = (await gate({ candidate: part, policy: ALL_PASS })).body;
    expect([alone.evidence.expected, alone.evidence.candidate.datasetCases]).toEqual([6, 10]);
    expect(alone.reasons[0].message).toContain('its dataset has 10 cases');
    const lost = await finished(['errored/infra/NODE_LOST']);
    const open = (await gate({ candidate: lost, baseline: 'main', policy: NONE_REGRESSES })).body;
    expect([open.verdict, open.evidence.wouldDecide.rerun]).toEqual(['inconclusive', [`${lost}.0`]]);
    expect(open.evidence.wouldDecide.message).toContain(`POST /scorecards/${lost}/retry?class=infra`);
  });

  test('answers as many rules of tags as there may be, each by its name', async () => {
    const { status, body } = await gate({ candidate: good, policy: { perTag: tagRules(100) } });
    expect([status, body.verdict, body.reasons.length]).toEqual([200, 'blocked_missing', 100]);
  });

  test.each(['agent', 'harness', 'config'])(
    'blocks what broke by the fault of its %s also where it was run again until it passed',
    async (fault) => {
      const first = await finished([`errored/${fault}/TIMEOUT`]);
      const { body } = await api.send('POST', `/scorecards/${first}/retry?class=${fault}`);
      await finish(api, body.id, ['passed']);
      const judged = (await gate({ candidate: body.id, policy: ALL_PASS })).body;
      expect(judged).toMatchObject({ verdict: 'block', reasons: [{ code: 'VERDICTS_REROLLED', actual: 1 }] });
      expect((await gate({ candidate: body.id, policy: { ...ALL_PASS, rerolls: 'any' } })).body.verdict).toBe('pass');
    },
  );

  test('is not_comparable for another dataset, and compares what is the same if told to', async () => {
    const cases = Array.from({ length: 10 }, (_, at) => ({
      id: `case-${at}`,
      task: `task ${at}`,
      tags: at % 2 === 0 ? ['even'] : [],
    }));
    await api.send('POST', '/datasets', {
      id: 'tasks',
      version: '1.1.0',
      cases: [...cases.slice(1), { id: 'new', task: 'x' }],
    });
    const candidate = await finished(['passed', 'failed']);
    const asked = { candidate, baseline: 'main', policy: NONE_REGRESSES };
    expect((await gate(asked)).body).toMatchObject({
      verdict: 'not_comparable',
      reasons: [{ code: 'DATASET_DIFFERS' }],
    });
    const { verdict, evidence } = (await gate({ ...asked, on: 'intersection' })).body;
    expect([verdict, evidence.basis, evidence.expected]).toEqual(['block', 'intersection', 9]);
    expect(evidence.regressions).toEqual(['case-2']);
  });

  test.each<[string, () => object, number, RegExp]>([
    ['an unknown candidate', () => ({ candidate: `sc_${'0'.repeat(26)}`, policy: ALL_PASS }), 404, /no scorecard sc_0/],
    [
      'an unknown baseline',
      () => ({ candidate: good, baseline: `sc_${'0'.repeat(26)}`, policy: ALL_PASS }),
      404,
      /no scorecard sc_0/,
    ],
    ['a name that is not pinned', () => ({ candidate: good, baseline: 'mane', policy: ALL_PASS }), 404, /mane/],
    ['an unknown policy', () => ({ candidate: good, policy: 'stric' }), 404, /no policy stric; did you mean strict\?/],
    [
      'an unknown version',
      () => ({ candidate: good, policy: 'strict@9' }),
      404,
      /strict@9; the latest version is 2\.0\.0/,
    ],
    [
      'a rule without its baseline',
      () => ({ candidate: good, policy: 'strict' }),
      400,
      /baseline: is required by `maxRegressions`/,
    ],
    [
      'a rule of a tag without it',
      () => ({ candidate: good, policy: { perTag: { even: NONE_REGRESSES } } }),
      400,
      /`perTag\.even\.maxRegressions`/,
    ],
    [
      'a name that is no scorecard',
      () => ({ candidate: 'main', policy: ALL_PASS }),
      400,
      /candidate: is not a scorecard id/,
    ],
  ])('refuses %s', async (_title, body, status, detail) => {
    await register({ id: 'strict', version: '2.0.0', ...NONE_REGRESSES });
    const refused = await gate(body());
    expect(refused.status).toBe(status);
    expect(refused.body.detail).toMatch(detail);
  });

  test('refuses a candidate that runs, or waits for its end', async () => {
    const open = await submit({ dataset: 'tasks@1.0.0' });
    const refused = await gate({ candidate: open, policy: ALL_PASS });
    expect([refused.status, refused.body.code]).toEqual([409, 'CONFLICT']);
    expect(refused.body.detail).toMatch(/is queued: ask again, with `waitSec`/);
    const late = await gate({ candidate: open, policy: ALL_PASS, waitSec: 1 });
    expect([late.status, late.body.detail]).toEqual([409, expect.stringContaining('is queued after 1 s')]);
    const waiting = gate({ candidate: open, policy: ALL_PASS, waitSec: 50 });
    await finish(api, open, ['passed']);
    expect((await waiting).body.verdict).toBe('pass');
  });

  test('repeats the verdict that stopped a scorecard, under the same rules and baseline only', async () => {
    const cut = await finished(['failed', ...Array.from({ length: 9 }, () => 'cancelled')], { dataset: 'tasks@1.0.0' });
    const asked = { candidate: cut, baseline: good, policy: NONE_REGRESSES };
    const { hash } = (await gate(asked)).body.policy;
    const stopped = {
      verdict: 'block',
      errorRate: 0,
      seen: 1,
      total: 10,
      reason: 'one regressed',
      at: new Date().toISOString(),
    };
    await api.database.dataSource.query('UPDATE scorecards SET early_stop = $2, stopped_early = $3 WHERE id = $1', [
      cut,
      { policy: { ref: null, hash }, baseline: good, errorRate: 0, minCases: 1 },
      stopped,
    ]);
    expect((await gate(asked)).body).toMatchObject({ verdict: 'block', reasons: [{ code: 'STOPPED_EARLY' }] });
    for (const other of [{ baseline: worse }, { policy: { maxRegressions: 1 } }]) {
      expect((await gate({ ...asked, ...other })).body.verdict).toBe('blocked_missing');
    }
  });
});

describe('an override', () => {
  test('counts from then on, and what was said before is kept', async () => {
    const { id } = (await gate({ candidate: worse, baseline: 'main', policy: NONE_REGRESSES })).body;
    const say = (verdict: string, reason: string) => api.send('POST', `/gates/${id}/override`, { verdict, reason });
    const first = await say('pass', 'the file moved');
    expect([first.status, first.body.verdict, first.body.effective]).toEqual([200, 'block', 'pass']);
    expect(first.body.override).toMatchObject({ verdict: 'pass', reason: 'the file moved', by: 'local' });
    expect((await say('pass', 'the file moved')).body).toEqual(first.body);
    const second = (await say('block', 'it did not')).body;
    expect([second.effective, second.overrides.map(({ reason }: { reason: string }) => reason)]).toEqual([
      'block',
      ['the file moved', 'it did not'],
    ]);
    const events = (await api.send('GET', `/audit?object=${id}`)).body.items;
    expect(events.filter(({ action }: { action: string }) => /override/.test(action)).length).toBe(3);
  });

  test.each<[object, string]>([
    [{ verdict: 'pass', reason: ' ' }, 'reason'],
    [{ verdict: 'pass' }, 'reason'],
    [{ verdict: 'inconclusive', reason: 'x' }, 'verdict'],
  ])('of %j is refused at %s', async (body, path) => {
    const refused = await api.send('POST', `/gates/gate_${'0'.repeat(26)}/override`, body);
    expect([refused.status, refused.body.errors?.[0]?.path]).toEqual([400, path]);
  });

  test('of a gate that is not there is refused, and so is one of another workspace', async () => {
    const { id } = (await gate({ candidate: good, policy: ALL_PASS })).body;
    await api.database.dataSource.query(`INSERT INTO workspaces (id) VALUES ('other') ON CONFLICT DO NOTHING`);
    await api.database.dataSource.query(`UPDATE gates SET workspace_id = 'other' WHERE id = $1`, [id]);
    for (const gone of [id, `gate_${'0'.repeat(26)}`, 'gate_x']) {
      expect((await api.send('POST', `/gates/${gone}/override`, { verdict: 'pass', reason: 'x' })).status).toBe(404);
      expect((await api.send('GET', `/gates/${gone}`)).status).toBe(404);
    }
  });
});
