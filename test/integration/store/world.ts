import type { DataSource } from 'typeorm';
import type { Dataset } from '../../../contracts/dataset.js';
import { AttemptStore } from '../../../store/attempt.store.js';
import { DatasetStore } from '../../../store/dataset.store.js';
import type { AttemptOpening } from '../../../store/fence.js';
import { HarnessStore } from '../../../store/harness.store.js';
import { newId } from '../../../store/ids.js';
import { LogStore } from '../../../store/log.store.js';
import { PoolStore } from '../../../store/pool.store.js';
import { RunStore } from '../../../store/run.store.js';
import { RuntimeStore } from '../../../store/runtime.store.js';
import { ScorecardStore } from '../../../store/scorecard.store.js';
import type { NewScorecard } from '../../../store/scorecard-insert.js';
import { aDataset, aHarness, aRuntime, MEMBER } from '../../builders.js';

export const POOL = 'rt:default:here';

let lastSeq = 0;
/** A lease number that no test of this file has used. */
export const nextSeq = (): number => {
  lastSeq += 1;
  return lastSeq;
};

/** These runs, as a window asks for them. */
export const asked = (runIds: readonly string[], askedAt = Date.now()) => runIds.map((runId) => ({ runId, askedAt }));

/** Every store of a database, with a harness `echo` and a runtime `here` registered. */
export async function aWorld(dataSource: DataSource) {
  const stores = {
    attempts: new AttemptStore(dataSource),
    datasets: new DatasetStore(dataSource),
    harnesses: new HarnessStore(dataSource),
    logs: new LogStore(dataSource),
    pools: new PoolStore(dataSource),
    runs: new RunStore(dataSource),
    runtimes: new RuntimeStore(dataSource),
    scorecards: new ScorecardStore(dataSource),
  };
  await stores.harnesses.insert('default', aHarness(), MEMBER);
  await stores.runtimes.insert('default', aRuntime(), { slots: 4 }, MEMBER);
  const harness = await stores.harnesses.find('default', 'echo');
  if (!harness) throw new Error('the harness was not stored');

  const register = async (dataset: Dataset): Promise<number> => {
    await stores.datasets.insert('default', dataset, MEMBER);
    const found = await stores.datasets.find('default', `${dataset.id}@${dataset.version}`);
    if (!found) throw new Error('the dataset was not stored');
    return found.pk;
  };

  const newScorecard = (datasetPk: number, parts: Partial<NewScorecard> = {}): NewScorecard => ({
    id: newId('sc'),
    workspaceId: 'default',
    datasetPk,
    harnessPk: harness.pk,
    sites: { every: { poolId: POOL, version: '1.0.0' }, runtime: 'here@1.0.0' },
    fallback: {},
    class: 'batch',
    trials: 1,
    infraRetries: 2,
    params: {},
    metadata: {},
    ...parts,
  });

  /** A scorecard of `size` cases; its runs are `<id>.0`, `<id>.1`, … */
  const submit = async (size: number, parts: Partial<NewScorecard> = {}): Promise<string> => {
    const pk = await register(aDataset({ size, id: `tasks-${size}` }));
    return (await stores.scorecards.create(newScorecard(pk, parts))).id;
  };

  const opening = (runId: string, parts: Partial<AttemptOpening> = {}): AttemptOpening => {
    const attempt = parts.attempt ?? 1;
    return {
      runId,
      attempt,
      poolId: POOL,
      holder: `case:${runId}`,
      seq: nextSeq(),
      epoch: 0,
      allocation: `everdict-${runId}-${attempt}`,
      nonce: 'cafe',
      ...parts,
    };
  };

  return { ...stores, dataSource, harnessPk: harness.pk, register, newScorecard, submit, opening };
}

export type World = Awaited<ReturnType<typeof aWorld>>;
