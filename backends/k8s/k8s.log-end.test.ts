import { K8sLogLab, NOW, noNode, noPod, numbered, type Said, statusOf, Told } from '../../test/k8s-log-lab.js';

let lab: K8sLogLab;
beforeAll(async () => {
  lab = await K8sLogLab.start();
});
beforeEach(() => lab.clear());
afterAll(() => lab.stop());

const VERIFIED = { kind: 'complete', isVerified: true };
const waiting = (why: string): Said =>
  statusOf(400, `container "main" in pod "p" is waiting to start: ${why}`, 'BadRequest');

test('a file that was changed, and has nothing, leaves the end unverified', async () => {
  const log = lab.reader();
  const told = new Told();
  lab.lines(0, 3);
  lab.end();
  await told.follow(log);
  lab.log.rotate();
  expect(await told.finish(log)).toEqual({ kind: 'complete', isVerified: false });
});

test.each(['ContainerCreating', 'PodInitializing', "image can't be pulled", 'trying and failing to pull image', 'x'])(
  'K03 a container that waits has no log yet: %s',
  async (why) => {
    const log = lab.reader();
    const told = new Told();
    lab.meets(waiting(why), waiting(why), waiting(why));
    for (let count = 0; count < 3; count += 1) await told.follow(log);
    expect(told.troubles).toEqual(Array(3).fill({ kind: 'not-started' }));
    lab.lines(0, 2);
    lab.end();
    await told.follow(log);
    expect(told.text).toBe(numbered(0, 2));
  },
);

test.each<[string, Said]>([
  ['no logs yet', statusOf(400, 'container "main" in pod "p" is waiting to start - no logs yet', 'BadRequest')],
  ['no status yet', statusOf(400, 'container "main" in pod "p" is not available', 'BadRequest')],
  ['not on a node yet', { status: 204 }],
])('K03 there is no log before the start: %s', async (_title, said) => {
  lab.answers(said);
  expect((await new Told().follow(lab.reader())).troubles).toEqual([{ kind: 'not-started' }]);
  expect(await new Told().finish(lab.reader())).toEqual({ kind: 'not-started' });
});

test.each<[string, Said, string]>([
  [
    'K13 a container must be named',
    statusOf(400, 'a container name must be specified for pod p, choose one of: [main istio-proxy]', 'BadRequest'),
    'choose one of: [main istio-proxy]',
  ],
  ['no such container', statusOf(400, 'container main is not valid for pod p', 'BadRequest'), 'is not valid for pod p'],
  ['a bad parameter', statusOf(422, 'PodLogOptions "p" is invalid: tailLines', 'Invalid'), '(422): PodLogOptions'],
  ['not ours to read', statusOf(403, 'pods "p" is forbidden: User "x" cannot get', 'Forbidden'), '(403)'],
  ['no credential', statusOf(401, 'Unauthorized', 'Unauthorized'), '(401)'],
])('K03 a refusal is loud: %s', async (_title, said, text) => {
  lab.answers(said);
  await expect(new Told().follow(lab.reader())).rejects.toThrow(text);
  await expect(new Told().finish(lab.reader())).rejects.toThrow(text);
});

test.each([[400], [403], [404]])(
  'K03 a page (%i) of what stands before the cluster says nothing of a log',
  async (status) => {
    lab.answers({ status, body: '<html>no</html>' });
    expect((await new Told().follow(lab.reader())).troubles).toMatchObject([{ kind: 'unreachable' }]);
  },
);

test('K07 a log of which the first read failed, and whose pod was removed before the next one, is gone', async () => {
  lab.meets(noNode);
  lab.answers(noPod);
  const told = new Told();
  expect(await told.finish(lab.reader())).toEqual({ kind: 'gone', text: 'its pod is gone, and its log with it' });
  expect(told.pieces).toEqual([]);
});

test('K07 a pod that was removed while it was followed leaves what was told', async () => {
  const log = lab.reader();
  const told = new Told();
  lab.lines(0, 3);
  lab.meets({ after: 76, how: 'end' });
  await told.follow(log);
  lab.answers(noPod);
  await told.follow(log);
  expect(told.troubles).toMatchObject([{ kind: 'gone' }]);
  expect(await told.finish(log)).toMatchObject({ kind: 'gone' });
  expect(told.text).toBe(numbered(0, 2));
});

test('K29 a pod that is removed while its log is read at the end leaves what was told', async () => {
  const log = lab.reader();
  const told = new Told();
  lab.lines(0, 1_000);
  lab.end();
  lab.meets({ after: 380, how: 'end' });
  await told.follow(log);
  // What is asked of the end, then the log, which breaks off.
  lab.meets({ after: 76, how: 'end' }, { after: 3_800, how: 'drop' }, noPod, noPod, noPod);
  expect(await told.finish(log)).toMatchObject({ kind: 'gone' });
  expect(told.text).toMatch(/^(line \d+\n)*line \d+\n?$/);
  expect(numbered(0, 1_000).startsWith(told.text)).toBe(true);
  expect(told.end).toBeGreaterThan(numbered(0, 90).length);
});

test('an answer that ends early at the end of a log is gone on with', async () => {
  const log = lab.reader();
  const told = new Told();
  lab.lines(0, 100);
  lab.end();
  lab.meets({ after: 1_000, how: 'end' }, { after: 10, how: 'drop' }, { after: 2_000, how: 'drop' });
  expect(await told.finish(log)).toEqual(VERIFIED);
  expect(told.text).toBe(numbered(0, 100));
});

test.each<[string, Said, string]>([
  ['its node does not answer', noNode, 'unreachable'],
  ['its API server is busy', { status: 429, body: 'Too many requests, please try again later.' }, 'unreachable'],
  ['it has no leader', { status: 503, body: 'apiserver not ready' }, 'unreachable'],
  ['it was evicted', { status: 200, body: 'unable to retrieve container logs for containerd://0f' }, 'gone'],
  [
    'its file is gone',
    { status: 200, body: 'failed to open log file "/var/log/x": no such file or directory' },
    'gone',
  ],
  ['its runtime forgot it', { status: 200, body: 'rpc error: code = NotFound desc = an error' }, 'gone'],
  [
    'its runtime is down',
    { status: 200, body: 'rpc error: code = Unavailable desc = dial unix /run/x' },
    'unreachable',
  ],
  [
    'its node was just started',
    statusOf(404, 'the server could not find the requested resource', 'NotFound'),
    'unreachable',
  ],
  ['it was never kept', statusOf(400, 'container "main" in pod "p" is terminated', 'BadRequest'), 'gone'],
])('a log that cannot be read is no empty one: %s', async (_title, said, kind) => {
  lab.answers(said);
  const told = await new Told().follow(lab.reader());
  expect(told.troubles).toMatchObject([{ kind }]);
  expect(JSON.stringify(told.troubles)).not.toMatch(/10\.0\.0\.9|\/var|\/run/);
  expect(await told.finish(lab.reader())).toMatchObject({ kind });
  expect(told.pieces).toEqual([]);
  // It may pass.
  lab.meets(said, said);
  lab.answers(undefined);
  lab.lines(0, 2);
  lab.end();
  expect(await told.finish(lab.reader())).toEqual(VERIFIED);
  expect(told.text).toBe(numbered(0, 2));
});

test('a container that printed nothing has an empty log, which is all of it', async () => {
  lab.end();
  const told = new Told();
  expect(await told.finish(lab.reader())).toEqual(VERIFIED);
  expect(told.pieces).toEqual([]);
});

test('a page of a proxy is no log', async () => {
  lab.answers({ status: 200, body: '<html>sign in</html>', type: 'text/html' });
  const told = await new Told().follow(lab.reader());
  expect(told.troubles).toMatchObject([{ kind: 'unreachable', text: expect.stringContaining('no Kubernetes') }]);
});

test('finishing a log ends when it is no longer wanted', async () => {
  lab.answers(noNode);
  const leaving = new AbortController();
  const finishing = new Told().finish(lab.reader(), leaving.signal, { firstMs: 60_000, longestMs: 60_000, tries: 9 });
  setTimeout(() => leaving.abort(), 20);
  await expect(finishing).rejects.toThrow('in time');
});

test('what goes on printing has no end', async () => {
  lab.beforeEach = () => lab.lines(lab.asked.length, lab.asked.length + 1);
  expect(await new Told().finish(lab.reader())).toEqual({ kind: 'short' });
});

test('the end of a long log is read from a time on, unless the clock was set back before that', async () => {
  for (const lastSec of [130n, 30n]) {
    lab.clear();
    const log = lab.reader();
    const told = new Told();
    for (let sec = 0n; sec < 120n; sec += 1n) lab.print(`${'y'.repeat(9_999)}\n`, NOW + sec * 1_000_000_000n);
    lab.meets({ after: 1_150_000, how: 'end' });
    await told.follow(log);
    lab.print('the last one\n', NOW + lastSec * 1_000_000_000n);
    expect(await told.finish(log)).toEqual(VERIFIED);
    expect(told.text.endsWith('y\nthe last one\n')).toBe(true);
    expect(lab.asked.map((query) => query.has('sinceTime'))).toEqual([false, false, lastSec === 130n, false]);
  }
});
