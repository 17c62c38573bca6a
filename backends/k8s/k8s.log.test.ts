import fc from 'fast-check';
import { type Cut, K8sLogLab, NOW, noNode, numbered, Told } from '../../test/k8s-log-lab.js';

let lab: K8sLogLab;
beforeAll(async () => {
  lab = await K8sLogLab.start();
});
beforeEach(() => lab.clear());
afterAll(() => lab.stop());

const VERIFIED = { kind: 'complete', isVerified: true };
const SEC = 1_000_000_000n;
const STARTED = Number(NOW / 1_000_000n);
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

test('a log is followed as it is printed, and its end is verified', async () => {
  const log = lab.reader();
  const told = new Told();
  lab.lines(0, 2);
  const following = told.follow(log);
  setImmediate(() => {
    lab.lines(2, 4);
    lab.end();
  });
  await following;
  expect(told.text).toBe(numbered(0, 4));
  expect(await told.finish(log)).toEqual(VERIFIED);
  expect(lab.asked.map((query) => query.get('tailLines'))).toEqual([null, '2']);
});

test('K13 the container is named in every request, and lines come with their times', async () => {
  const log = lab.reader();
  lab.lines(0, 1);
  lab.end();
  await new Told().follow(log);
  await new Told().finish(lab.reader());
  for (const query of lab.asked) expect([query.get('container'), query.get('timestamps')]).toEqual(['main', 'true']);
});

test.each<[string, Cut]>([
  ['breaks off in the middle of a line', { after: 70, how: 'drop' }],
  ['breaks off in a timestamp', { after: 40, how: 'drop' }],
  ['breaks off before anything', { after: 0, how: 'drop' }],
  ['ends as if that were all', { after: 76, how: 'end' }],
  ['ends in the middle of a line', { after: 70, how: 'end' }],
  ['ends with words of the node', { after: 76, how: 'end', says: 'rpc error: code = Unavailable desc = x' }],
])('what follows a stream that %s is told once', async (_title, cut) => {
  const log = lab.reader();
  const told = new Told();
  lab.lines(0, 3);
  lab.meets(cut);
  await told.follow(log);
  lab.lines(3, 5);
  lab.end();
  await told.follow(log);
  expect(told.text).toBe(numbered(0, 5));
  expect(await told.finish(log)).toEqual(VERIFIED);
});

test('K05 a stream that is silent while there is more ends, and what it lacked is told', async () => {
  const log = lab.reader();
  const told = new Told();
  lab.lines(0, 3);
  lab.meets({ after: 114, how: 'hang' });
  const following = told.follow(log, undefined, 20);
  while (told.end < numbered(0, 3).length) await soon();
  lab.lines(3, 6);
  await following;
  expect(told.text).toBe(numbered(0, 6));
});

test('K05 a stream that is silent because nothing is printed goes on', async () => {
  const log = lab.reader();
  const told = new Told();
  lab.lines(0, 2);
  lab.meets({ after: 76, how: 'end' });
  await told.follow(log);
  const following = told.follow(log, undefined, 5);
  while (lab.asked.length < 5) await soon();
  lab.lines(2, 3);
  lab.end();
  await following;
  expect(told.text).toBe(numbered(0, 3));
  expect(lab.asked.filter((query) => query.get('follow') === 'true')).toHaveLength(2);
});

test('K05 a log that was out of reach, and to which nothing is printed, is known to be there again', async () => {
  const log = lab.reader();
  const told = new Told();
  lab.lines(0, 2);
  lab.meets({ after: 76, how: 'end' }, noNode);
  await told.follow(log);
  await told.follow(log);
  expect(told.troubles).toMatchObject([{ kind: 'unreachable' }]);
  const parts = log.follow(new AbortController().signal, 5);
  expect((await parts.next()).value).toEqual({ kind: 'bytes', at: 14, bytes: new Uint8Array() });
  // That it is cut then is no trouble.
  lab.cut();
  expect(await parts.next()).toEqual({ done: true, value: undefined });
});

test('K05 once its pod has ended, a silent stream is left, and the rest is read', async () => {
  const log = lab.reader();
  const told = new Told();
  const leaving = new AbortController();
  lab.lines(0, 3);
  lab.meets({ after: 114, how: 'hang' });
  const following = told.follow(log, leaving.signal);
  while (told.end < numbered(0, 3).length) await soon();
  lab.lines(3, 6);
  leaving.abort();
  await following;
  expect(await told.finish(log)).toEqual(VERIFIED);
  expect(told.text).toBe(numbered(0, 6));
  expect(told.troubles).toEqual([]);
});

test('K05 an open stream goes on when the file is changed', async () => {
  const log = lab.reader();
  const told = new Told();
  lab.lines(0, 3);
  const following = told.follow(log);
  while (told.end === 0) await soon();
  lab.log.rotate();
  lab.lines(3, 5);
  lab.end();
  await following;
  expect(told.text).toBe(numbered(0, 5));
  expect(await told.finish(log)).toEqual(VERIFIED);
  expect(log.isHeadCut).toBe(false);
});

test.each([0, 10_000])('another file, or container, that begins %d ms later is told behind a gap', async (ms) => {
  const log = lab.reader();
  const told = new Told();
  lab.lines(0, 3);
  lab.meets({ after: 76, how: 'end' });
  await told.follow(log);
  lab.log.rotate();
  lab.lines(3 + ms, 5 + ms);
  lab.end();
  await told.follow(log);
  expect(await told.finish(log)).toEqual(VERIFIED);
  expect(told.pieces).toEqual([
    { at: 0, text: numbered(0, 2) },
    { at: 15, text: numbered(3 + ms, 5 + ms) },
  ]);
  expect(log.isHeadCut).toBe(true);
  // Another reader finds itself behind the gap, and knows of it.
  const next = lab.reader(told.end, told.mark ? { mark: told.mark } : {});
  expect(await told.finish(next)).toEqual(VERIFIED);
  expect([told.pieces.length, next.isHeadCut]).toEqual([2, true]);
});

test('a new reader goes on in the middle of a line, from the first byte or from a mark', async () => {
  lab.print(`${'x'.repeat(40_000)}\n`, NOW);
  lab.lines(1, 50);
  lab.end();
  const whole = Buffer.concat(lab.log.printed).toString('latin1');
  const first = await new Told().follow(lab.reader());
  for (const mark of [undefined, first.mark]) {
    const told = await new Told().follow(lab.reader(30_000, mark ? { mark } : { startedAt: STARTED }));
    const at = mark ? Math.max(30_000, mark.at) : 30_000;
    expect(told.pieces).toEqual([{ at, text: whole.slice(at) }]);
  }
});

test.each<[string, number | undefined]>([
  ['long after its container started', STARTED - 60_000],
  ['after a start that is not known', undefined],
])('a reader without a mark tells what begins %s behind a gap, all of it', async (_title, startedAt) => {
  lab.lines(0, 100);
  lab.log.rotate();
  lab.lines(100, 200);
  lab.end();
  const log = lab.reader(500, startedAt === undefined ? {} : { startedAt });
  const told = new Told();
  await told.finish(log);
  expect(told.pieces).toEqual([{ at: 501, text: numbered(100, 200) }]);
  expect(log.isHeadCut).toBe(true);
});

test('a reader without a mark goes on in what begins soon after its container started', async () => {
  lab.lines(0, 100);
  lab.end();
  const log = lab.reader(7, { startedAt: STARTED - 900 });
  const told = new Told();
  expect(await told.finish(log)).toEqual(VERIFIED);
  expect(told.pieces).toEqual([{ at: 7, text: numbered(1, 100) }]);
  expect(log.isHeadCut).toBe(false);
});

test('in a long log, following goes on from a time', async () => {
  const log = lab.reader();
  const told = new Told();
  for (let index = 0; index < 120; index += 1) lab.print(`${'y'.repeat(9_999)}\n`, NOW + BigInt(index) * SEC);
  lab.meets({ after: 1_150_000, how: 'drop' });
  await told.follow(log);
  lab.end();
  await told.follow(log);
  expect(lab.asked.map((query) => query.get('sinceTime'))).toEqual([null, expect.stringMatching(/:\d\dZ$/)]);
  expect(await told.finish(log)).toEqual(VERIFIED);
  expect(told.end).toBe(1_200_000);
});

test('marks come with the first line, and then once in a megabyte', async () => {
  const log = lab.reader();
  let marks = 0;
  for (let index = 0; index < 500; index += 1) lab.print(`${'y'.repeat(9_999)}\n`, NOW + BigInt(index) * SEC);
  lab.end();
  for await (const read of log.follow(new AbortController().signal)) if (read.kind === 'bytes' && read.mark) marks += 1;
  expect(marks).toBeGreaterThanOrEqual(4);
  expect(marks).toBeLessThanOrEqual(6);
});

test('a log that is read slowly waits at its node', async () => {
  const log = lab.reader();
  lab.print(`${'z'.repeat(999)}\n`.repeat(30_000), NOW);
  lab.end();
  const parts = log.follow(new AbortController().signal);
  await parts.next();
  for (let waited = 0; waited < 10; waited += 1) await soon();
  expect(lab.waitingBytes).toBeGreaterThan(15_000_000);
  let told = 0;
  for await (const read of parts) told += read.kind === 'bytes' ? read.bytes.length : 0;
  expect([told > 25_000_000, lab.waitingBytes]).toEqual([true, 0]);
});

const step = fc.oneof(
  fc.record({ kind: fc.constant('print' as const), text: fc.stringMatching(/^[a-z\n]{0,60}$/), apart: fc.nat(3_000) }),
  fc.record({
    kind: fc.constant('follow' as const),
    cut: fc.record({
      after: fc.nat(600),
      how: fc.constantFrom('end' as const, 'drop' as const),
      says: fc.option(fc.constantFrom('unable to retrieve container logs for x', 'rpc error: code = Unknown'), {
        nil: undefined,
      }),
    }),
  }),
  fc.constant({ kind: 'takeOver' as const }),
);

test('whatever happens between, what was printed is told once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      lab.clear(16);
      let log = lab.reader();
      const told = new Told();
      let ns = NOW;
      for (const each of steps) {
        if (each.kind === 'print') {
          ns += BigInt(each.apart) * 1_000_000n;
          lab.print(each.text, ns);
        } else if (each.kind === 'follow') {
          const after = each.cut.after % (lab.log.answer().length + 1);
          lab.meets({ after, how: each.cut.how, ...(each.cut.says && { says: each.cut.says }) });
          await told.follow(log);
        } else log = lab.reader(told.end, told.mark ? { mark: told.mark } : {});
      }
      lab.end();
      expect(await told.finish(log)).toEqual(VERIFIED);
      expect(told.text).toBe(Buffer.concat(lab.log.printed).toString('latin1'));
      expect(log.isHeadCut).toBe(false);
    }),
    { numRuns: 150 },
  );
});
