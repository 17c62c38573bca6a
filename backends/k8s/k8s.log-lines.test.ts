import fc from 'fast-check';
import { KubeletLog } from '../../test/kubelet-log.js';
import { type LineOptions, StampedLines } from './k8s.log-lines.js';

const T = '2026-11-30T12:58:45.357971769Z';

/** What an answer holds, and what the node said beside. */
function read(pieces: readonly (Buffer | string)[], options: Partial<LineOptions> = {}) {
  const told: Buffer[] = [];
  const stamps: string[] = [];
  const line = (stamp: string): boolean => stamps.push(stamp) > 0;
  const lines = new StampedLines(
    { line, text: (bytes) => told.push(bytes) },
    { isCutBefore: false, isFollow: false, ...options },
  );
  for (const piece of pieces) lines.push(Buffer.from(piece));
  lines.end();
  return { text: Buffer.concat(told).toString('latin1'), stamps: stamps.length, fault: lines.fault };
}

const cutAt = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((one, other) => one - other), bytes.length];
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
};

test.each<[string, string, string]>([
  ['a line', `${T} one\n`, 'one\n'],
  ['an empty one', `${T} \n${T} \n`, '\n\n'],
  ['one without an end', `${T} one`, 'one'],
  ['no digits of a second', '2026-11-30T12:58:45Z one\n', 'one\n'],
  ['the time of a place', '2026-11-30T12:58:45.3+02:00 one\n', 'one\n'],
  ['what looks like a timestamp, and was printed', `${T} ${T} one\n`, `${T} one\n`],
  ['any bytes', `${T} a\0\xff\r\n`, 'a\0\xff\r\n'],
  ['nothing', '', ''],
])('timestamps are no output: %s', (_title, answer, want) => {
  expect(read([Buffer.from(answer, 'latin1')])).toMatchObject({ text: want, fault: undefined });
});

test.each<[string, string]>([
  ['unable to retrieve container logs for containerd://0f', 'unable to retrieve container logs for containerd://0f'],
  [
    'failed to open log file "/x": no such file or directory\n',
    'failed to open log file "/x": no such file or directory\n',
  ],
  ['rpc error: code = Unavailable', 'rpc error: code = Unavailable'],
  ['EOF', 'EOF'],
  ['20', '20'],
])('what a node says of its own is no output: %j', (said, want) => {
  const isStamp = said === '20';
  expect(read([said])).toEqual({ text: '', stamps: 0, fault: isStamp ? undefined : want });
  expect(read([`${T} one\n`, said])).toEqual({ text: 'one\n', stamps: 1, fault: isStamp ? undefined : want });
});

test('a job that prints what a node says has printed it', () => {
  const said = 'unable to retrieve container logs for containerd://0f\n';
  for (const isFollow of [true, false]) {
    expect(read([`${T} ${said}`], { isFollow })).toEqual({ text: said, stamps: 1, fault: undefined });
  }
});

test('what a node says in the middle of a line is not told while it is followed, and is told if it goes on', () => {
  const said = 'rpc error: code = Unavailable';
  expect(read([`${T} begun ${said}`], { isFollow: true })).toEqual({ text: 'begun ', stamps: 1, fault: said });
  expect(read([`${T} begun ${said}`, '!\n'], { isFollow: true })).toMatchObject({ text: `begun ${said}!\n` });
  expect(read([`${T} begun ${said}`])).toMatchObject({ text: `begun ${said}`, fault: undefined });
});

test('an answer from the middle of a line on begins with its next one', () => {
  const answer = `of a long line\n${T} one\n`;
  expect(read([answer], { isCutBefore: true })).toEqual({ text: 'one\n', stamps: 1, fault: undefined });
  expect(read(['of a long line'], { isCutBefore: true })).toMatchObject({ text: '', fault: undefined });
  expect(read([answer])).toMatchObject({ text: 'one\n', fault: 'of a long line\n' });
});

test('a line of a hundred megabytes takes no memory, and one timestamp', () => {
  const piece = Buffer.alloc(1_024 * 1_024, 'x');
  let bytes = 0;
  const lines = new StampedLines(
    {
      line: () => true,
      text: (text) => {
        bytes += text.length;
      },
    },
    { isCutBefore: false, isFollow: true },
  );
  lines.push(Buffer.from(`${T} `));
  for (let count = 0; count < 100; count += 1) lines.push(piece);
  expect(bytes).toBe(100 * piece.length);
});

test('what was printed comes out, in whatever pieces it arrives', () => {
  const texts = fc.array(
    fc.oneof(
      fc.stringMatching(/^[ -~]{0,12}\n?$/),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
      fc.constantFrom('failed to open it\n', `${T} \n`, '\n', 'rpc error: code = '),
    ),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(texts, fc.array(fc.nat(), { maxLength: 30 }), fc.boolean(), (printed, cuts, isFollow) => {
      const log = new KubeletLog(16);
      for (const [index, text] of printed.entries()) log.print(Buffer.from(text, 'latin1'), BigInt(index));
      log.print('\n', 99n);
      const { text, fault } = read(cutAt(log.answer(), cuts), { isFollow });
      expect({ text, fault }).toEqual({ text: `${printed.join('')}\n`, fault: undefined });
    }),
    { numRuns: 500 },
  );
});
