import { aJob, JOBS, openFakeK8s, PODS } from '../../test/fake-k8s-lab.js';

interface Line {
  type: string;
  object: {
    metadata: { name?: string; resourceVersion: string; annotations?: object };
    code?: number;
    message?: string;
  };
}

const lab = await openFakeK8s({ bookmarkMs: 30 });
const { fake, call } = lab;
afterAll(() => lab.close());
const make = (name: string, labels: object = {}) =>
  call('POST', JOBS, { body: aJob(name, { suspend: true }, { labels }) });
const version = () => fake.store.version;

/** The next line that is no bookmark. */
async function next(lines: AsyncGenerator<unknown>): Promise<Line | undefined> {
  for (;;) {
    const { value, done } = await lines.next();
    if (done) return undefined;
    const line = value as Line;
    if (line.type !== 'BOOKMARK') return line;
  }
}

describe('a watch', () => {
  test('tells what happens after its version, in order', async () => {
    const lines = lab.watch(`${JOBS}?watch=1&resourceVersion=${version()}&labelSelector=w%3D1`);
    await make('other');
    await make('mine', { w: '1' });
    expect(await next(lines)).toMatchObject({ type: 'ADDED', object: { kind: 'Job', metadata: { name: 'mine' } } });
    await lines.return(undefined);
  });

  test('of what stops to match tells that it is gone, in its last state that did', async () => {
    await make('turns', { t: '1' });
    const lines = lab.watch(
      `${JOBS}?watch=1&resourceVersion=${version()}&labelSelector=t%3D1&fieldSelector=metadata.name%3Dturns`,
    );
    const type = 'application/merge-patch+json';
    await call('PATCH', `${JOBS}/turns`, { type, body: { metadata: { labels: { t: '2' } } } });
    const told: (Line | undefined)[] = [await next(lines)];
    while (told.at(-1)?.type === 'MODIFIED') told.push(await next(lines));
    expect(told.at(-1)).toMatchObject({ type: 'DELETED', object: { metadata: { labels: { t: '1' } } } });
    await lines.return(undefined);
  });

  test('without a version begins with what there is, and marks the end of that', async () => {
    await make('here', { r: '1' });
    const lines = lab.watch(`${JOBS}?watch=1&labelSelector=r%3D1&allowWatchBookmarks=true`);
    expect((await lines.next()).value).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'here' } } });
    expect((await lines.next()).value).toMatchObject({
      type: 'BOOKMARK',
      object: { kind: 'Job', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
    await lines.return(undefined);
  });

  test('has bookmarks where they are allowed, also where nothing happens', async () => {
    const lines = lab.watch(`${PODS}?watch=1&resourceVersion=${version()}&allowWatchBookmarks=true`);
    const { value } = await lines.next();
    expect(value).toMatchObject({ type: 'BOOKMARK', object: { kind: 'Pod' } });
    expect(Object.keys((value as Line).object.metadata)).toEqual(['resourceVersion']);
    await lines.return(undefined);
  });

  test('ends by itself after its time, with a bookmark before', async () => {
    const told: unknown[] = [];
    const query = `watch=1&resourceVersion=${version()}&allowWatchBookmarks=true&timeoutSeconds=1`;
    for await (const line of lab.watch(`${PODS}?${query}`)) told.push(line);
    expect(told.at(-1)).toMatchObject({ type: 'BOOKMARK' });
  });

  test('from a version that is forgotten is 200 with a 410 in it', async () => {
    const from = version();
    await make('forgotten');
    fake.store.compact();
    const lines = lab.watch(`${JOBS}?watch=1&resourceVersion=${from}`);
    expect(await next(lines)).toMatchObject({
      type: 'ERROR',
      object: {
        code: 410,
        reason: 'Expired',
        message: `too old resource version: ${from} (${fake.store.oldestVersion})`,
      },
    });
    expect(await next(lines)).toBeUndefined();
  });

  test('from a version of the future is silent', async () => {
    const lines = lab.watch(`${JOBS}?watch=1&resourceVersion=${version() + 1_000}&timeoutSeconds=1`);
    await make('past');
    expect(await next(lines)).toBeUndefined();
  });

  test('from what is no version is 500 without a reason', async () => {
    const reply = await call('GET', `${JOBS}?watch=1&resourceVersion=x1`);
    expect(reply).toMatchObject({
      status: 500,
      body: { code: 500, message: expect.stringContaining('strconv.ParseUint') },
    });
    expect(reply.body).not.toHaveProperty('reason');
  });
});

describe('faults of watches', () => {
  const query = 'watch=1&fieldSelector=metadata.name%3Dnever';
  async function begun(fault: () => void): Promise<Line | undefined> {
    const first = next(lab.watch(`${JOBS}?${query}&resourceVersion=${version()}`));
    while (fake.cluster.watches.count('jobs') === 0) await new Promise(setImmediate);
    fault();
    return first;
  }

  test('a watch is told that it is too old, ends, or breaks', async () => {
    const { watches } = fake.cluster;
    expect(await begun(() => watches.expire('jobs'))).toMatchObject({ type: 'ERROR', object: { code: 410 } });
    expect(await begun(() => watches.end())).toBeUndefined();
    await expect(begun(() => watches.drop())).rejects.toThrow();
  });

  test('a watch stays open and says nothing more', async () => {
    const { watches } = fake.cluster;
    const first = next(lab.watch(`${JOBS}?watch=1&resourceVersion=${version()}&allowWatchBookmarks=true`));
    while (watches.count('jobs') === 0) await new Promise(setImmediate);
    watches.mute('jobs');
    await make('unheard');
    watches.end();
    expect(await first).toBeUndefined();
  });
});

describe('the ledger', () => {
  test('counts connections by what they are for, and what is left by label', async () => {
    const lines = lab.watch(`${PODS}?watch=1&resourceVersion=${version()}`);
    const first = lines.next();
    while (fake.ledger.open.watch === 0) await new Promise(setImmediate);
    await make('counted', { app: 'everdict' });
    expect(fake.ledger.peaks.watch).toBeGreaterThanOrEqual(1);
    expect(fake.ledger.peaks.log).toBe(0);
    expect(fake.ledger.left('app', 'everdict')).toEqual(['jobs/counted']);
    fake.cluster.watches.end();
    expect((await first).done).toBe(true);
  });

  test('of pods counts those that run at a time, and starts by their Job', () => {
    const { store, ledger } = fake;
    const label = { 'batch.kubernetes.io/job-name': 'counted' };
    const [running, ended] = [{ running: { startedAt: 'then' } }, { terminated: { exitCode: 0 } }];
    const status = (state: object) => ({
      phase: 'Running',
      containerStatuses: [
        { name: 'main', image: 'x', imageID: '', ready: true, restartCount: 0, state, lastState: {} },
      ],
    });
    for (const name of ['a', 'b']) {
      store.create('pods', 'evals', {
        metadata: { name, labels: label },
        spec: { containers: [] },
        status: status(running),
      });
    }
    for (const name of ['a', 'b']) {
      store.update('pods', 'evals', name, (pod) => {
        pod.status = status(ended);
      });
    }
    expect([ledger.running, ledger.peakRunning, ledger.starts.get('counted')]).toEqual([0, 2, 2]);
  });
});

describe('faults of the API', () => {
  test('an answer is lost after the Job is there', async () => {
    fake.fault({ method: 'POST', path: JOBS, fault: 'dropped', times: 1 });
    await expect(make('lost')).rejects.toThrow();
    expect(fake.store.get('jobs', 'evals', 'lost')).toBeDefined();
    expect(await make('lost')).toMatchObject({ status: 409 });
    expect(fake.ledger.creations.get('jobs/lost')).toBe(1);
  });

  test('a server that is too busy answers with text', async () => {
    const headers = { 'retry-after': '1', 'content-type': 'text/plain; charset=utf-8' };
    const body = 'Too many requests, please try again later.';
    fake.fault({ path: JOBS, fault: { status: 429, body, headers }, times: 1 });
    expect(await make('busy')).toMatchObject({ status: 429, text: body, headers });
  });

  test('down and up again, it has what it had', async () => {
    await fake.pause();
    await expect(make('down')).rejects.toThrow();
    await fake.resume();
    expect(await call('GET', `${JOBS}/lost`)).toMatchObject({ status: 200 });
  });
});
