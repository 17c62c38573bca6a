import { aRun, everdict, problem } from '../test/cli-fakes.js';

const waiting = { reason: 'memory', scope: 'runtime desk', limit: 1_000, used: 900, ahead: 0 };
const entry = (parts: object = {}) => ({
  ...{ position: 1, run: 'sc_1.7', caseId: 'math/sum', scorecard: 'sc_1', workspace: 'research', runtime: 'desk@1' },
  ...{ class: 'batch', demand: { memoryMb: 300, cpuMillicores: null, sessionPool: null } },
  ...{ askedAt: '1970-01-01T00:00:00.000Z', promotedAt: null, waiting },
  ...parts,
});

test('queue shows what waits in its order, with the reason', async () => {
  const items = [entry({ promotedAt: '1970-01-01T00:00:00.000Z' }), entry({ position: 3, run: 'run_2' })];
  const { asked, out, err } = await everdict(['queue', '--runtime', 'desk', '--all', '--limit', '2'], () => ({
    body: { items, next: 'abc', unread: ['lab'] },
  }));
  expect(err).toBe('note: the admission of runtime lab does not answer: what waits for it is not shown\n');
  expect(asked[0]).toMatchObject({ path: '/queue', query: { runtime: 'desk', all: 'true', limit: '2' } });
  expect(out.split('\n')).toEqual([
    '#  workspace  runtime  run     case      class      for  waits for',
    '1  research   desk@1   sc_1.7  math/sum  promoted  0:00  memory: runtime desk has 900 of 1000 MB in use',
    '3  research   desk@1   run_2   math/sum  batch     0:00  memory: runtime desk has 900 of 1000 MB in use',
    'more: the same command with --cursor abc',
    '',
  ]);
});

test('queue says that nothing waits', async () => {
  expect((await everdict(['queue'], () => ({ body: { items: [], next: null } }))).out).toBe(
    'nothing waits for a slot\n',
  );
});

const nothing = {
  reason: null,
  scope: null,
  limit: null,
  used: null,
  ahead: null,
  etaP50: null,
  etaP90: null,
  until: null,
  note: null,
};

test.each([
  [
    { ...waiting, ahead: 4, etaP50: 90, etaP90: 3_700.4 },
    `sc_1.7 is waiting: it waits for memory
  runtime desk has 900 of 1000 MB in use; 4 before it
  likely to start in 1:30; 9 of 10 such runs start within 1:01:40
`,
  ],
  [
    { ...nothing, reason: 'paused', scope: 'runtime desk', ahead: 0, until: '2027-01-01T00:00:00Z', note: 'hot' },
    `sc_1.7 is waiting: it waits for what is paused to be resumed
  runtime desk; nothing is before it
  resumed by itself at 2027-01-01T00:00:00Z
  why: hot
`,
  ],
  [{ ...nothing, state: 'running' }, 'sc_1.7 is running: it waits for nothing\n'],
])('why tells what a run waits for: %j', async (parts, text) => {
  const body = { ...nothing, run: 'sc_1.7', state: 'waiting', ...parts };
  const { asked, out } = await everdict(['why', 'sc_1.7'], () => ({ body }));
  expect([asked[0]?.path, out]).toEqual(['/runs/sc_1.7/waiting', text]);
});

test('promote lets a run go first, and says why it cannot', async () => {
  const body = { run: 'sc_1.7', state: 'waiting', promotedAt: '2026-01-01T00:00:00.000Z' };
  const { asked, out } = await everdict(['promote', 'sc_1.7'], () => ({ body }));
  expect(asked[0]).toMatchObject({ method: 'POST', path: '/queue/sc_1.7/promote' });
  expect(out).toBe('sc_1.7 goes before the others of its workspace\n');
  const detail = 'run sc_1.7 is running: only what waits is promoted';
  const refused = await everdict(['promote', 'sc_1.7'], () => problem(409, { code: 'CONFLICT', detail }));
  expect([refused.err, refused.exitCode]).toEqual([`error: ${detail} (CONFLICT)\n`, 3]);
});

test('lists of runs say what those without outcome wait for', async () => {
  const items = [aRun({ outcome: null, state: 'waiting', waiting: { ...waiting, etaP50: null, etaP90: null } })];
  const { out } = await everdict(['run', 'list'], () => ({ body: { items, next: null } }));
  expect(out).toContain('waiting: memory');
});
