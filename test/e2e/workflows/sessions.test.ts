import type { WorkflowHandle } from '@temporalio/client';
import { newId } from '../../../store/ids.js';
import { admissionWorkflowId, caseStart, waitingOf } from '../../../workflows/messages.js';
import { aCase, aRuntime, MEMBER } from '../../builders.js';
import { POOL } from '../../integration/store/world.js';
import { eventually } from '../../temporal.js';
import { Lab, MINUTE } from './lab.js';
import { SessionServer, says } from './session-server.js';

const OTHER_POOL = 'rt:default:there';
const server = new SessionServer();
let lab: Lab;
beforeAll(async () => {
  await server.listen();
  lab = await Lab.open({ EVERDICT_EGRESS_ALLOW: '127.0.0.0/8' });
  await lab.world.runtimes.insert('default', aRuntime({ id: 'there' }), { slots: 4 }, MEMBER);
  await lab.setSlots(20, '1.1.0');
  await lab.platform.startWorker();
}, 2 * MINUTE);
afterAll(async () => {
  await lab.close();
  server.close();
}, MINUTE);

interface Parts {
  task?: string;
  poolId?: string;
  queueDeadlineSec?: number;
}

async function start(harnessPk: number, { task = 'echo done', poolId = POOL, queueDeadlineSec }: Parts = {}) {
  const run = { id: newId('run'), workspaceId: 'default', class: 'interactive' as const, demand: {}, infraRetries: 0 };
  const site = { poolId, version: '1.0.0' };
  const rest = { harnessPk, site, params: {}, metadata: {} };
  await lab.world.runs.create({ ...run, ...rest, case: { own: aCase({ id: 'own', task }) } });
  await lab.world.runs.markStarted(run.id);
  const input = { ...run, runId: run.id, caseId: 'own', poolId, kind: 'local' as const, attempt: 1, queueDeadlineSec };
  const handle = await lab.platform.client.workflow.start('caseWorkflow', caseStart(input, 10_000));
  return { id: run.id, handle };
}

const waiting = async (id: string, poolId = POOL) => {
  const admission = lab.platform.client.workflow.getHandle(admissionWorkflowId(poolId));
  return (await admission.query(waitingOf, [id]))[id];
};
const heldUpBy = (pool: string, limit: number | null, used: number | null) => ({
  reason: 'pool',
  scope: `pool default/${pool}`,
  limit,
  used,
});
const untilHeldUp = (id: string, limit: number | null) =>
  eventually('its ticket waits for a session', async () => {
    const said = await waiting(id).catch(() => undefined);
    return said?.reason === 'pool' && said.limit === limit && said;
  });
const cancel = async (handles: readonly WorkflowHandle[]) => {
  await Promise.all(handles.map((handle) => handle.cancel()));
  await Promise.all(handles.map((handle) => handle.result().catch(() => undefined)));
};

test(
  'F59 as many cases start as the pool has sessions left, and as many as the runtime has slots once it is gone',
  async () => {
    const others = 21;
    const harness = await server.register(lab.world, 'browse', (reads, reply) => {
      void lab.liveAttempts().then((ours) => says(32, others + ours.length)(reads, reply));
    });
    const runs = await Promise.all(Array.from({ length: 13 }, () => start(harness, { task: 'sleep 120' })));
    const open = () => lab.liveAttempts();
    await eventually('eleven run', async () => (await open()).length === 11);
    const late = await start(harness, { task: 'sleep 120' });
    expect(await untilHeldUp(late.id, 32)).toMatchObject(heldUpBy('browse', 32, 32));
    expect((await open()).length).toBe(11);

    server.answer('browse', (_reads, reply) => void reply.destroy());
    await eventually('the others run, too', async () => (await open()).length === 14);
    expect(server.readsOf('browse')).toBe(1);
    const last = await start(harness, { task: 'sleep 120' });
    await eventually('and one that comes later', async () => (await open()).length === 15);
    expect(server.readsOf('browse')).toBeLessThanOrEqual(2);
    await cancel([...runs, late, last].map(({ handle }) => handle));
  },
  2 * MINUTE,
);

test(
  'F61 a case at a full pool starts once a session is free, says what it waits for, and places nothing before',
  async () => {
    const harness = await server.register(lab.world, 'full', (reads, reply) =>
      says(2, reads <= 2 ? 2 : 1)(reads, reply),
    );
    const { id, handle } = await start(harness);
    expect(await untilHeldUp(id, 2)).toMatchObject(heldUpBy('full', 2, 2));
    expect(await lab.world.attempts.list(id)).toEqual([]);
    expect(await handle.result()).toBe('passed');
    expect(server.readsOf('full')).toBe(3);
  },
  MINUTE,
);

test(
  'F61 a case at a pool that never has a session ends at its queue deadline, or when it is cancelled',
  async () => {
    const harness = await server.register(lab.world, 'stuck', says(2, 2));
    const [late, cancelled] = await Promise.all([start(harness, { queueDeadlineSec: 3 }), start(harness)]);
    await untilHeldUp(cancelled.id, 2);
    expect(await late.handle.result()).toBe('errored');
    expect((await lab.world.runs.find('default', late.id))?.errorCode).toBe('QUEUE_TIMEOUT');
    await lab.world.runs.requestCancel(cancelled.id);
    await cancel([cancelled.handle]);
    for (const { id } of [late, cancelled]) expect(await lab.world.attempts.list(id)).toEqual([]);
    expect(await waiting(cancelled.id)).toBeUndefined();
  },
  MINUTE,
);

test(
  'F57 a pool that does not answer holds up its own cases, no others of the runtime, and no other runtime',
  async () => {
    const silent = await start(await server.register(lab.world, 'silent', () => undefined));
    await untilHeldUp(silent.id, null);
    const harness = await lab.world.harnesses.find('default', 'shell');
    const others = [POOL, OTHER_POOL].map((poolId) => start(harness?.pk ?? 0, { poolId }));
    for (const { handle } of await Promise.all(others)) expect(await handle.result()).toBe('passed');
    expect(await waiting(silent.id)).toMatchObject(heldUpBy('silent', null, null));
    expect(await silent.handle.result()).toBe('passed');
    expect(server.readsOf('silent')).toBe(1);
  },
  MINUTE,
);
