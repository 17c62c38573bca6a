import { fileURLToPath } from 'node:url';
import { admissionRequested, admissionWorkflowId, poolView, TASK_QUEUES } from '../../../workflows/messages.js';
import { POOL } from '../../integration/store/world.js';
import { eventually } from '../../temporal.js';
import { Lab, MINUTE } from './lab.js';

const FOREIGN = fileURLToPath(new URL('../../foreign-ledger.ts', import.meta.url));

let lab: Lab;
beforeAll(async () => {
  lab = await Lab.open();
}, MINUTE);
afterAll(() => lab.close(), MINUTE);

test(
  'a ledger whose history this version cannot follow fails, and the next message starts one that is read from the database',
  async () => {
    const { workflow } = lab.platform.client;
    const workflowId = admissionWorkflowId(POOL);
    const foreign = await lab.platform.startForeignWorkflows(FOREIGN);
    const { firstExecutionRunId } = await workflow.start('admissionWorkflow', {
      workflowId,
      taskQueue: TASK_QUEUES.control,
      args: [{ poolId: POOL }],
    });
    const old = workflow.getHandle(workflowId, firstExecutionRunId);
    await eventually('its history has begun', async () => (await old.describe()).historyLength >= 5);
    await foreign.stop();

    await lab.platform.startWorker();
    const message = { acquire: [], release: [] };
    await old.signal(admissionRequested, message);
    await eventually('it has failed', async () => (await old.describe()).status.name === 'FAILED');
    const next = await workflow.signalWithStart('admissionWorkflow', {
      workflowId,
      taskQueue: TASK_QUEUES.control,
      args: [{ poolId: POOL }],
      signal: admissionRequested,
      signalArgs: [message],
    });
    // It answers once it is read.
    await eventually('it answers', () =>
      next.query(poolView).then(
        ({ waiting }) => waiting.batch === 0,
        () => false,
      ),
    );
  },
  MINUTE,
);
