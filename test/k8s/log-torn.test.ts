import { Egress } from '../../backends/egress/guard.js';
import { K8sClient } from '../../backends/k8s/k8s.client.js';
import { K8sLog } from '../../backends/k8s/k8s.log.js';
import { parseAllowList } from '../../policy/addresses.js';
import { Told } from '../k8s-log-lab.js';
import { describeLive, IMAGE, Site } from './site.js';

const LINES = 160_000;
const LINE_BYTES = 96;
const TEAR_MS = 1_500;

describeLive('a log that is torn', () => {
  let site: Site;
  let client: K8sClient;
  beforeAll(async () => {
    site = await Site.open();
    const { server, ca } = site.admin;
    const access = { server: new URL(server), namespace: site.namespace, authorization: `Bearer ${site.token}` };
    client = new K8sClient({ ...access, ...(ca && { ca }) }, new Egress(parseAllowList('0.0.0.0/0,::/0').rules));
  }, 120_000);
  afterAll(async () => {
    await client.close();
    await site.close();
  }, 180_000);

  const print = async (pod: string, command: string): Promise<void> => {
    const main = { name: 'main', image: IMAGE, command: ['/bin/sh', '-c', command] };
    const spec = { restartPolicy: 'Never', terminationGracePeriodSeconds: 1, containers: [main] };
    await site.admin.post(site.path('pods'), { metadata: { name: pod }, spec });
  };
  const reader = (pod: string, told: Told): K8sLog =>
    new K8sLog({
      ...{ client, namespace: site.namespace, pod, container: 'main', from: told.end },
      ...(told.mark && { mark: told.mark }),
    });

  /** Follows for as long as it goes on, by one reader after the other, each for a moment. */
  async function torn(pod: string): Promise<Told> {
    const told = new Told();
    const never = new AbortController().signal;
    for (let isOver = false; !isOver; ) {
      const leaving = new AbortController();
      const timer = setTimeout(() => leaving.abort(), TEAR_MS);
      const before = told.end;
      await told.follow(reader(pod, told), leaving.signal);
      clearTimeout(timer);
      isOver = !leaving.signal.aborted && told.end === before && told.end > 0 && told.troubles.length === 0;
      told.troubles.length = 0;
    }
    expect(await told.finish(reader(pod, told), never)).toMatchObject({ kind: 'complete' });
    return told;
  }

  test('K05 readers that take over from one another across a change of the file tell no line twice', async () => {
    const line = 'x'.repeat(LINE_BYTES - 9);
    const printing = `for (i = 0; i < ${LINES}; i++) { printf "%07d %s\\n", i, "${line}"; if (i % 8000 == 0) { fflush(); system("sleep 1") } }`;
    await print('torn', `awk 'BEGIN { ${printing} }'`);
    const told = await torn('torn');
    const numbers = told.pieces.flatMap(({ text }) => text.match(/^\d{7} x{87}$/gm) ?? []).map(Number.parseFloat);
    const isInOrder = numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0));
    expect([numbers[0], numbers.at(-1), isInOrder]).toEqual([0, LINES - 1, true]);
    // A new read cannot know what an older file had: what may be missing is missing behind a gap, and nowhere else.
    for (const { text } of told.pieces) {
      const found = (text.match(/^\d{7} x{87}$/gm) ?? []).map(Number.parseFloat);
      expect((found.at(-1) ?? 0) - (found[0] ?? 0)).toBe(found.length - 1);
    }
    expect(told.pieces.length).toBeLessThanOrEqual(4);
  }, 180_000);

  test('K05 lines of both streams, and long ones, are told once by readers that take over', async () => {
    const command = `for i in 1 2 3 4 5 6 7 8; do echo out $i; echo err $i >&2; head -c 70000 /dev/zero | tr '\\000' y; echo; sleep 0.7; done; printf end`;
    await print('mixed', command);
    const { text } = await torn('mixed');
    const want = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((index) => [`err ${index}`, `out ${index}`]);
    expect(
      text
        .replaceAll('y', '')
        .split('\n')
        .filter((line) => /^(out|err) /.test(line))
        .sort(),
    ).toEqual(want.sort());
    expect([text.length, text.endsWith('end')]).toEqual([8 * (12 + 70_001) + 3, true]);
  }, 120_000);

  test('K03 K07 a log before its container starts, and after its pod is removed', async () => {
    await print('short', 'echo begun; sleep 300');
    const told = new Told();
    const leaving = AbortSignal.timeout(60_000);
    while (told.end === 0 && !leaving.aborted) {
      for await (const read of reader('short', told).follow(leaving)) {
        told.take(read);
        if (told.end > 0) break;
      }
    }
    expect(new Set(told.troubles.map(({ kind }) => kind))).toEqual(new Set(['not-started']));
    await site.admin.remove(site.path('pods/short'), { gracePeriodSeconds: 0 });
    await site.admin.gone(site.path('pods/short'));
    expect(await told.finish(reader('short', told))).toMatchObject({ kind: 'gone' });
    expect(told.text).toBe('begun\n');
  }, 120_000);
});
