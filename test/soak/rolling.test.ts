import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identify, isAlive, signalProcess } from '../../dev/process-id.js';
import { endPrograms, node, type Program, ROOT } from '../e2e/cli/processes.js';
import { E2ePlatform, MINUTE } from '../e2e/platform.js';
import { JobNotes } from '../e2e/scorecard/job-notes.js';
import { eventually } from '../eventually.js';

/** Twice what the drain is given, as the machine may be slow. */
const DRAINED_WITHIN_MS = 30_000;
const ROUNDS = 3;
const CASES = 60;
/** Cases that run from before the first restart until after the last. */
const LONG = 3;

let platform: E2ePlatform;
beforeAll(async () => {
  platform = await E2ePlatform.start();
}, 2 * MINUTE);
afterEach(endPrograms, MINUTE);
afterAll(() => platform.stop(), MINUTE);

const noted = (work: string): string =>
  `echo "start $EVERDICT_RUN_ID 0" >> "$NOTES"\n${work}\necho "end $EVERDICT_RUN_ID 0" >> "$NOTES"`;

/** A second process of a part, with the environment of the first. */
function peer(name: 'api' | 'worker', script: string): Program {
  const variables = readFileSync(`/proc/${platform.pid(name)}/environ`, 'utf8')
    .split('\0')
    .filter(Boolean);
  const env = Object.fromEntries(
    variables.map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
  );
  return node([`${ROOT}dist/${script}`], { env: { ...env, PORT: '0', EVERDICT_METRICS_ADDRESS: '127.0.0.1:0' } });
}

/** Asks an API, or else another, as a client with two addresses does. */
function ask(urls: readonly string[], method: 'GET' | 'POST', route: string, body?: object): Promise<number> {
  const request = { method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body) };
  return eventually(`an answer to ${method} ${route}`, async () => {
    for (const url of urls) {
      const status = await fetch(`${url}${route}`, request).then(
        async (reply) => {
          await reply.arrayBuffer();
          return reply.status;
        },
        () => undefined,
      );
      if (status !== undefined && status < 500) return status;
    }
    return undefined;
  });
}

/** Registers and reads without a pause until it is told to stop. Returns how many datasets it registered. */
async function busyClient(urls: readonly string[], stop: AbortSignal): Promise<number> {
  let count = 0;
  for (; !stop.aborted; count += 1) {
    const id = `rolling-${count}`;
    const dataset = { id, version: '1', cases: [{ id: 'a', task: 'x' }] };
    expect(await ask(urls, 'POST', '/datasets', dataset)).toBeLessThan(300);
    expect(await ask(urls, 'GET', `/datasets/${id}/versions/1`)).toBe(200);
    await sleep(20);
  }
  return count;
}

/** New ones come up, the old ones are told to go; then the launcher's next generation takes the place of the new ones. */
async function roll(urls: string[]): Promise<void> {
  const newcomers = { api: peer('api', 'api/main.js'), worker: peer('worker', 'workers/main.js') };
  const [, url = ''] = await newcomers.api.printed(/"api ready","url":"([^"]+)"/);
  urls[1] = url;
  await newcomers.worker.printed(/worker ready/);
  const old = (['worker', 'api'] as const).map((name) => ({ name, target: identify(platform.pid(name)) }));
  for (const { target } of old) signalProcess(target.pid, 'SIGTERM');
  await eventually('they are drained', async () => old.every(({ target }) => !isAlive(target)), DRAINED_WITHIN_MS);
  await platform.restarted(old);
  for (const { child } of Object.values(newcomers)) child.kill('SIGTERM');
  for (const { ended } of Object.values(newcomers)) expect((await ended).code).toBe(0);
}

test(
  'a rolling restart of worker and API, three times during a scorecard, loses nothing and repeats nothing',
  async () => {
    const notes = JobNotes.in(platform.dir, 'rolling');
    const end = path.join(platform.dir, 'end');
    const request = await platform.register({
      runtime: { maxConcurrent: 6 },
      harness: { env: { NOTES: notes.file, END: end }, command: '. "$EVERDICT_TASK_FILE"' },
      cases: Array.from({ length: CASES }, (_, i) => ({
        id: `case-${i}`,
        task: noted(i < LONG ? 'until [ -e "$END" ]; do sleep 0.2; done' : 'sleep 1'),
      })),
    });
    const id = await platform.submit(request);
    const urls = [platform.stack.apiUrl];
    const stop = new AbortController();
    const client = busyClient(urls, stop.signal);
    try {
      await eventually('the long ones run', async () => notes.count('start') > LONG, MINUTE);
      for (let round = 0; round < ROUNDS; round += 1) await roll(urls);
    } finally {
      writeFileSync(end, '');
      stop.abort();
    }
    const registered = await client;

    const completed = await platform.until(id, 'completes', ({ status }) => status === 'completed', 2 * MINUTE);
    expect(completed.counts).toMatchObject({ submitted: CASES, passed: CASES });
    const runs = await platform.runs(id);
    expect(Object.fromEntries(notes.starts)).toEqual(Object.fromEntries(runs.map((run) => [run.id, 1])));
    expect(notes.running).toEqual([]);
    expect(runs.filter(({ attempts }) => attempts !== 1)).toEqual([]);
    await platform.expectNothingLeft(id, request.runtime);
    const [stored] = await platform.sql(`SELECT count(*)::int AS count FROM datasets WHERE id LIKE 'rolling-%'`);
    expect(stored).toEqual({ count: registered });
    expect(await platform.failedWorkflowTasks()).toEqual([]);
  },
  8 * MINUTE,
);
