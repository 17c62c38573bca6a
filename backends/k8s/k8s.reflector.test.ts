import { eventually } from '../../test/eventually.js';
import { aJobObject, aPodObject, JOBS, NAME, NEVER, PODS, reflectedLab, SOON } from '../../test/k8s-reflected.js';
import { bookmark, type K8sScript, line, lines, page, refusal } from '../../test/scripted-k8s.js';

const lab = reflectedLab();
const { signal } = SOON;

const versions = (): (string | null)[] => lab.k8s.seen('WATCH', JOBS).map(({ query }) => query.get('resourceVersion'));

test('what is there is told once it was listed, page by page, and then every change of it', async () => {
  lab.k8s
    .on(`GET ${JOBS}`, page([aJobObject(1, 'dep-run-0-1')], '5', 'more'), page([aJobObject(4)], '5'))
    .on(`WATCH ${JOBS}`, lines('open', line('MODIFIED', aJobObject(6))));
  const followed = lab.reflector().follow(NAME);
  const found = await followed.next(SOON);
  expect(found).toMatchObject({ job: { metadata: { name: NAME } }, pods: [] });
  if (found.job?.metadata.resourceVersion !== '6') {
    expect(await followed.next(SOON)).toMatchObject({ job: { metadata: { resourceVersion: '6' } } });
  }
  expect(versions()).toEqual(['5']);
  const asked = Object.fromEntries(lab.k8s.seen('WATCH', JOBS)[0]?.query ?? []);
  expect(asked).toMatchObject({
    ...{ labelSelector: 'app=everdict,everdict.dev/deployment=dep', timeoutSeconds: '5', allowWatchBookmarks: 'true' },
  });
});

test('without a change it is told again what it is, after as long as was asked for', async () => {
  lab.k8s.on(`GET ${JOBS}`, page([aJobObject(4)], '5')).on(`WATCH ${JOBS}`, NEVER);
  const followed = lab.reflector().follow(NAME);
  const first = await followed.next(SOON);
  expect(await followed.next({ signal, afterMs: 20 })).toEqual(first);
  const leaving = new AbortController();
  const waiting = followed.next({ signal: leaving.signal, afterMs: 10_000 });
  leaving.abort();
  await expect(waiting).rejects.toMatchObject({ reason: 'unreachable' });
});

const EXPIRED = refusal(410, 'Expired', 'too old resource version: 1 (1147)');
test.each<[string, K8sScript]>([
  ['an event in an answer of 200', lines('end', line('ERROR', EXPIRED.body as object))],
  ['an answer of 410', EXPIRED],
])('K21 %s says that a version is gone: it is listed anew, and no object is made of it', async (_title, gone) => {
  lab.k8s
    .on(`GET ${JOBS}`, page([aJobObject(4)], '5'), page([aJobObject(9)], '10'))
    .on(`WATCH ${JOBS}`, gone, lines('open', line('MODIFIED', aJobObject(11))));
  const followed = lab.reflector().follow(NAME);
  const seen: unknown[] = [];
  while (seen.at(-1) !== '11') seen.push((await followed.next(SOON)).job?.metadata.resourceVersion);
  expect(versions()).toEqual(['5', '10']);
});

test('K21 a version that is gone again and again is asked for ever less often, and each list is news', async () => {
  let version = 10;
  lab.k8s
    .on(`GET ${JOBS}`, (reply) => {
      version += 1;
      reply.end(JSON.stringify(page([aJobObject(version)], String(version)).body));
    })
    .on(`WATCH ${JOBS}`, EXPIRED);
  const followed = lab.reflector().follow(NAME);
  const begun = performance.now();
  while (performance.now() - begun < 1_500) {
    expect((await followed.next(SOON)).job?.metadata.resourceVersion).toBe(String(version));
  }
  expect(lab.k8s.seen('GET', JOBS).length).toBeGreaterThanOrEqual(4);
  expect(lab.k8s.seen('GET', JOBS).length).toBeLessThanOrEqual(6);
});

test.each<[string, K8sScript, string[]]>([
  ['that is cut goes on', lines('cut', line('MODIFIED', aJobObject(6))), ['5', '6']],
  ['that ends after a bookmark goes on', lines('end', bookmark('8')), ['5', '8']],
  [
    'with a line that is cut short goes on before it',
    lines('end', bookmark('8'), line('MODIFIED', aJobObject(9)).slice(0, 40)),
    ['5', '8'],
  ],
  ['with a line that is no JSON goes on before it', lines('open', bookmark('8'), '<html>\n'), ['5', '8']],
  ['with an event of no known kind goes on before it', lines('open', line('SURPRISE', aJobObject(9))), ['5', '5']],
  [
    'with an error goes on',
    lines('end', bookmark('7'), line('ERROR', refusal(500, 'InternalError').body as object)),
    ['5', '7'],
  ],
  ['that is refused for now goes on', refusal(429, 'TooManyRequests'), ['5', '5']],
  ['that the API server never takes up goes on', 'rst', ['5', '5']],
])('a watch %s from the last version that was told', async (_title, script, asked) => {
  lab.k8s
    .on(`GET ${JOBS}`, page([aJobObject(4)], '5'))
    .on(`WATCH ${JOBS}`, script, lines('open', line('DELETED', aJobObject(20))));
  const followed = lab.reflector({ troubleMs: 5_000 }).follow(NAME);
  while ((await followed.next(SOON)).job);
  expect(versions()).toEqual(asked);
  expect(lab.k8s.seen('GET', JOBS)).toHaveLength(1);
});

test('a watch that ends without a word was perhaps from a version of the future: it is listed anew', async () => {
  lab.k8s.on(`GET ${JOBS}`, page([aJobObject(4)], '9000'), page([], '5')).on(`WATCH ${JOBS}`, lines('end'), NEVER);
  const followed = lab.reflector().follow(NAME);
  while ((await followed.next(SOON)).job);
  await eventually('it is watched anew', async () => versions().length === 2);
  expect(versions()).toEqual(['9000', '5']);
});

test('a connection that died without a word is given up once it is silent for longer than a watch lasts', async () => {
  lab.k8s
    .on(`GET ${JOBS}`, page([aJobObject(4)], '5'))
    .on(`WATCH ${JOBS}`, lines('open', bookmark('6')), lines('open', line('DELETED', aJobObject(7))));
  const followed = lab.reflector({ watchSec: 0.1, marginMs: 100, troubleMs: 5_000 }).follow(NAME);
  while ((await followed.next(SOON)).job);
  expect(versions().slice(0, 2)).toEqual(['5', '6']);
});

test('pods that are gone are told in their last state, whether a watch or the next list says so', async () => {
  lab.k8s
    .on(`GET ${JOBS}`, page([], '5'))
    .on(`WATCH ${JOBS}`, NEVER)
    .on(
      `GET ${PODS}`,
      page([aPodObject(3, 'Running', NAME, 'p1'), aPodObject(4, 'Running', NAME, 'p2')], '5'),
      page([], '9'),
    )
    .on(
      `WATCH ${PODS}`,
      lines('end', line('DELETED', aPodObject(7, 'Failed', NAME, 'p1')), line('ERROR', EXPIRED.body as object)),
      NEVER,
    );
  const followed = lab.reflector().follow(NAME);
  const states = async () => {
    const { pods } = await followed.next(SOON);
    return pods.map(({ metadata: { uid }, status: { phase }, deleted }) => `${uid} ${phase} ${deleted ?? false}`);
  };
  while (!(await states()).includes('p2 Running true'));
  expect((await followed.next({ signal, afterMs: 0 })).pods).toMatchObject([
    { metadata: { uid: 'p1' }, status: { phase: 'Failed' }, deleted: true },
    { metadata: { uid: 'p2' }, status: { phase: 'Running' }, deleted: true },
  ]);
});
