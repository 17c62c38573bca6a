import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { temporal } from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import {
  admissionWorkflowId,
  caseWorkflowId,
  scorecardWorkflowId,
  windowWorkflowId,
} from '../../../workflows/messages.js';
import { anEarlyStop } from '../../builders.js';
import { POOL } from '../../integration/store/world.js';
import { eventually, installRuntime, sharedTemporal } from '../../temporal.js';
import { Lab, MINUTE } from './lab.js';
import { SessionServer, says } from './session-server.js';

/**
 * Golden histories: what running workflows may have recorded, replayed by the code of today. To record them anew, and
 * only after a change behind `patched()`, run this file with EVERDICT_RECORD_HISTORIES=1.
 */
const DIR = fileURLToPath(new URL('../../histories/', import.meta.url));
const isRecording = process.env.EVERDICT_RECORD_HISTORIES === '1';
const SCENARIOS = [
  'admission-continued',
  'admission-rebuilt',
  'admission-sessions',
  'case-cancelled',
  'case-long',
  'case-short',
  'scorecard-cancelled',
  'scorecard-completed',
  'scorecard-early',
  'scorecard-late',
  'sweep',
  'window-cancelled',
  'window-completed',
  'window-early',
] as const;
/** As earlier code recorded them: a short job that was followed and finished in two local steps. */
const EARLIER = ['case-short-two-steps'];
type Scenario = (typeof SCENARIOS)[number];

const { History } = temporal.api.history.v1;

const fileOf = (scenario: string): string => `${DIR}${scenario}.json`;
const read = (scenario: string): temporal.api.history.v1.History =>
  History.fromObject(JSON.parse(readFileSync(fileOf(scenario), 'utf8')));

async function record(lab: Lab, scenario: Scenario, workflowId: string, runId?: string): Promise<void> {
  const history = await lab.platform.client.workflow.getHandle(workflowId, runId).fetchHistory();
  const plain = History.toObject(History.fromObject(history), { longs: String, bytes: String });
  // Who executed it is of no use, and names a machine.
  const text = JSON.stringify(plain, (_key, value) => (/^\d+@/.test(value) ? 'worker' : value));
  writeFileSync(fileOf(scenario), `${text}\n`);
}

async function recordAll(lab: Lab): Promise<void> {
  await lab.platform.startWorker();
  const done = await lab.submit(['echo short', 'sleep 4', 'echo other']);
  const root = await lab.start(done);
  await root.result();
  await record(lab, 'case-short', caseWorkflowId(`${done}.0`));
  await record(lab, 'case-long', caseWorkflowId(`${done}.1`));
  await record(lab, 'window-completed', windowWorkflowId(done, 0));
  await record(lab, 'scorecard-completed', scorecardWorkflowId(done));

  const stopped = await lab.submit(Array.from({ length: 6 }, () => 'sleep 60'));
  const cancelled = await lab.start(stopped);
  await eventually('cases run', async () => ((await lab.world.scorecards.counts(stopped))?.running ?? 0) >= 4);
  await lab.pause(3_000);
  await cancelled.cancel();
  await cancelled.result().catch(() => undefined);
  await record(lab, 'case-cancelled', caseWorkflowId(`${stopped}.0`));
  await record(lab, 'window-cancelled', windowWorkflowId(stopped, 0));
  await record(lab, 'scorecard-cancelled', scorecardWorkflowId(stopped));

  const late = await lab.submit(
    Array.from({ length: 6 }, () => 'sleep 60'),
    { deadlineSec: 3 },
  );
  await (await lab.start(late)).result();
  await record(lab, 'scorecard-late', scorecardWorkflowId(late));

  const early = await lab.submit(
    Array.from({ length: 6 }, () => `mkdir ${lab.file('early')}.first && exit 1; sleep 60`),
    {
      earlyStop: anEarlyStop(),
    },
  );
  await (await lab.start(early)).result();
  await record(lab, 'scorecard-early', scorecardWorkflowId(early));
  await record(lab, 'window-early', windowWorkflowId(early, 0));

  const lost = await lab.submit(['sleep 60']);
  const gone = await lab.start(lost);
  await eventually('it runs', async () => (await lab.world.attempts.read(`${lost}.0`, 1))?.submittedAt);
  await gone.terminate('to be swept');
  await eventually('its case is gone, too', async () => (await lab.sweep()).reclaimed === 1);
  await record(lab, 'sweep', lab.lastSweep);

  const pool = lab.platform.client.workflow.getHandle(admissionWorkflowId(POOL));
  await pool.terminate('to be rebuilt');
  const many = await lab.submit(Array.from({ length: 120 }, () => 'true'));
  const first = await lab.start(many);
  const { runId } = await eventually('it is rebuilt', async () => {
    const described = await pool.describe();
    return described.status.name === 'RUNNING' ? described : undefined;
  });
  await first.result();
  await record(lab, 'admission-rebuilt', admissionWorkflowId(POOL), runId);
  for (let i = 0; i < 500; i += 20) {
    await Promise.all(Array.from({ length: 20 }, () => pool.signal('envelopeChanged', 0)));
  }
  const next = await eventually('it continued as new', async () => {
    const described = await pool.describe();
    return described.runId === runId ? undefined : described;
  });
  await (await lab.start(await lab.submit(Array.from({ length: 10 }, () => 'true')))).result();
  await record(lab, 'admission-continued', admissionWorkflowId(POOL), next.runId);
}

/** A pool that is full twice, and whose endpoint then breaks. */
async function recordSessions(lab: Lab): Promise<void> {
  const server = new SessionServer();
  await server.listen();
  const pool = lab.platform.client.workflow.getHandle(admissionWorkflowId(POOL));
  await pool.terminate('to be rebuilt');
  const answers = [says(2, 2), says(2, 2), says(2, 1)];
  const harnessPk = await server.register(lab.world, 'browse', (reads, reply) =>
    (answers[reads - 1] ?? says(1, 2))(reads, reply),
  );
  await (await lab.start(await lab.submit(['true', 'true', 'true'], { harnessPk }))).result();
  await record(lab, 'admission-sessions', admissionWorkflowId(POOL));
  server.close();
}

beforeAll(async () => {
  if (!isRecording) return installRuntime();
  const lab = await Lab.open({ EVERDICT_EGRESS_ALLOW: '127.0.0.0/8' });
  try {
    await recordAll(lab);
    await recordSessions(lab);
  } finally {
    await lab.close();
  }
}, 5 * MINUTE);

test.each([...SCENARIOS, ...EARLIER])(
  'the golden history %s replays',
  async (scenario) => {
    const { bundlePath } = await sharedTemporal();
    await Worker.runReplayHistory({ workflowBundle: { codePath: bundlePath } }, read(scenario));
  },
  2 * MINUTE,
);

test('a history that the code of today would not make is refused', async () => {
  const { bundlePath } = await sharedTemporal();
  const history = read('case-long');
  for (const { activityTaskScheduledEventAttributes: scheduled } of history.events) {
    if (scheduled) scheduled.activityType = { name: 'somethingElse' };
  }
  const replay = Worker.runReplayHistory({ workflowBundle: { codePath: bundlePath } }, history);
  await expect(replay).rejects.toThrow();
});

test('every history in the folder is replayed', () => {
  expect(existsSync(DIR)).toBe(true);
  const names = readdirSync(DIR).filter((name) => name.endsWith('.json'));
  expect(names.sort()).toEqual([...SCENARIOS, ...EARLIER].map((scenario) => `${scenario}.json`).sort());
});
