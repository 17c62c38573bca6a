import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { eventually } from '../eventually.js';
import { parseScrape, type Scrape, sample } from '../prometheus.js';
import { E2ePlatform, MINUTE } from './platform.js';

const DOCS = path.resolve('docs');

let platform: E2ePlatform;
beforeAll(async () => {
  platform = await E2ePlatform.start();
}, 2 * MINUTE);
afterAll(() => platform.stop(), MINUTE);

async function scrape(url: string): Promise<Scrape> {
  const response = await fetch(url);
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    expect.stringMatching(/^text\/plain; version=0\.0\.4/),
  ]);
  return parseScrape(await response.text());
}
const scrapeApi = () => scrape(`${platform.stack.apiUrl}/metrics`);
const scrapeWorker = () => scrape(platform.stack.addresses.workerMetricsUrl ?? '');

/** Cases by what becomes of them. */
const CASES = [
  ...Array.from({ length: 6 }, (_, index) => ({ id: `pass-${index}`, task: 'echo 12345' })),
  ...Array.from({ length: 3 }, (_, index) => ({ id: `fail-${index}`, task: 'exit 1' })),
  { id: 'late', task: 'sleep 30', timeoutSec: 1 },
];

test(
  'both processes tell of a scorecard what the database says, and no invariant is violated',
  async () => {
    const before = await scrapeApi();
    expect(sample(before, 'everdict_runs', { state: 'settled', outcome: 'passed', error_class: '' })).toBe(0);

    const references = await platform.register({
      runtime: { memoryBudgetMb: 1_000, cpuBudgetMillicores: 4_000 },
      harness: { command: 'sh -c "$EVERDICT_TASK"' },
      cases: CASES,
    });
    const id = await platform.submit({ ...references, infraRetries: 0 });
    await platform.completed(id);
    await platform.expectNothingLeft(id, references.runtime);
    const overAt = performance.now();

    const rows = await platform.sql<{ outcome: string; error_class: string; error_code: string; count: string }>(
      `SELECT outcome, coalesce(error_class, '') AS error_class, coalesce(error_code, '') AS error_code, count(*) AS count
       FROM runs GROUP BY 1, 2, 3`,
    );
    const worker = await scrapeWorker();
    const api = await eventually(
      'the API has read all of the state anew',
      async () => {
        const overSec = (performance.now() - overAt) / 1_000;
        const read = await scrapeApi();
        // Each source has a pace of its own, slower the longer it takes.
        const ages = ['runs', 'admission', 'outbox'].map((source) =>
          sample(read, 'everdict_scrape_age_seconds', { source }),
        );
        return ages.every((age) => age !== undefined && age < overSec) && read;
      },
      MINUTE,
    );
    for (const { outcome, error_class, error_code, count } of rows) {
      expect(sample(api, 'everdict_runs', { state: 'settled', outcome, error_class })).toBe(Number(count));
      expect(sample(worker, 'everdict_settled_runs_total', { outcome, error_class, error_code })).toBe(Number(count));
    }
    const [stored] = await platform.sql<{ bytes: string }>('SELECT sum(octet_length(bytes)) AS bytes FROM log_chunks');
    const streams = ['stdout', 'stderr'].map((stream) => sample(worker, 'everdict_log_bytes_total', { stream }) ?? 0);
    expect(streams.reduce((sum, bytes) => sum + bytes)).toBe(Number(stored?.bytes));
    expect(sample(worker, 'everdict_settle_duration_seconds_count')).toBe(CASES.length);
    expect(sample(worker, 'everdict_cleanup_duration_seconds_count', { kind: 'local', result: 'ok' })).toBe(
      CASES.length,
    );
    expect(sample(worker, 'everdict_dispatch_duration_seconds_count', { kind: 'local', result: 'created' })).toBe(
      CASES.length,
    );

    const runtime = { workspace: 'default', runtime: references.runtime };
    expect(sample(api, 'everdict_admission_slots_limit', runtime)).toBe(4);
    expect(sample(api, 'everdict_admission_slots_used', runtime)).toBe(0);
    expect(sample(api, 'everdict_outbox_entries', { kind: 'scorecard' })).toBe(0);
    const violations = [...api.values].filter(([series]) => series.startsWith('everdict_invariant_violations'));
    expect(violations.length).toBeGreaterThan(0);
    expect(violations.filter(([, value]) => value !== 0)).toEqual([]);
    const failures = [...api.values].filter(([series]) => series.startsWith('everdict_scrape_errors_total'));
    expect(failures.filter(([, value]) => value !== 0)).toEqual([]);
    expect(await platform.ok('GET', '/admission/audit')).toMatchObject({ drift: 0, unread: [], skipped: 0 });
    expect(sample(worker, 'everdict_workflow_tasks_failed_total')).toBe(0);
    // A slot that is taken behind the ledger's back is seen.
    const reopen = (closedAt: string) =>
      platform.sql(
        `UPDATE attempts SET closed_at = ${closedAt}, opened_at = now() - interval '2 minutes' WHERE run_id = $1`,
        [`${id}.0`],
      );
    await reopen('NULL');
    expect(await platform.ok('GET', '/admission/audit')).toMatchObject({ drift: 1 });
    await reopen('now()');
    // Ids in URLs make no series.
    expect([...api.values.keys()].filter((series) => series.includes(id))).toEqual([]);
  },
  3 * MINUTE,
);

/** Names of metrics in a text: ours and the SDK's. */
const namesIn = (text: string): string[] => [
  ...new Set(text.match(/\b(?:everdict|temporal|nodejs|process)_[a-z0-9_]+\b/g)),
];

const read = (...names: string[]): string => readFileSync(path.join(DOCS, ...names), 'utf8');

/** Expressions of every panel. */
function dashboardQueries(): string[] {
  const dashboard: { panels: { targets?: { expr: string }[] }[] } = JSON.parse(read('grafana-dashboard.json'));
  return dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

test(
  'a workflow whose tasks fail is counted, and every metric that alerts, dashboard and docs name is served',
  async () => {
    const { workflow } = await platform.temporal();
    const broken = await workflow.start('scorecardWorkflow', { args: [], taskQueue: 'control', workflowId: 'broken' });
    const worker = await eventually('its failures are counted', async () => {
      const scraped = await scrapeWorker();
      return (sample(scraped, 'everdict_workflow_tasks_failed_total') ?? 0) > 0 ? scraped : undefined;
    });
    await broken.terminate();

    const api = await scrapeApi();
    const served = new Set([...api.values.keys(), ...worker.values.keys()].map((series) => series.split('{')[0]));
    const isServed = (name: string): boolean => served.has(name) || served.has(`${name}_count`);
    const pages = readdirSync(path.join(DOCS, 'runbooks')).map((page) => read('runbooks', page));
    const named = namesIn([read('alerts.yml'), ...dashboardQueries(), ...pages, read('reference.md')].join('\n'));
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !isServed(name))).toEqual([]);
    // And every metric of ours is told of in the reference.
    const ours = [...api.types.keys(), ...worker.types.keys()].filter((name) => name.startsWith('everdict_'));
    expect(ours.filter((name) => !read('reference.md').includes(`\`${name}\``))).toEqual([]);
  },
  MINUTE,
);

test('every alert has a page of its own, and every page of that name an alert', () => {
  const alerts = read('alerts.yml');
  const titles = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => `# ${name}`);
  const links = [...alerts.matchAll(/runbook: docs\/runbooks\/(\S+)/g)].map(([, page = '']) => page);
  expect(links.map((page) => read('runbooks', page).split('\n')[0])).toEqual(titles);
  const pages = readdirSync(path.join(DOCS, 'runbooks')).filter((page) =>
    read('runbooks', page).startsWith('# Everdict'),
  );
  expect([...links].sort()).toEqual(pages.sort());
});
