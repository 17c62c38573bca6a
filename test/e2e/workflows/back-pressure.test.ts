import type { AttemptInput, DispatchResult } from '../../../activities/attempt.js';
import { readLocalHost } from '../../../backends/local/local.host.js';
import type { AdmissionMessage } from '../../../contracts/admission.js';
import type { PoolView } from '../../../contracts/admission-view.js';
import type { RunErrorCode } from '../../../contracts/attempt.js';
import { PauseStore } from '../../../store/pause.store.js';
import { admissionRequested, admissionWorkflowId, envelopeChanged, poolView } from '../../../workflows/messages.js';
import { POOL } from '../../integration/store/world.js';
import { eventually } from '../../temporal.js';
import { Lab, MINUTE } from './lab.js';

const failed = (code: RunErrorCode): DispatchResult => ({ kind: 'failed', failure: { code, message: 'it broke' } });

describe('on a real platform', () => {
  let lab: Lab;
  let pauses: PauseStore;
  /** How attempts of a run end instead of running: undefined, if they run. */
  let breaks: (input: AttemptInput) => RunErrorCode | undefined = () => undefined;

  beforeAll(async () => {
    lab = await Lab.open();
    pauses = new PauseStore(lab.world.dataSource);
    const { id: hostId } = await readLocalHost(lab.platform.env.EVERDICT_STATE_DIR);
    const broken = async (input: AttemptInput, code: RunErrorCode): Promise<DispatchResult> => {
      const opened = await lab.world.attempts.open({ ...lab.world.opening(input.runId, input), hostId });
      return opened.kind === 'refused' ? opened : failed(code);
    };
    await lab.platform.startWorker(({ cases, local }) => {
      const tryShort: typeof local.tryShort = (input) => {
        const code = breaks(input);
        return code ? broken(input, code) : local.tryShort(input);
      };
      return { cases: { ...cases, tryShort }, local: { ...local, tryShort } };
    });
  }, 2 * MINUTE);
  afterAll(() => lab.close(), MINUTE);

  const ledger = () => lab.platform.client.workflow.getHandle(admissionWorkflowId(POOL));
  const view = (): Promise<PoolView> => ledger().query(poolView);
  const find = (id: string) => lab.world.scorecards.find('default', id);

  test(
    'a scorecard with a bad image pauses, takes no slot, closes the runtime for nobody, and goes on when it is resumed',
    async () => {
      breaks = () => 'IMAGE_PULL_FAILED';
      const id = await lab.submit(
        Array.from({ length: 12 }, () => 'true'),
        { infraRetries: 9 },
      );
      const bad = await lab.start(id);
      await eventually('it is paused', async () => (await find(id))?.status === 'paused');
      expect((await find(id))?.pauseReason).toMatch(/^1\d of its last 1\d attempts ended .*: IMAGE_PULL_FAILED 1\d$/);
      await eventually('its tickets wait, and nothing of it runs', async () => {
        const { pausedScorecards, inUse } = await view();
        return pausedScorecards.includes(id) && inUse.slots === 0;
      });

      breaks = ({ runId }) => (runId.startsWith(id) ? 'IMAGE_PULL_FAILED' : undefined);
      const good = await lab.submit(['true', 'true']);
      await (await lab.start(good)).result();
      expect(await find(good)).toMatchObject({ status: 'completed', counts: { passed: 2 } });
      expect(await view()).toMatchObject({ circuit: { state: 'closed', failures: 0 } });
      expect((await find(id))?.status).toBe('paused');

      breaks = () => undefined;
      for (const { envelopeVersion } of await pauses.resume(id))
        await ledger().signal(envelopeChanged, envelopeVersion);
      await bad.result();
      expect(await find(id)).toMatchObject({ status: 'completed', counts: { passed: 12, infraErrors: 0 } });
    },
    MINUTE,
  );

  test(
    'a runtime that fails three times in a row gets no work until its circuit is closed, and a paused scorecard can be cancelled',
    async () => {
      breaks = () => 'NODE_LOST';
      const id = await lab.submit(
        Array.from({ length: 6 }, () => 'true'),
        { infraRetries: 9 },
      );
      const root = await lab.start(id);
      await eventually('it is open', async () => (await view()).circuit?.state === 'open');
      await eventually('nothing runs', async () => (await view()).inUse.slots === 0);
      const attempts = await lab.world.dataSource.query('SELECT count(*) FROM attempts');

      breaks = () => undefined;
      // Somebody who waits in the meantime is granted nothing.
      await pauses.pause(id, 'to look at it');
      expect((await view()).waiting.batch).toBeGreaterThan(0);
      expect(await lab.world.dataSource.query('SELECT count(*) FROM attempts')).toEqual(attempts);
      const reset: AdmissionMessage = { acquire: [], release: [], resetCircuit: true };
      await ledger().signal(admissionRequested, reset);
      expect((await view()).circuit).toEqual({ state: 'closed', failures: 0, until: null });

      await lab.world.scorecards.requestCancel(id);
      await root.cancel();
      await root.result().catch(() => undefined);
      expect(await find(id)).toMatchObject({ status: 'cancelled', counts: { cancelled: 6 } });
      await eventually('nothing is held or wanted', () => lab.isLedgerEmpty());
      expect(await lab.platform.failedWorkflowTasks()).toEqual([]);
    },
    MINUTE,
  );
});
