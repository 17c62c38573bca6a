import type { DispatchResult } from '../../../activities/attempt.js';
import { admissionWorkflowId, poolView, queuePage } from '../../../workflows/messages.js';
import { aRuntime, MEMBER } from '../../builders.js';
import { POOL } from '../../integration/store/world.js';
import { eventually } from '../../temporal.js';
import { Lab, MINUTE } from './lab.js';

const QUOTA = 3;
const CASES = 40;
const OTHER = 'rt:default:there';

let lab: Lab;
let refused = 0;

beforeAll(async () => {
  lab = await Lab.open();
  const counted = async <Result extends DispatchResult | { kind: string }>(
    result: Promise<Result>,
  ): Promise<Result> => {
    const found = await result;
    if ('refusal' in found && found.refusal.reason === 'quota') refused += 1;
    return found;
  };
  await lab.platform.startWorker(({ cases, local }) => ({
    cases: { ...cases, tryShort: (input) => counted(cases.tryShort(input)) },
    local: { ...local, dispatch: (input) => counted(local.dispatch(input)) },
  }));
  await lab.world.runtimes.insert('default', aRuntime({ id: 'there', maxConcurrent: 20 }), { slots: 20 }, MEMBER);
  await lab.setSlots(20, '1.0.1');
  const { dataSource } = lab.world;
  await dataSource.query('UPDATE workspaces SET max_running = $1', [QUOTA]);
  await dataSource.query(`
    CREATE TABLE open_at_once (runs integer);
    CREATE FUNCTION note_open() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO open_at_once SELECT count(*) FROM runs WHERE open_attempt IS NOT NULL; RETURN NEW; END $$;
    CREATE TRIGGER opened AFTER UPDATE OF open_attempt ON runs FOR EACH ROW WHEN (NEW.open_attempt IS NOT NULL)
      EXECUTE FUNCTION note_open();`);
}, 2 * MINUTE);
afterAll(() => lab.close(), MINUTE);

test(
  'a quota holds over two runtimes at every instant, says so to who waits, and costs few refused starts',
  async () => {
    const tasks = Array.from({ length: CASES }, () => lab.task('quota', 0.2));
    const every = { poolId: OTHER, version: '1.0.0' };
    const [here, there] = [
      await lab.submit(tasks),
      await lab.submit(tasks, { sites: { every, runtime: 'there@1.0.0' } }),
    ];
    const roots = [await lab.start(here), await lab.start(there)];
    await eventually('work runs', async () => lab.noted('quota').starts > QUOTA);
    for (const poolId of [POOL, OTHER]) {
      const ledger = lab.platform.client.workflow.getHandle(admissionWorkflowId(poolId));
      const { tickets } = await ledger.query(queuePage, { limit: 100 });
      expect(tickets.length).toBeGreaterThan(0);
      const waiting = { reason: 'quota', scope: 'workspace default', limit: QUOTA, used: QUOTA };
      for (const ticket of tickets) expect(ticket.waiting).toMatchObject(waiting);
    }
    for (const root of roots) await root.result();

    for (const id of [here, there]) expect(await lab.world.scorecards.counts(id)).toMatchObject({ passed: CASES });
    const [{ most }] = await lab.world.dataSource.query('SELECT max(runs) AS most FROM open_at_once');
    expect(most).toBe(QUOTA);
    expect(lab.noted('quota').most).toBe(QUOTA);
    // Room that a run leaves is offered in both pools, and only one of them can have it.
    expect(refused).toBeLessThan(2 * 2 * CASES);
    const ledger = lab.platform.client.workflow.getHandle(admissionWorkflowId(POOL));
    await eventually('nothing is held', async () => (await ledger.query(poolView)).inUse.slots === 0);
  },
  2 * MINUTE,
);
