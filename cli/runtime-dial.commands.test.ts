import { everdict, unused } from '../test/cli-fakes.js';

const OWN = { slots: 4, memoryMb: 1_000, cpuMillicores: null };
const NONE = { slots: null, memoryMb: null, cpuMillicores: null };
const dial = (parts: object = {}) => ({
  ...{
    runtime: 'desk',
    owner: 'default',
    mode: 'open',
    limits: NONE,
    until: null,
    limitsUntil: null,
    reason: null,
    by: null,
  },
  ...{ envelope: OWN, inForce: OWN },
  ...parts,
});

test.each<[string[], object, object, string]>([
  [
    ['pause', 'desk', '--for', '30m', '--reason', 'new disks'],
    { mode: 'paused', forSec: 1_800, reason: 'new disks' },
    { mode: 'paused', until: '2026-01-01T00:30:00.000Z', reason: 'new disks', by: 'key:1' },
    `desk is paused (new work is taken and waits), until 2026-01-01T00:30:00.000Z
  limits: 4 slots, 1000 MB
  why: new disks
  set by key:1
`,
  ],
  [
    ['drain', 'desk', '--until', '2026-01-01T12:00:00Z'],
    { mode: 'draining', until: '2026-01-01T12:00:00Z' },
    { mode: 'draining', until: '2026-01-01T12:00:00.000Z' },
    `desk drains (new work is refused), until 2026-01-01T12:00:00.000Z
  limits: 4 slots, 1000 MB
`,
  ],
  [
    ['limit', 'desk', '--slots', '2', '--memory-mb', '500', '--cpu', '900'],
    { limits: { slots: 2, memoryMb: 500, cpuMillicores: 900 } },
    { limits: { ...NONE, slots: 2 }, inForce: { ...OWN, slots: 2 } },
    `desk grants slots
  limits: 2 slots, 1000 MB, until somebody resumes it (its own: 4 slots, 1000 MB)
`,
  ],
  [['resume', 'desk'], { mode: 'open' }, {}, 'desk grants slots\n  limits: 4 slots, 1000 MB\n'],
])('runtime %j sends what is to be set and shows what is', async (words, sent, reply, text) => {
  const { asked, out } = await everdict(['runtime', ...words], () => ({ body: dial(reply) }));
  expect(asked[0]).toMatchObject({ method: 'PATCH', path: '/runtimes/desk/admission' });
  expect(JSON.parse(asked[0]?.body ?? '')).toEqual(sent);
  expect(out).toBe(text);
});

test.each<[string[], RegExp]>([
  [['limit', 'desk'], /no limit is given.*--slots, --memory-mb or --cpu/s],
  [['limit', 'desk', '--slots', '0'], /whole number, at least 1/],
  [['pause', 'desk', '--for', '1.5h'], /write it as 90s, 30m, 2h or 1d/],
  [['pause', 'desk', '--for', '0s'], /write it as 90s, 30m, 2h or 1d/],
  [['pause', 'desk', '--for', '1h', '--until', '2027-01-01T00:00:00Z'], /cannot be used with/],
])('runtime %j is refused', async (words, want) => {
  const { err, exitCode } = await everdict(['runtime', ...words], unused);
  expect(err).toMatch(want);
  expect(exitCode).toBe(3);
});

test('runtime admission shows use, holders and decisions', async () => {
  const demand = { memoryMb: null, cpuMillicores: null, sessionPool: null };
  const at = '2026-01-01T00:00:00.000Z';
  const held = { scorecard: 'sc_1', workspace: 'default', seq: 1, demand, grantedAt: at, attempt: 1, timeoutSec: 60 };
  const body = {
    ...{ dial: dial(), inUse: { slots: 2, memoryMb: 900, cpuMillicores: 0 }, moreHolders: 1 },
    holders: [{ run: 'sc_1.7', caseId: 'math/sum', ageMs: 61_000, phase: 'running', leftMs: 5_000, ...held }],
    waiting: { interactive: 1, batch: 2, aged: 1 },
    reservation: { run: 'sc_1.9', workspace: 'default', demand, askedAt: at },
    ...{ parkedWorkspaces: ['research'], pausedScorecards: ['sc_2'] },
    sessionPools: [
      {
        name: 'default/browser',
        state: 'reading',
        ...{ total: 32, used: 21, readAt: at, failure: null, ours: 3, waiting: 2 },
      },
      {
        name: 'default/total',
        state: 'reading',
        ...{ total: 9, used: null, readAt: at, failure: null, ours: 1, waiting: 0 },
      },
      {
        name: 'default/new',
        state: 'unread',
        ...{ total: null, used: null, readAt: null, failure: null, ours: 0, waiting: 1 },
      },
      {
        ...{ name: 'default/dead', state: 'failed', failure: 'it answers 503' },
        ...{ total: null, used: null, readAt: at, ours: 1, waiting: 0 },
      },
    ],
    circuit: { state: 'open', failures: 3, until: at },
    decisions: [{ at, run: 'sc_1.7', decision: 'granted', reason: 'its turn' }],
  };
  const { asked, out } = await everdict(['runtime', 'admission', 'desk'], () => ({ body }));
  expect(asked[0]).toMatchObject({ method: 'GET', path: '/runtimes/desk/admission' });
  expect(out).toBe(`desk grants slots
  limits: 4 slots, 1000 MB
  in use: 2 of 4 slots, 900 of 1000 MB
  waiting: 1 interactive, 2 batch (1 for over a minute)
  what comes free is kept for sc_1.9, which asked at ${at}
  at their quota: research
  paused scorecards: sc_2
  it failed 3 times in a row: one case tries it at ${at}
  sessions of default/browser: 21 of 32 taken; 3 ours, 2 waiting
  sessions of default/total: 9 in all; 1 ours, 0 waiting
  sessions of default/new: not asked yet, so that nobody starts; 0 ours, 1 waiting
  sessions of default/dead: nothing is known (it answers 503), and the limits of the runtime hold; 1 ours, 0 waiting

run     case      holds it for  phase    left
sc_1.7  math/sum          1:01  running  0:05
1 more are not shown

last decisions:
  00:00:00  sc_1.7  granted: its turn
`);
});

test.each<[string[], string, object, string]>([
  [[], 'GET', { weight: 1, maxRunning: null }, 'research: weight 1, no quota, 3 running\n'],
  [['--weight', '2.5'], 'PATCH', { weight: 2.5, maxRunning: null }, 'research: weight 2.5, no quota, 3 running\n'],
  [['--quota', '50'], 'PATCH', { weight: 1, maxRunning: 50 }, 'research: weight 1, quota 50, 3 running\n'],
  [['--quota', 'none'], 'PATCH', { weight: 1, maxRunning: null }, 'research: weight 1, no quota, 3 running\n'],
])('workspace limits research %j', async (words, method, reply, text) => {
  const { asked, out } = await everdict(['workspace', 'limits', 'research', ...words], () => ({
    body: { id: 'research', running: 3, ...reply },
  }));
  expect(asked[0]).toMatchObject({ method, path: '/workspaces/research' });
  if (words.includes('none')) expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ maxRunning: null });
  expect(out).toBe(text);
});

test.each(['0', 'x', '1001', ''])('workspace limits --weight %s is refused', async (weight) => {
  const { err, exitCode } = await everdict(['workspace', 'limits', 'research', '--weight', weight], unused);
  expect([err, exitCode]).toEqual([expect.stringContaining('it is a number, 0.01 to 1000'), 3]);
});
