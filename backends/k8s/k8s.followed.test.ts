import type { ServerResponse } from 'node:http';
import { eventually } from '../../test/eventually.js';
import { aJobObject, aPodObject, JOBS, NAME, NEVER, PODS, reflectedLab, SOON } from '../../test/k8s-reflected.js';
import { bookmark, line, lines, page, refusal } from '../../test/scripted-k8s.js';
import { AnsweredClock } from '../answered-clock.js';

const lab = reflectedLab();
const { signal } = SOON;
const OTHER = 'dep-run-2-1';

test('five hundred that are followed hold two connections, and are told apart', async () => {
  const names = Array.from({ length: 500 }, (_, i) => `dep-run-${i}-1`);
  const watching: ServerResponse[] = [];
  lab.k8s
    .on(
      `GET ${JOBS}`,
      page(
        names.map((name, i) => aJobObject(i + 1, name)),
        '600',
      ),
    )
    .on(`WATCH ${JOBS}`, (reply) => {
      watching.push(reply);
      reply.writeHead(200).flushHeaders();
    });
  const reflector = lab.reflector();
  const followed = names.map((name) => reflector.follow(name));
  const found = await Promise.all(followed.map((one) => one.next(SOON)));
  expect(found.map(({ job }) => job?.metadata.name)).toEqual(names);
  await eventually('it is watched', async () => watching.length === 1);
  const told = Promise.all(followed.slice(7, 10).map((one) => one.next({ signal, afterMs: 200 })));
  watching[0]?.write(line('MODIFIED', aJobObject(601, names[7])));
  expect((await told).map(({ job }) => job?.metadata.resourceVersion)).toEqual(['601', '9', '10']);
  expect(lab.k8s.requests).toHaveLength(4);
  expect(lab.k8s.peak).toBeLessThanOrEqual(4);
});

test('one that is first followed while it is watched is read by itself, once, and then told its changes', async () => {
  let watching: ServerResponse | undefined;
  lab.k8s
    .on(`GET ${JOBS}`, page([aJobObject(1)], '5'))
    .on(`WATCH ${JOBS}`, (reply) => {
      watching = reply;
      reply.writeHead(200).flushHeaders();
    })
    .on(`GET ${JOBS}/${OTHER}`, { body: aJobObject(3, OTHER) });
  const reflector = lab.reflector();
  await reflector.follow(NAME).next(SOON);
  await eventually('it is watched', async () => watching !== undefined);
  lab.k8s.on(`GET ${PODS}`, page([aPodObject(4, 'Pending', OTHER)], '5'));
  const late = reflector.follow(OTHER);
  expect(await late.next(SOON)).toMatchObject({
    job: { metadata: { name: OTHER } },
    pods: [{ status: { phase: 'Pending' } }],
  });
  const absent = reflector.follow('dep-run-3-1');
  lab.k8s.on(`GET ${PODS}`, page([], '5'));
  expect(await absent.next(SOON)).toEqual({ pods: [] });
  watching?.write(line('DELETED', aJobObject(6, OTHER)));
  expect(await late.next(SOON)).toEqual({ pods: [expect.objectContaining({ status: expect.anything() })] });
  expect(lab.k8s.seen('GET', JOBS).map(({ path }) => path)).toEqual([JOBS, `${JOBS}/${OTHER}`, `${JOBS}/dep-run-3-1`]);
  expect(lab.k8s.seen('GET', PODS).at(-2)?.query.get('labelSelector')).toMatch(
    /,everdict.dev\/allocation=dep-run-2-1$/,
  );
});

test('what a watch tells while one is read stands, however late the read is answered', async () => {
  const open: { watch?: ServerResponse; read?: ServerResponse } = {};
  lab.k8s
    .on(`GET ${JOBS}`, page([], '5'))
    .on(`WATCH ${JOBS}`, (reply) => {
      open.watch = reply;
      reply.writeHead(200).flushHeaders();
    })
    .on(`GET ${JOBS}/${OTHER}`, (reply) => {
      open.read = reply;
    });
  const reflector = lab.reflector();
  const first = reflector.follow(NAME);
  await first.next(SOON);
  await eventually('it is watched', async () => open.watch !== undefined);
  const late = reflector.follow(OTHER);
  await eventually('it is read', async () => open.read !== undefined);
  open.watch?.write(line('MODIFIED', aJobObject(8, OTHER)) + line('MODIFIED', aJobObject(9)));
  while ((await first.next(SOON)).job?.metadata.resourceVersion !== '9');
  open.read?.end(JSON.stringify(aJobObject(7, OTHER)));
  expect((await late.next(SOON)).job?.metadata.resourceVersion).toBe('8');
});

test('a cluster that does not answer is told to whoever asks, until it does; meanwhile no time passes', async () => {
  const down = refusal(503, 'ServiceUnavailable');
  lab.k8s.on(`GET ${JOBS}`, page([aJobObject(1)], '5'), down).on(`WATCH ${JOBS}`, down);
  const clock = new AnsweredClock();
  const followed = lab.reflector({ troubleMs: 100 }).follow(NAME, clock);
  const asked = async (): Promise<unknown> => followed.next({ signal, afterMs: 10 }).catch((error: unknown) => error);
  await eventually('it fails', async () => (await asked()) instanceof Error);
  const before = clock.assumedMs;
  expect(await asked()).toMatchObject({ reason: 'error', status: 503 });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(clock.assumedMs).toBe(before);
  lab.k8s.on(`GET ${JOBS}`, page([aJobObject(1)], '5')).on(`WATCH ${JOBS}`, lines('open', bookmark('6')));
  await eventually('it is told again', async () => !((await asked()) instanceof Error));
  await asked();
  expect(clock.assumedMs).toBeGreaterThan(before);
});

test('a right that is missing is told at once', async () => {
  const message = 'pods is forbidden: User "u" cannot watch resource "pods" in API group "" in the namespace "evals"';
  lab.k8s
    .on(`GET ${JOBS}`, page([], '5'))
    .on(`WATCH ${JOBS}`, NEVER)
    .on(`WATCH ${PODS}`, refusal(403, 'Forbidden', message));
  const followed = lab.reflector({ troubleMs: 60_000 }).follow(NAME);
  const asked = async (): Promise<unknown> => followed.next({ signal, afterMs: 10 }).catch((error: unknown) => error);
  const failure = await eventually('it fails', async () => {
    const answer = await asked();
    return answer instanceof Error && answer;
  });
  expect(failure).toMatchObject({ reason: 'auth', message: 'the account may not watch pods (403)' });
});

test('nothing is watched once nobody follows any more, and all again for the next who does', async () => {
  lab.k8s.on(`GET ${JOBS}`, page([aJobObject(1)], '5')).on(`WATCH ${JOBS}`, NEVER);
  const reflector = lab.reflector({ lingerMs: 50 });
  const [one, another] = [reflector.follow(NAME), reflector.follow(NAME)];
  await Promise.all([one.next(SOON), another.next(SOON)]);
  await eventually('it is watched', async () => lab.k8s.watches === 2);
  one.close();
  another.close();
  await eventually('no connection is left', async () => lab.k8s.watches === 0);
  expect((await reflector.follow(NAME).next(SOON)).job?.metadata.name).toBe(NAME);
  expect(lab.k8s.seen('GET', JOBS).map(({ path }) => path)).toEqual([JOBS, JOBS]);
});

test('what is told again after a time is an answer of the cluster only if something was heard of it meanwhile', async () => {
  let watching: ServerResponse | undefined;
  lab.k8s.on(`GET ${JOBS}`, page([aJobObject(1)], '5')).on(`WATCH ${JOBS}`, (reply) => {
    watching = reply;
    reply.writeHead(200).flushHeaders();
  });
  let answers = 0;
  const listener = {
    answered() {
      answers += 1;
    },
    failed() {},
  };
  const followed = lab.reflector().follow(NAME, listener);
  const asked = async (): Promise<number> => {
    const before = answers;
    expect((await followed.next({ signal, afterMs: 20 })).job?.metadata.name).toBe(NAME);
    return answers - before;
  };
  expect(await asked()).toBe(1);
  await eventually('it is watched', async () => lab.k8s.watches === 2);
  await eventually('nothing is heard', async () => (await asked()) === 0);
  watching?.write(bookmark('6'));
  await eventually('something is heard', async () => (await asked()) === 1);
  expect(await asked()).toBe(0);
});

test('an older Job of the name, that a watch tells is gone, takes nothing from the one that was read', async () => {
  const older = { metadata: { ...aJobObject(10).metadata, uid: 'u-older' } };
  lab.k8s
    .on(`GET ${JOBS}`, page([aJobObject(8), aJobObject(9, OTHER)], '9'))
    .on(`WATCH ${JOBS}`, lines('open', line('DELETED', older), line('MODIFIED', aJobObject(11, OTHER))));
  const reflector = lab.reflector();
  const [one, other] = [reflector.follow(NAME), reflector.follow(OTHER)];
  while ((await other.next(SOON)).job?.metadata.resourceVersion !== '11');
  expect((await one.next({ signal, afterMs: 0 })).job?.metadata.resourceVersion).toBe('8');
});

const UNREADABLE = { metadata: { ...aJobObject(2, OTHER).metadata, uid: undefined } };

test.each(['a list', 'a watch'])(
  'one of ours that cannot be read, in %s, is the trouble of whoever follows it alone',
  async (where) => {
    const isListed = where === 'a list';
    lab.k8s
      .on(`GET ${JOBS}`, page(isListed ? [UNREADABLE, aJobObject(1)] : [aJobObject(1), aJobObject(2, OTHER)], '5'))
      .on(`GET ${JOBS}/${OTHER}`, { body: UNREADABLE })
      .on(
        `WATCH ${JOBS}`,
        lines(
          'open',
          ...(isListed ? [] : [line('MODIFIED', { metadata: { ...UNREADABLE.metadata, resourceVersion: '6' } })]),
          line('MODIFIED', aJobObject(7)),
        ),
      );
    const reflector = lab.reflector();
    const [one, other] = [reflector.follow(NAME), reflector.follow(OTHER)];
    const failure = (async () => {
      for (;;) await other.next(SOON);
    })();
    await expect(failure).rejects.toMatchObject({ reason: 'error' });
    while ((await one.next(SOON)).job?.metadata.resourceVersion !== '7');
    expect(lab.k8s.seen('WATCH', JOBS)).toHaveLength(1);
  },
);
