import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { aLocalJob, LocalSite, watchToEnd } from '../../test/local-jobs.js';
import { createJobDir, jobPaths, readWrapper } from './local.state.js';

let site: LocalSite;
beforeAll(async () => {
  site = await LocalSite.open();
});
afterAll(() => site.close());

const openFiles = (): number => readdirSync('/proc/self/fd').length;

/** Returns once the file is there: the job has come so far. */
async function untilExists(path: string): Promise<void> {
  for (let turn = 0; turn < 1_000 && !existsSync(path); turn++) await sleep(5);
  expect(existsSync(path)).toBe(true);
}

describe('a local job', () => {
  test('runs to its record, and leaves nothing once stopped', async () => {
    const worker = await site.worker();
    const allocation = site.allocation();
    const job = aLocalJob('echo out; echo err >&2; exit 3');

    expect(await worker.submit(job, allocation)).toBe('created');
    const { stdout, stderr, record } = await watchToEnd(worker, allocation);
    await worker.stop(allocation);

    expect(record).toMatchObject({ status: 3 });
    expect(stdout.toString().trim()).toBe('out');
    expect(stderr.toString()).toBe('err\n');
    expect(await site.processesOf(allocation)).toEqual([]);
    expect(existsSync(join(site.stateDir, 'jobs', allocation.name))).toBe(false);
  });

  test('runs where the state directory is given by a relative path', async () => {
    const worker = await site.worker({ stateDir: relative(process.cwd(), site.stateDir) });
    const allocation = site.allocation();
    await worker.submit(aLocalJob('exit 2'), allocation);

    expect((await watchToEnd(worker, allocation)).record).toMatchObject({ status: 2 });
  });

  test('sees nothing of the environment of the worker', async () => {
    process.env.WORKER_SECRET = 'do not tell';
    const worker = await site.worker();
    const allocation = site.allocation();
    await worker.submit(aLocalJob('cat /proc/self/environ /proc/$PPID/environ | tr "\\0" "\\n"'), allocation);
    const { stdout } = await watchToEnd(worker, allocation);
    delete process.env.WORKER_SECRET;

    const names = new Set(
      stdout
        .toString()
        .trim()
        .split('\n')
        .map((line) => line.split('=')[0]),
    );
    expect(names).toContain('HOME');
    expect([...names].filter((name) => name === 'WORKER_SECRET' || name === 'EVERDICT_NONCE')).toEqual([]);
    expect(stdout.includes(allocation.nonce)).toBe(false);
  });

  test('is adopted, and not started again, by another worker process', async () => {
    const starts = join(site.stateDir, 'starts-adopted');
    const gate = join(site.stateDir, 'gate-adopted');
    const job = aLocalJob(`echo start >>${starts}; until [ -e ${gate} ]; do sleep 0.01; done; echo done`);
    const allocation = site.allocation();
    const first = await site.worker();
    await first.submit(job, allocation);
    await untilExists(starts);
    const leaving = new AbortController();
    const following = watchToEnd(first, allocation, leaving.signal);
    leaving.abort();
    await following;

    const second = await site.worker();
    expect(await second.submit(job, { ...allocation, submittedAt: 1 })).toBe('adopted');
    writeFileSync(gate, '');
    const { stdout, record } = await watchToEnd(second, allocation);

    expect(record).toMatchObject({ status: 0 });
    expect(stdout.toString().trim()).toBe('done');
    expect(readFileSync(starts, 'utf8')).toBe('start\n');
  });

  test('starts once when workers submit it at the same time', async () => {
    const starts = join(site.stateDir, 'starts-raced');
    const job = aLocalJob(`echo start >>${starts}`);
    const allocation = site.allocation();
    const workers = await Promise.all(Array.from({ length: 6 }, () => site.worker()));
    const submitted = await Promise.all(workers.map((worker) => worker.submit(job, allocation)));
    const watched = await Promise.all(workers.map((worker) => watchToEnd(worker, allocation)));

    expect(submitted.filter((how) => how === 'created')).toHaveLength(1);
    expect(watched.map(({ record }) => record?.status)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(readFileSync(starts, 'utf8')).toBe('start\n');
  });

  test('that was prepared but never started is started by the next worker', async () => {
    const job = aLocalJob('echo ran');
    const allocation = site.allocation();
    const worker = await site.worker();
    await worker.submit(job, allocation);
    await worker.stop(allocation);
    createJobDir(jobPaths(site.stateDir, allocation.name), job.payload, 'an earlier start of this machine');

    expect(await worker.submit(job, allocation)).toBe('created');
    expect((await watchToEnd(worker, allocation)).record).toMatchObject({ status: 0 });
  });

  test('is lost, and not created again, if it was confirmed and its directory is gone', async () => {
    const worker = await site.worker();
    const allocation = { ...site.allocation(), submittedAt: Date.now() };

    expect(await worker.submit(aLocalJob('true'), allocation)).toBe('lost');
    expect((await watchToEnd(worker, allocation)).last).toMatchObject({ failure: { code: 'ALLOCATION_LOST' } });
    expect(existsSync(join(site.stateDir, 'jobs', allocation.name))).toBe(false);
  });

  test('ends without a result if it takes its own directory away', async () => {
    const worker = await site.worker();
    const allocation = site.allocation();
    const ready = join(site.stateDir, 'ready-lost');
    await worker.submit(aLocalJob(`touch ${ready}; sleep 60`), allocation);
    const watched = watchToEnd(worker, allocation);
    await untilExists(ready);
    await rm(join(site.stateDir, 'jobs', allocation.name), { recursive: true });

    expect((await watched).last).toMatchObject({ kind: 'silent' });
    await worker.stop(allocation);
    expect(await site.processesOf(allocation)).toEqual([]);
  });

  test.each(['boot', 'stdout'])('that takes its %s away is not taken for one that its host lost', async (file) => {
    const worker = await site.worker();
    const allocation = site.allocation();
    const ready = join(site.stateDir, `ready-without-${file}`);
    await worker.submit(aLocalJob(`touch ${ready}; sleep 60`), allocation);
    await untilExists(ready);
    const wrapper = readWrapper(jobPaths(site.stateDir, allocation.name), allocation.name);
    const watched = watchToEnd(worker, allocation);
    await rm(join(site.stateDir, 'jobs', allocation.name, file), { recursive: true });
    const later = watchToEnd(await site.worker(), allocation);
    process.kill(-Number(wrapper?.pid), 'SIGKILL');

    expect([(await watched).last, (await later).last]).toMatchObject([{ kind: 'silent' }, { kind: 'silent' }]);
    await worker.stop(allocation);
  });

  test('ends as NODE_LOST when the machine was restarted, unless its record was written before', async () => {
    const before = await site.worker();
    const [running, finished] = [site.allocation(), site.allocation()];
    await before.submit(aLocalJob('sleep 60'), running);
    await before.submit(aLocalJob('true'), finished);
    await watchToEnd(before, finished);

    const after = await site.worker({ bootId: 'a later start' });
    const job = aLocalJob('sleep 60');
    expect(await after.submit(job, { ...running, submittedAt: 1 })).toBe('adopted');
    expect((await watchToEnd(after, running)).last).toMatchObject({ failure: { code: 'NODE_LOST' } });
    expect((await watchToEnd(after, finished)).record).toMatchObject({ status: 0 });
  });

  test('can be followed a thousand times without keeping a file open', async () => {
    const worker = await site.worker();
    const allocation = site.allocation();
    await worker.submit(aLocalJob('true'), allocation);
    await watchToEnd(worker, allocation);
    const before = openFiles();
    for (let turn = 0; turn < 1_000; turn++) await watchToEnd(worker, allocation);

    expect(openFiles()).toBe(before);
  });
});

describe('stopping', () => {
  test('succeeds for what never existed, and when repeated', async () => {
    const worker = await site.worker();
    const allocation = site.allocation();
    await worker.stop(allocation);
    await worker.submit(aLocalJob('sleep 60'), allocation);
    await Promise.all([worker.stop(allocation), worker.stop(allocation)]);
    await worker.stop(allocation);

    expect(await site.processesOf(allocation)).toEqual([]);
  });

  test('ends a job that put something else in the place of its files', async () => {
    const ready = join(site.stateDir, 'ready-socket');
    const bind = (name: string) => `os.remove("${name}"); socket.socket(socket.AF_UNIX).bind("${name}")`;
    const command = `python3 -c 'import os, socket; os.chdir("../.."); ${bind('stdout')}; ${bind('state/pid')}'
      touch ${ready}; sleep 600`;
    const worker = await site.worker();
    const allocation = site.allocation();
    await worker.submit(aLocalJob(command), allocation);
    await untilExists(ready);
    await worker.stop(allocation);

    expect(await site.processesOf(allocation)).toEqual([]);
  });

  test('ends what left the group, ignores TERM, or hides its environment', async () => {
    const ready = join(site.stateDir, 'ready-stubborn');
    const command = `trap '' TERM
      setsid sh -c 'trap "" TERM; sleep 600 & sleep 600' &
      env -i /bin/sleep 600 &
      touch ${ready}; sleep 600`;
    const worker = await site.worker({ graceMs: 200 });
    const allocation = site.allocation();
    await worker.submit(aLocalJob(command), allocation);
    await untilExists(ready);
    const group = readWrapper(jobPaths(site.stateDir, allocation.name), allocation.name);
    expect((await site.processesOf(allocation, group)).length).toBeGreaterThan(3);
    await worker.stop(allocation);

    expect(await site.processesOf(allocation, group)).toEqual([]);
  });

  test.each([
    ['that the job closed even to itself', 'mkdir -p a/b && touch a/b/c && chmod 555 a/b a'],
    [
      'too deep for any path to name',
      `python3 -c 'import os\nfor _ in range(40): os.mkdir("d" * 200), os.chdir("d" * 200)'`,
    ],
  ])('removes directories %s', async (_what, command) => {
    const worker = await site.worker();
    const allocation = site.allocation();
    await worker.submit(aLocalJob(command), allocation);
    await watchToEnd(worker, allocation);
    await worker.stop(allocation);

    for (const dir of ['jobs', 'trash']) {
      const left = readdirSync(join(site.stateDir, dir)).filter((name) => name.startsWith(allocation.name));
      expect(left).toEqual([]);
    }
  });
});

describe('a host that cannot start jobs', () => {
  test('refuses by code where the operator does not allow local runtimes', async () => {
    const worker = await site.worker({ isAllowed: false });

    await expect(worker.submit(aLocalJob('true'), site.allocation())).rejects.toMatchObject({
      code: 'CAPABILITY_MISSING',
    });
  });

  test('says why', async () => {
    const broken = await LocalSite.open();
    const worker = await broken.worker();
    await rm(broken.stateDir, { recursive: true });
    writeFileSync(broken.stateDir, 'a file where the state directory was');

    await expect(worker.submit(aLocalJob('true'), { name: 'x', nonce: 'n' })).rejects.toMatchObject({
      code: 'CLUSTER_UNREACHABLE',
      message: expect.stringContaining('this host cannot start x: '),
    });
    await rm(broken.stateDir);
  });
});
