import type { Ticket } from '../../../contracts/admission.js';
import { Ledger } from '../../../policy/admission/ledger.js';
import { PoolStore } from '../../../store/pool.store.js';
import { aTicket } from '../../builders.js';
import { eventually } from '../../eventually.js';
import { type Api, registerWorld, startApi } from './server.js';

const OPERATOR = { authorization: 'Bearer operator-key-0123456789-0123456789' };
let api: Api;
let ada: Record<string, string>;
let bob: Record<string, string>;

beforeAll(async () => {
  api = await startApi({
    env: { EVERDICT_OPERATOR_KEY: OPERATOR.authorization.slice('Bearer '.length), EVERDICT_REQUESTS_PER_SEC: '0' },
  });
  await api.send('POST', '/workspaces', { id: 'other' }, OPERATOR);
  ada = await keyIn('default');
  bob = await keyIn('other');
  for (const who of [ada, bob]) {
    await registerWorld({ ...api, send: (method, path, body) => api.send(method, path, body, who) });
  }
  const farm = { kind: 'local', id: 'farm', version: '1', maxConcurrent: 2 };
  await api.send('POST', '/runtimes', farm, inWorkspace('_shared'));
}, 60_000);
afterAll(() => api.close());
beforeEach(async () => {
  api.ledgers.clear();
  await sql('UPDATE runs SET outcome = $1, settled_at = now(), open_attempt = NULL WHERE outcome IS NULL', [
    'cancelled',
  ]);
});

const inWorkspace = (id: string) => ({ ...OPERATOR, 'x-everdict-workspace': id });
async function keyIn(workspace: string): Promise<Record<string, string>> {
  const made = await api.send('POST', '/keys', { name: 'of a test', role: 'admin' }, inWorkspace(workspace));
  return { authorization: `Bearer ${made.body.value}` };
}

const sql = (text: string, params: unknown[] = []) => api.database.dataSource.query(text, params);
const get = (path: string, who = ada) => api.send('GET', path, undefined, who);

async function submit(runtime = 'here', who = ada, rest: object = {}): Promise<string> {
  const request = { ...TASKS, runtime, ...rest };
  return (await api.send('POST', '/scorecards', request, who)).body.id;
}

/** These runs have asked, as the database and a ledger of the pool see it; the ledger grants what fits. */
async function ask(pool: string, runs: readonly string[], parts: Partial<Ticket> = {}): Promise<void> {
  await sql(`UPDATE runs SET asked_at = now(), asked_by = 'window' WHERE id = ANY ($1)`, [runs]);
  const rows: { id: string; workspace_id: string }[] = await sql(
    'SELECT id, workspace_id FROM runs WHERE id = ANY ($1)',
    [runs],
  );
  const workspaces = new Map(rows.map(({ id, workspace_id }) => [id, workspace_id]));
  const tickets = runs.map((id) => aTicket({ holder: `case:${id}`, workspace: workspaces.get(id), ...parts }));
  const limits = await new PoolStore(api.database.dataSource).limits(pool);
  const ledger = Ledger.open(1, [], tickets);
  ledger.decide(limits, Date.now());
  const runtime = pool.split(':')[2] ?? '';
  api.ledgers.set(pool.replace('rt:', 'admission:'), { runtime, ledger, limits, now: Date.now() });
}

const TASKS = { dataset: 'tasks', harness: 'echo', runtime: 'here' };
const runsOf = (id: string, size = 3): string[] => Array.from({ length: size }, (_, n) => `${id}.${n}`);

describe('GET /queue', () => {
  test('lists what waits runtime after runtime in the order of the ledgers, in pages, each workspace its own', async () => {
    const [mine, theirs, own] = [await submit('farm'), await submit('farm', bob), await submit('here')];
    await ask('rt:_shared:farm', [...runsOf(theirs), ...runsOf(mine)]);
    await ask('rt:default:here', runsOf(own), { demand: { memoryMb: 500 } });

    const seen: unknown[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await get(`/queue?limit=2${cursor}`);
      seen.push(...body.items.map(({ run, position }: { run: string; position: number }) => [run, position]));
      if (body.next === null) break;
      cursor = `&cursor=${body.next}`;
    }
    // Each has one slot of two; of all else alike the earlier one is first.
    expect(seen).toEqual([
      [`${mine}.1`, 1],
      [`${mine}.2`, 2],
      [`${own}.2`, 1],
    ]);
    const { body } = await get('/queue?runtime=here');
    expect(body.items).toEqual([
      {
        ...{
          position: 1,
          run: `${own}.2`,
          caseId: 'case-2',
          scorecard: own,
          workspace: 'default',
          runtime: 'here@1.0.0',
        },
        ...{ class: 'batch', demand: { memoryMb: 500, cpuMillicores: null, sessionPool: null } },
        ...{ askedAt: expect.any(String), promotedAt: null },
        waiting: {
          ...{ reason: 'memory', scope: 'runtime here', limit: 1_000, used: 1_000, ahead: 0 },
          ...{ etaP50: 0, etaP90: 0 },
        },
      },
    ]);
    const all = await get('/queue?all=true', inWorkspace('other'));
    expect(all.body.items.map(({ run }: { run: string }) => run)).toEqual([
      ...[`${mine}.1`, `${mine}.2`, `${theirs}.1`, `${theirs}.2`, `${own}.2`],
    ]);
    expect((await get('/queue?all=true')).status).toBe(403);
  });

  test('goes on past a ledger that does not answer, and names it', async () => {
    const [shared, own] = [await submit('farm'), await submit('here')];
    await ask('rt:_shared:farm', runsOf(shared));
    await ask('rt:default:here', runsOf(own), { demand: { memoryMb: 500 } });
    api.ledgers.set('admission:_shared:farm', 'silent');
    const { status, body } = await get('/queue');
    expect([status, body.unread, body.items[0].run]).toEqual([200, ['farm'], `${own}.2`]);
    const named = await get('/queue?runtime=farm');
    expect([named.status, named.body.code, named.body.detail]).toEqual([
      ...[503, 'ADMISSION_UNREACHABLE', 'the admission of runtime farm does not answer: try again'],
    ]);
    expect((await get('/runtimes/farm/admission')).status).toBe(503);
    expect((await get(`/runs/${shared}.0/waiting`)).status).toBe(503);
    expect((await get(`/scorecards/${shared}/cases`)).body.items[0]).toMatchObject({ state: 'waiting', waiting: null });
  });

  test.each([
    ['cursor=nonsense', 400, 'cursor'],
    ['limit=0', 400, 'limit'],
    ['runtime=hera', 404, 'did you mean here?'],
  ])('refuses %s', async (query, status, text) => {
    const reply = await get(`/queue?${query}`);
    expect([reply.status, reply.body.detail]).toEqual([status, expect.stringContaining(text)]);
  });
});

describe('what a run waits for', () => {
  const why = async (run: string, who = ada) => (await get(`/runs/${run}/waiting`, who)).body;

  test('is told of tickets by their ledger, of others by the database, and in lists', async () => {
    const id = await submit();
    await ask('rt:default:here', [`${id}.0`, `${id}.1`], { demand: { memoryMb: 600 } });
    const memory = { reason: 'memory', scope: 'runtime here', limit: 1_000, used: 600, ahead: 0 };
    const queued = { reason: 'slots', scope: 'runtime here', limit: 4, used: 1, ahead: 1 };
    const noPause = { until: null, note: null };
    expect(await why(`${id}.1`)).toMatchObject({ run: `${id}.1`, state: 'waiting', ...memory, ...noPause });
    expect(await why(`${id}.2`)).toMatchObject({
      run: `${id}.2`,
      state: 'queued',
      ...queued,
      etaP50: null,
      ...noPause,
    });
    expect(await why(`${id}.0`)).toMatchObject({ reason: 'placement' });
    const { body } = await get(`/scorecards/${id}/cases`);
    expect(body.items.map(({ waiting }: { waiting: object }) => waiting)).toMatchObject([
      { reason: 'placement' },
      memory,
      queued,
    ]);
  });

  test('counts those queued before it in its scorecard, and what waits for the runtime', async () => {
    const id = await submit();
    expect(await why(`${id}.2`)).toMatchObject({ reason: 'slots', limit: 4, used: 0, ahead: 2 });
    const { body } = await get(`/scorecards/${id}/cases?limit=2`);
    const next = await get(`/scorecards/${id}/cases?cursor=${body.next}`);
    const ahead = [...body.items, ...next.body.items].map(({ waiting }) => waiting.ahead);
    expect(ahead).toEqual([0, 1, 2]);
  });

  test.each<[string, (id: string) => Promise<unknown>, object]>([
    [
      'a paused runtime',
      () => api.send('PATCH', '/runtimes/here/admission', { mode: 'paused', forSec: 60, reason: 'hot' }, ada),
      { reason: 'paused', scope: 'runtime here', limit: null, note: 'hot', until: expect.any(String) },
    ],
    [
      'a paused scorecard',
      (id) => sql('UPDATE scorecards SET paused_at = now() WHERE id = $1', [id]),
      { reason: 'paused', scope: expect.stringMatching(/^scorecard sc_/) },
    ],
    [
      'the quota of its workspace',
      async (id) => {
        await api.send('PATCH', '/workspaces/default', { maxRunning: 1 }, OPERATOR);
        await sql('UPDATE runs SET open_attempt = 1 WHERE id = $1', [`${id}.0`]);
      },
      { reason: 'quota', scope: 'workspace default', limit: 1, used: 1 },
    ],
    [
      'back-off',
      (id) => sql('UPDATE runs SET asked_at = now() WHERE id = $1', [`${id}.2`]),
      { reason: 'back-off', scope: 'runtime here', state: 'waiting', ahead: 0 },
    ],
  ])('is %s', async (_title, arrange, want) => {
    const id = await submit();
    try {
      await arrange(id);
      expect(await why(`${id}.2`)).toMatchObject(want);
    } finally {
      await api.send('PATCH', '/runtimes/here/admission', { mode: 'open' }, ada);
      await api.send('PATCH', '/workspaces/default', { maxRunning: null }, OPERATOR);
    }
  });

  test('is its own scorecard where that has as many in flight as it may', async () => {
    const id = await submit('here', ada, { concurrency: 1 });
    await ask('rt:default:here', [`${id}.0`]);
    expect(await why(`${id}.1`)).toMatchObject({ reason: 'slots', scope: `scorecard ${id}`, limit: 1, used: 1 });
  });

  test('is nothing once it runs or is settled; until its job is there it is the placement', async () => {
    const id = await submit();
    await sql(`UPDATE runs SET open_attempt = 1, asked_at = now() WHERE id = $1`, [`${id}.0`]);
    await sql(
      `INSERT INTO attempts (run_id, attempt, pool_id, holder, seq, allocation, nonce)
       SELECT id, 1, pool_id, 'case:' || id, 1, id, 'cafe' FROM runs WHERE id = $1`,
      [`${id}.0`],
    );
    expect(await why(`${id}.0`)).toMatchObject({ state: 'running', reason: 'placement' });
    await sql('UPDATE attempts SET submitted_at = now()');
    expect(await why(`${id}.0`)).toMatchObject({ state: 'running', reason: null, ahead: null });
    const words = 'no node has 50,000 MB of memory left';
    await sql(`UPDATE attempts SET waiting = $1 WHERE run_id = $2`, [words, `${id}.0`]);
    const placement = { reason: 'placement', scope: 'runtime here', note: words };
    expect(await why(`${id}.0`)).toMatchObject({ state: 'running', ...placement, until: null });
    const { items } = (await get(`/scorecards/${id}/cases?state=running`)).body;
    expect(items).toMatchObject([{ id: `${id}.0`, waiting: placement }]);
    expect((await get(`/runs/${id}.0`)).body).toMatchObject({ state: 'running', placement: words });
    expect((await get(`/runs/${id}.0/attempts`)).body.items).toMatchObject([{ waiting: words, placedAs: null }]);
    await sql(`UPDATE attempts SET end_kind = 'record' WHERE run_id = $1`, [`${id}.0`]);
    expect(await why(`${id}.0`)).toMatchObject({ reason: null, note: null });
    expect((await get(`/runs/${id}.0`)).body).toMatchObject({ state: 'running', placement: null });
    await api.send('POST', `/runs/${id}.1/cancel`, undefined, ada);
    expect(await why(`${id}.1`)).toMatchObject({ state: 'settled', reason: null });
  });

  test('of others is not there', async () => {
    const id = await submit();
    expect((await get(`/runs/${id}.0/waiting`, bob)).status).toBe(404);
  });
});

describe('GET /runtimes/:id/admission', () => {
  test('tells holders with their age against the time-out of their cases, and who waits', async () => {
    const id = await submit();
    await ask('rt:default:here', runsOf(id), { demand: { memoryMb: 500 } });
    const { body } = await get('/runtimes/here/admission');
    expect(body).toMatchObject({
      dial: { runtime: 'here', mode: 'open', envelope: { slots: 4, memoryMb: 1_000 }, inForce: { slots: 4 } },
      inUse: { slots: 2, memoryMb: 1_000, cpuMillicores: 0 },
      holders: [{ run: `${id}.0`, caseId: 'case-0', workspace: 'default', timeoutSec: 1_800, phase: null }, {}],
      moreHolders: 0,
      waiting: { interactive: 0, batch: 1 },
    });
    expect(body.holders[0].ageMs).toBeGreaterThanOrEqual(0);
  });

  test('of a shared one counts what is others’, and shows it to the operator', async () => {
    const [mine, theirs] = [await submit('farm'), await submit('farm', bob)];
    await ask('rt:_shared:farm', [`${mine}.0`, `${theirs}.0`]);
    const runs = ({ body }: Awaited<ReturnType<typeof get>>) => [
      body.holders.map(({ run }: { run: string }) => run),
      body.moreHolders,
    ];
    expect(runs(await get('/runtimes/farm/admission'))).toEqual([[`${mine}.0`], 1]);
    expect(runs(await get('/runtimes/farm/admission', inWorkspace('default')))[0]).toHaveLength(2);
  });

  test('of a ledger that does not run is empty', async () => {
    const { status, body } = await get('/runtimes/here/admission');
    expect([status, body.inUse.slots, body.holders]).toEqual([200, 0, []]);
  });
});

describe('POST /queue/:runId/promote', () => {
  /** Who was told, once so many were. */
  const told = async (count: number): Promise<string[]> => {
    await eventually(`${count} are told`, async () => api.calls.length === count);
    return api.calls
      .splice(0)
      .map(({ workflowId }) => workflowId)
      .sort();
  };
  const promote = (run: string, who = ada) => api.send('POST', `/queue/${run}/promote`, undefined, who);

  test('tells the ledger, the window and the root of a run that waits or is queued, and again changes nothing', async () => {
    const id = await submit();
    api.calls.splice(0);
    const first = await promote(`${id}.2`);
    expect([first.status, first.body]).toEqual([
      200,
      { run: `${id}.2`, state: 'queued', promotedAt: expect.any(String) },
    ]);
    expect(await told(3)).toEqual(['admission:default:here', `scorecard:${id}`, `window:${id}:0`]);
    expect((await promote(`${id}.2`)).body.promotedAt).toBe(first.body.promotedAt);
    expect(await told(1)).toEqual(['admission:default:here']);
    // One that has asked is in the queue: the root need not hear of it.
    await ask('rt:default:here', [`${id}.1`]);
    await promote(`${id}.1`);
    expect(await told(2)).toEqual(['admission:default:here', `window:${id}:0`]);
    // Many at once are one signal.
    await Promise.all([promote(`${id}.1`), promote(`${id}.2`), promote(`${id}.2`)]);
    const [signal] = await eventually('it was sent', async () => api.calls.length > 0 && api.calls);
    expect(signal?.argument).toMatchObject({ promote: { length: 3 } });
  });

  test('is refused where as many of a workspace wait promoted as may', async () => {
    const { id } = (await api.send('POST', '/scorecards', { ...TASKS, trials: 334 }, ada)).body;
    await sql(`UPDATE runs SET promoted_at = now() WHERE scorecard_id = $1 AND ordinal < 1000`, [id]);
    const refused = await promote(`${id}.1001`);
    expect([refused.status, refused.body.detail]).toEqual([
      409,
      expect.stringMatching(/^1000 runs of workspace default/),
    ]);
    expect((await promote(`${id}.1`)).status).toBe(200);
  });

  test('is refused for what runs or is settled, saying which, and for what is others’', async () => {
    const id = await submit();
    await sql('UPDATE runs SET open_attempt = 1 WHERE id = $1', [`${id}.0`]);
    await api.send('POST', `/runs/${id}.1/cancel`, undefined, ada);
    const replies = [await promote(`${id}.0`), await promote(`${id}.1`), await promote(`${id}.2`, bob)];
    expect(replies.map(({ status, body }) => [status, body.detail])).toEqual([
      [409, `run ${id}.0 is running: only what waits is promoted`],
      [409, `run ${id}.1 is cancelled: only what waits is promoted`],
      [404, `there is no run ${id}.2`],
    ]);
  });
});

test('a run of a scorecard that waits is cancelled, its window told, and the last one completes the scorecard', async () => {
  const id = await submit();
  api.calls.splice(0);
  const cancelled = await api.send('POST', `/runs/${id}.0/cancel`, undefined, ada);
  expect([cancelled.status, cancelled.body.outcome]).toEqual([200, 'cancelled']);
  expect(api.calls).toContainEqual({ verb: 'signal', workflowId: `window:${id}:0`, argument: [`case:${id}.0`] });
  for (const run of [...runsOf(id), `${id}.0`]) await api.send('POST', `/runs/${run}/cancel`, undefined, ada);
  expect((await get(`/scorecards/${id}`)).body.status).toBe('completed');
});

describe('what is known of durations', () => {
  const TIMED = { kind: 'command', id: 'timed', version: '1.0.0', command: 'true' };

  /** Six runs of a minute each, of a harness that no test asked for before: what was read of durations is kept a while. */
  async function history(): Promise<void> {
    for (const who of [ada, bob]) await api.send('POST', '/harnesses', TIMED, who);
    const id = await submit('here', ada, { trials: 2, harness: 'timed' });
    await sql(
      `INSERT INTO attempts (run_id, attempt, pool_id, holder, seq, allocation, nonce, opened_at, closed_at, end_kind)
       SELECT id, 1, pool_id, 'case:' || id, 700 + ordinal, id, 'cafe', now() - interval '2 hours',
         now() - interval '2 hours' + interval '1 minute', 'silent' FROM runs WHERE scorecard_id = $1`,
      [id],
    );
    await sql(`UPDATE runs SET outcome = 'failed', settled_at = now() WHERE scorecard_id = $1`, [id]);
  }

  test('says when a waiting run starts, alone and in lists, and what a shared runtime would do for whom', async () => {
    await history();
    const barn = { kind: 'local', id: 'barn', version: '1', maxConcurrent: 2 };
    await api.send('POST', '/runtimes', barn, inWorkspace('_shared'));
    const mine = await submit('barn', ada, { harness: 'timed' });
    await ask('rt:_shared:barn', runsOf(mine));
    const body = await eventually('an estimate', async () => {
      const { body: waiting } = await get(`/runs/${mine}.2/waiting`);
      return waiting.etaP50 !== null && waiting;
    });
    expect(body.etaP50).toBeGreaterThan(55);
    expect(body).toMatchObject({ reason: 'slots', etaP50: body.etaP90 });
    const [listed] = (await get('/queue?runtime=barn')).body.items;
    expect(listed.waiting.etaP90).toBeGreaterThan(55);

    const theirs = await submit('barn', bob, { harness: 'timed' });
    await ask('rt:_shared:barn', [...runsOf(mine), ...runsOf(theirs)]);
    const namesTo = async (who: Record<string, string>) => {
      const answer = await api.send('POST', '/simulate', { runtime: 'barn', change: { slots: 3 } }, who);
      const { after, assumptions } = answer.body;
      const waits = after.waits.map(({ workspace, cases }: { workspace: string; cases: number }) => [workspace, cases]);
      return { waits, groups: assumptions.durations.length };
    };
    const isNamed = expect.arrayContaining([
      ['default', 3],
      ['other', 3],
    ]);
    const isTogether = expect.arrayContaining([
      ['default', 3],
      ['others', 3],
    ]);
    expect(await namesTo(ada)).toEqual({ waits: isTogether, groups: 1 });
    expect(await namesTo(inWorkspace('default'))).toEqual({ waits: isNamed, groups: 2 });
  });
});
