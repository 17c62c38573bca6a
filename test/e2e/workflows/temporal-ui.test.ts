import { readFileSync } from 'node:fs';
import type { AttemptInput, DispatchResult } from '../../../activities/attempt.js';
import { readLocalHost } from '../../../backends/local/local.host.js';
import {
  admissionWorkflowId,
  caseStart,
  caseWorkflowId,
  SEARCH_ATTRIBUTES,
  scorecardWorkflowId,
  windowWorkflowId,
} from '../../../workflows/messages.js';
import { POOL } from '../../integration/store/world.js';
import { eventually } from '../../temporal.js';
import { Lab, MINUTE } from './lab.js';

let lab: Lab;
let ended: string;
let running: string;
let gone: string;
let alone: string;

const workflows = () => lab.platform.client.workflow;

/** Three cases of which one failed, one broke by its infrastructure and one passed; another scorecard that fills all slots. */
beforeAll(async () => {
  lab = await Lab.open();
  const { id: hostId } = await readLocalHost(lab.platform.env.EVERDICT_STATE_DIR);
  let broken = '';
  const breakOf = async (input: AttemptInput): Promise<DispatchResult> => {
    const opened = await lab.world.attempts.open({ ...lab.world.opening(input.runId, input), hostId });
    return opened.kind === 'refused' ? opened : { kind: 'failed', failure: { code: 'NODE_LOST', message: 'it broke' } };
  };
  await lab.platform.startWorker(({ cases, local }) => {
    const tryShort: typeof local.tryShort = (input) =>
      input.runId === broken ? breakOf(input) : local.tryShort(input);
    return { cases: { ...cases, tryShort }, local: { ...local, tryShort } };
  });
  ended = await lab.submit(['exit 1', 'true', 'true'], { infraRetries: 0 });
  broken = `${ended}.1`;
  await (await lab.start(ended)).result();
  await lab.sweep();

  running = await lab.submit(Array.from({ length: 4 }, () => lab.task('long', 60)));
  await lab.start(running);
  await eventually('all slots are taken', async () => lab.noted('long').starts === 4);
  gone = await lab.submitRun('true');
  alone = await lab.submitRun('true');
  for (const runId of [gone, alone]) {
    const input = { workspaceId: 'default', runId, caseId: 'own', poolId: POOL, kind: 'local' as const };
    const rest = { class: 'batch' as const, demand: {}, infraRetries: 0, attempt: 1 };
    await workflows().start('caseWorkflow', caseStart({ ...input, ...rest }, 10_000));
  }
  await workflows().getHandle(caseWorkflowId(gone)).terminate('to see it');
}, 2 * MINUTE);
afterAll(() => lab.close(), MINUTE);

const page = readFileSync('docs/temporal-ui.md', 'utf8');
const queries = new Map(
  [...page.matchAll(/^### (.+)\n\n```\n(.+)\n```$/gm)].map(([, title = '', query = '']) => [title, query]),
);

async function found(title: string, scorecard: string): Promise<string[]> {
  const names: Record<string, string> = { scorecard, pool: POOL, workspace: 'default' };
  const query = (queries.get(title) ?? '').replaceAll(/<(\w+)>/g, (_, name: string) => names[name] ?? '');
  const ids: string[] = [];
  for await (const { workflowId } of workflows().list({ query })) ids.push(workflowId);
  return ids.sort();
}

test('every saved query of the page finds on the server what its title says', async () => {
  const cases = (...runIds: string[]) => runIds.map(caseWorkflowId).sort();
  const want: Record<string, [string, () => string[]]> = {
    'Cases of a scorecard that infrastructure failed': [ended, () => cases(`${ended}.1`)],
    'Cases of a scorecard that broke': [ended, () => cases(`${ended}.1`)],
    'Cases of a scorecard that failed': [ended, () => cases(`${ended}.0`)],
    'Cases that run on a runtime': [ended, () => cases(...[0, 1, 2, 3].map((i) => `${running}.${i}`))],
    'Cases that wait for a runtime': [ended, () => cases(alone)],
    'Scorecards of a workspace that are not finished': [ended, () => [scorecardWorkflowId(running)]],
    'Windows of a scorecard': [running, () => [windowWorkflowId(running, 0)]],
    'Runs of their own': [ended, () => cases(gone, alone)],
    'The ledger of a runtime': [ended, () => [admissionWorkflowId(POOL)]],
    'What somebody terminated, or what failed of itself': [ended, () => cases(gone)],
    'Sweeps that could not remove something': [ended, () => []],
  };
  expect([...queries.keys()].sort()).toEqual(Object.keys(want).sort());
  for (const [title, [scorecard, ids]] of Object.entries(want)) {
    // What the server lists follows what happened by a moment.
    await eventually(title, async () => JSON.stringify(await found(title, scorecard)) === JSON.stringify(ids()));
  }
});

/** Search attributes of a workflow, without those of Temporal itself. */
async function attributesOf(workflowId: string): Promise<Record<string, unknown>> {
  const { typedSearchAttributes } = await workflows().getHandle(workflowId).describe();
  return Object.fromEntries(
    Object.values(SEARCH_ATTRIBUTES).flatMap((key) => {
      const value = typedSearchAttributes.get(key);
      return value === undefined ? [] : [[key.name.slice('Everdict'.length), value]];
    }),
  );
}

test('each kind of workflow says whose it is, where it runs, how far it is and how it ended', async () => {
  const of = { Workspace: 'default', Scorecard: ended };
  expect(await attributesOf(scorecardWorkflowId(ended))).toEqual({ ...of, Phase: 'done', Outcome: 'completed' });
  expect(await attributesOf(windowWorkflowId(ended, 0))).toEqual({ ...of, Phase: 'done', Outcome: 'completed' });
  expect(await attributesOf(windowWorkflowId(running, 0))).toMatchObject({ Scorecard: running, Phase: 'running' });
  expect(await attributesOf(caseWorkflowId(`${ended}.1`))).toEqual({
    ...{ ...of, Runtime: POOL, Phase: 'done', Outcome: 'errored-infra' },
  });
  expect(await attributesOf(caseWorkflowId(alone))).toEqual({ Workspace: 'default', Runtime: POOL, Phase: 'waiting' });
  expect(await attributesOf(lab.lastSweep)).toEqual({ Phase: 'done', Outcome: 'completed' });
  expect(await attributesOf(admissionWorkflowId(POOL))).toEqual({
    Workspace: 'default',
    Runtime: POOL,
    Phase: 'running',
  });
});

test('summaries name workspace, scorecard and case, details lead back to the command line, and activities tell their attempt', async () => {
  const shown = async (workflowId: string) => {
    const described = await workflows().getHandle(workflowId).describe();
    return [await described.staticSummary(), await described.staticDetails()];
  };
  expect(await shown(scorecardWorkflowId(ended))).toEqual([
    `default · ${ended}`,
    expect.stringContaining(`npx everdict scorecard show ${ended}`),
  ]);
  expect((await shown(windowWorkflowId(ended, 0)))[0]).toBe(`default · ${ended} · window 0`);
  expect(await shown(caseWorkflowId(`${ended}.0`))).toEqual([
    `default · ${ended} · case-0`,
    expect.stringContaining(`npx everdict run show ${ended}.0`),
  ]);
  expect((await shown(admissionWorkflowId(POOL)))[0]).toBe(`slots of ${POOL}`);

  const details = async (workflowId: string) =>
    (await workflows().getHandle(workflowId).query<{ currentDetails: string }>('__temporal_workflow_metadata'))
      .currentDetails;
  expect(await details(caseWorkflowId(`${running}.0`))).toBe(`running, attempt 1 on ${POOL}`);
  expect(await details(caseWorkflowId(`${ended}.1`))).toBe(`errored-infra on ${POOL}`);
  expect(await details(windowWorkflowId(running, 0))).toBe('4 running, 0 waiting, 0 to ask for');
  expect(await details(admissionWorkflowId(POOL))).toMatch(/^4 of 4 slots in use, 1 waiting/);

  const { events = [] } = await workflows()
    .getHandle(caseWorkflowId(`${running}.0`))
    .fetchHistory();
  const summaries = (events ?? []).flatMap(({ userMetadata }) =>
    userMetadata?.summary?.data ? [Buffer.from(userMetadata.summary.data).toString('utf8')] : [],
  );
  expect(summaries).toEqual(expect.arrayContaining(['"local try, attempt 1"', '"local dispatch, attempt 1"']));
});

test(
  'a ledger and a case that goes on tell it, too',
  async () => {
    const ledger = workflows().getHandle(admissionWorkflowId(POOL));
    const { runId } = await ledger.describe();
    for (let i = 0; i < 500; i += 20) {
      await Promise.all(Array.from({ length: 20 }, () => ledger.signal('envelopeChanged', 0)));
    }
    await eventually('it continued as new', async () => (await ledger.describe()).runId !== runId);
    expect(await attributesOf(admissionWorkflowId(POOL))).toEqual({
      Workspace: 'default',
      Runtime: POOL,
      Phase: 'running',
    });

    await lab.world.scorecards.requestCancel(running);
    await workflows().getHandle(scorecardWorkflowId(running)).cancel();
    await workflows().getHandle(caseWorkflowId(alone)).result();
    expect(await attributesOf(caseWorkflowId(alone))).toMatchObject({ Phase: 'done', Outcome: 'passed' });
    await eventually(
      'the window ended',
      async () => (await attributesOf(windowWorkflowId(running, 0))).Outcome === 'cancelled',
    );
  },
  MINUTE,
);
