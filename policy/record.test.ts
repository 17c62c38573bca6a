import fc from 'fast-check';
import { cutRecord, type JobRecord, readRecord } from './record.js';
import { RecordScanner } from './record-scanner.js';

const NONCE = 'c0ffee00';
const BODY = [
  'version 1',
  'status 3',
  'timer none',
  'setup_ms 10',
  'command_ms 1230',
  'answer_from stdout',
  'answer_bytes 3',
  'answer_cut 0',
  'answer 00ff',
  'answer 0a',
  'usage_cut 1',
  'usage 7b7d',
  'grader 1 0 0 20',
  'grader 2 137 1 300010',
  'grader_output 2 6e',
  'grader_output 2 6f',
  'leftovers 2',
];
const RECORD: JobRecord = {
  status: 3,
  timer: 'none',
  setupMs: 10,
  commandMs: 1_230,
  answerFrom: 'stdout',
  answer: Uint8Array.of(0, 255, 10),
  answerCut: false,
  answerBytes: 3,
  usage: Uint8Array.of(0x7b, 0x7d),
  usageCut: true,
  graders: [
    { index: 1, status: 0, timedOut: false, ms: 20, output: new Uint8Array() },
    { index: 2, status: 137, timedOut: true, ms: 300_010, output: Uint8Array.of(0x6e, 0x6f) },
  ],
  leftovers: 2,
};

const ended = (body: readonly string[]): string[] => [...body, `end ${body.length + 1}`];
const replaced = (from: string, to: string): string[] => ended(BODY.map((line) => (line === from ? to : line)));
const without = (key: string): string[] => ended(BODY.filter((line) => !line.startsWith(`${key} `)));

/** As the wrapper prints it. */
const printed = (lines: readonly string[] = ended(BODY), nonce = NONCE): string =>
  `\n${lines.map((line) => `__EVERDICT_RESULT__ ${nonce} ${line}\n`).join('')}`;

const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'latin1');

/** Pushes the bytes in pieces that end at the given places. */
function scan(input: Uint8Array | string, cuts: readonly number[] = [], from = 0) {
  const bytes = typeof input === 'string' ? bytesOf(input) : input;
  const scanner = new RecordScanner(NONCE, from);
  const places = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  const plain: { at: number; bytes: Uint8Array }[] = [];
  const records: JobRecord[] = [];
  for (let i = 1; i < places.length; i += 1) {
    const result = scanner.push(bytes.slice(places[i - 1], places[i]));
    plain.push(...result.plain);
    if (result.record) records.push(result.record);
  }
  plain.push(...scanner.end());
  return { log: Buffer.concat(plain.map((part) => part.bytes)).toString('latin1'), plain, records };
}

describe('readRecord', () => {
  test('reads every field', () => {
    expect(readRecord(ended(BODY))).toEqual(RECORD);
  });

  test('reads a command that never ran, and an answer of unknown size', () => {
    const lines = ended([
      ...['version 1', 'status -', 'timer setup', 'setup_failed 2 143', 'tool_missing git', 'setup_ms 5000'],
      ...['command_ms 0', 'answer_from file', 'answer_bytes -', 'answer_cut 1', 'leftovers 0'],
    ]);

    expect(readRecord(lines)).toEqual({
      ...{ status: null, timer: 'setup', setupFailed: { index: 2, status: 143 }, toolMissing: 'git' },
      ...{ setupMs: 5_000, commandMs: 0, graders: [], leftovers: 0 },
      ...{ answerFrom: 'file', answer: new Uint8Array(), answerCut: true },
    });
  });

  test.each([
    'version',
    'status',
    'timer',
    'setup_ms',
    'command_ms',
    'answer_from',
    'answer_bytes',
    'answer_cut',
    'leftovers',
  ])('refuses a record without its %s', (key) => expect(readRecord(without(key))).toBe(`\`${key}\` is missing`));

  test.each([
    ['another version', replaced('version 1', 'version 2'), '`version` may not be "2"'],
    ['a status that is not one', replaced('status 3', 'status -3'), '`status` may not be "-3"'],
    ['a timer that does not exist', replaced('timer none', 'timer grader'), '`timer` may not be "grader"'],
    ['hex with an odd number of digits', replaced('answer 0a', 'answer 0'), '`answer` may not be "0"'],
    ['hex with a damaged digit', replaced('answer 0a', 'answer 0g'), '`answer` may not be "0g"'],
    [
      'an answer of another size than it says',
      replaced('answer 0a', 'answer 0a0a'),
      '`answer_bytes` says 3, and the answer has 4',
    ],
    ['a value that is there twice', ended([...BODY, 'status 3']), '`status` is there twice'],
    [
      'a key that does not exist',
      ended([...BODY, 'verdict \u001b[31mpassed']),
      'line 18 begins with no key of a record: "verdict \\u001b[31mpassed"',
    ],
    ['a line without a value', ended([...BODY, 'answer']), 'line 18 begins with no key of a record: "answer"'],
    [
      'graders that are not numbered in order',
      replaced('grader 1 0 0 20', 'grader 3 0 0 20'),
      '`grader` lines are not numbered from 1',
    ],
    [
      'output of a grader that is not there',
      replaced('grader_output 2 6e', 'grader_output 3 6e'),
      '`grader` lines are not numbered from 1',
    ],
    ['another number of lines than it says', [...BODY, 'end 17'], '`end` says 17 lines, and there are 18'],
    ['no end', BODY, '`end` is missing'],
    ['nothing', [], '`version` is missing'],
  ])('refuses %s, and says why', (_title, lines, fault) => expect(readRecord(lines)).toBe(fault));
});

test('a record beyond the limits is cut, and says so', () => {
  const record = { ...RECORD, answerBytes: 3, usageCut: false };
  expect(cutRecord(record, { answerLimit: 3, usageLimit: 2 })).toEqual(record);
  expect(cutRecord(record, { answerLimit: 2, usageLimit: 1 })).toEqual({
    ...record,
    ...{ answer: record.answer.subarray(0, 2), answerCut: true, usage: record.usage?.subarray(0, 1), usageCut: true },
  });
});

test('the scanner can say why lines with the right nonce made no record', () => {
  const faultOf = (text: string): string | undefined => {
    const scanner = new RecordScanner(NONCE);
    scanner.push(bytesOf(text));
    return scanner.fault;
  };
  expect(faultOf('noise\n')).toBeUndefined();
  expect(faultOf(printed(ended(BODY), 'badbad00'))).toBeUndefined();
  expect(faultOf(printed(BODY))).toBe('it has no `end` line');
  expect(faultOf(printed(replaced('status 3', 'status x')))).toBe('`status` may not be "x"');
});

describe('RecordScanner', () => {
  test.each([
    ['after output that ends with a newline', 'noise\n', '', 'noise\n'],
    ['after output without a final newline', 'noise', '', 'noise'],
    ['after no output at all', '', '', ''],
    ['before output of who lives on', 'noise\n', 'later', 'noise\nlater'],
    ['among forged records before and after', printed(ended(BODY), 'badbad00'), printed(ended(BODY), ''), undefined],
    ['after a prefix that another one interrupts', `__EVERDICT_RESULT__ ${NONCE.slice(0, 4)}`, '', undefined],
  ])('finds a record %s', (_title, before, after, log) => {
    const scanned = scan(before + printed() + after);

    expect(scanned.records).toEqual([RECORD]);
    expect(scanned.log).toBe(log ?? before + after);
  });

  test('takes a forged record for output', () => {
    const forged =
      printed(ended(BODY), 'badbad00') + printed(ended(BODY), `${NONCE} `.repeat(2)).replaceAll(NONCE, 'C0FFEE00');

    expect(scan(forged)).toMatchObject({ log: forged, records: [] });
  });

  test('takes a line of more than 4,096 bytes for output, however many more', () => {
    const prefix = `__EVERDICT_RESULT__ ${NONCE} answer `;
    const longest = prefix + 'a'.repeat(4_095 - prefix.length);

    expect(scan(`${longest}\n`).log).toBe('');
    expect(scan(`${longest}a\n`).log).toBe(`${longest}a\n`);
    expect(scan(longest + 'a'.repeat(100_000)).log).toBe(longest + 'a'.repeat(100_000));
  });

  test('gives no record before its last line, nor for half of one', () => {
    const text = printed();

    expect(scan(text.slice(0, -1)).records).toEqual([]);
    expect(
      scan(
        text
          .split('\n')
          .filter((line) => !line.includes('answer 0a'))
          .join('\n'),
      ).records,
    ).toEqual([]);
    expect(scan(text).records).toHaveLength(1);
  });

  test('keeps the first valid record, and takes what follows for output', () => {
    const second = printed(replaced('status 3', 'status 0'));

    expect(scan(printed() + second)).toMatchObject({ log: second, records: [RECORD] });
  });

  test('reads a record whole that broke off before', () => {
    expect(scan(printed(BODY.slice(0, 9)) + printed()).records).toEqual([RECORD]);
  });

  test('says where in the output each piece was', () => {
    const { plain } = scan(`noise${printed()}later`, [], 1_000);

    expect(plain.map(({ at, bytes }) => [at, Buffer.from(bytes).toString()])).toEqual([
      [1_000, 'noise'],
      [1_000 + 'noise'.length + printed().length, 'later'],
    ]);
  });

  test('gives the same output and record wherever the bytes are cut', () => {
    const piece = fc.oneof(
      fc.constantFrom('\n', '\n\n', '_', '__EVERDICT_RESULT__ ', `__EVERDICT_RESULT__ ${NONCE} `, 'status 3\n'),
      fc.constantFrom(printed(), printed(BODY.slice(0, 5)), printed(ended(BODY), 'badbad00')),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
      fc.integer({ min: 4_000, max: 4_200 }).map((length) => 'x'.repeat(length)),
    );
    const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 12 }), (input, places) => {
        const cuts = places.map((place) => place % (input.length + 1));
        const [whole, pieces] = [scan(input), scan(input, cuts)];
        expect(pieces.log).toBe(whole.log);
        expect(pieces.records).toEqual(whole.records);
        for (const { at, bytes } of pieces.plain) {
          expect(input.slice(at, at + bytes.length)).toBe(Buffer.from(bytes).toString('latin1'));
        }
      }),
    );
  });

  test('loses and adds no byte of output without a record, whatever it holds', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(300)), (bytes, places) => {
        const cuts = places.map((place) => place % (bytes.length + 1));
        expect(scan(bytes, cuts).log).toBe(Buffer.from(bytes).toString('latin1'));
      }),
    );
  });

  test('finds the record after any output, cut anywhere', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.array(fc.nat(), { maxLength: 6 }), (before, places) => {
        const bytes = Buffer.concat([before, bytesOf(printed())]);
        const { log, records } = scan(
          bytes,
          places.map((place) => place % (bytes.length + 1)),
        );
        expect(records).toEqual([RECORD]);
        expect(log).toBe(Buffer.from(before).toString('latin1'));
      }),
    );
  });

  test.each([
    ['one line', new Uint8Array(65_536).fill(0x61)],
    ['empty lines', new Uint8Array(65_536).fill(0x0a)],
    ['the first byte of the prefix', new Uint8Array(65_536).fill(0x5f)],
    ['hex', new Uint8Array(65_536).fill(0x63)],
  ])('passes 50 MB of %s on at once, and holds back no more than a line', (_title, chunk) => {
    const scanner = new RecordScanner(NONCE);
    const count = Math.ceil(50_000_000 / chunk.length);
    let passed = 0;
    const begun = performance.now();
    for (let i = 0; i < count; i += 1) {
      for (const { bytes } of scanner.push(chunk).plain) passed += bytes.length;
      expect(chunk.length * (i + 1) - passed).toBeLessThan(4_097);
    }
    const tookMs = performance.now() - begun;

    expect(tookMs).toBeLessThan(5_000);
    for (const { bytes } of scanner.end()) passed += bytes.length;
    expect(passed).toBe(chunk.length * count);
  });
});
