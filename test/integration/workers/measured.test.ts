import { errored } from '../../../policy/results.js';
import { MeasuredRunStore, MeasuredSweepStore } from '../../../workers/measured.js';
import { WorkerMetrics } from '../../../workers/worker-metrics.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { parseScrape, sample } from '../../prometheus.js';
import { aWorld } from '../store/world.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

test('runs that are settled without an attempt are counted once, under their code', async () => {
  const world = await aWorld(db.dataSource);
  const metrics = new WorkerMetrics();
  const id = await world.submit(4);
  const runs = new MeasuredRunStore(db.dataSource, metrics);
  const late = errored('QUEUE_TIMEOUT', 'it waited too long');
  for (let round = 0; round < 2; round += 1) await runs.settleUnplaced(`${id}.0`, late);
  const sweep = new MeasuredSweepStore(db.dataSource, metrics);
  for (let round = 0; round < 2; round += 1) await sweep.settleOrphans(id, 'its workflow is gone');

  const scrape = parseScrape(await metrics.registry.metrics());
  const counted = (error_code: string) =>
    sample(scrape, 'everdict_settled_runs_total', { outcome: 'errored', error_class: 'infra', error_code });
  expect([counted('QUEUE_TIMEOUT'), counted('PLATFORM_TERMINATED')]).toEqual([1, 3]);
});
