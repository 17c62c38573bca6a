import fc from 'fast-check';
import type { z } from 'zod';
import { Grader } from '../contracts/grader.js';
import { type Evidence, grade } from './graders.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const evidence = (answer: string | Uint8Array, rest: Partial<Evidence> = {}): Evidence => ({
  exitCode: 0,
  answer: typeof answer === 'string' ? bytes(answer) : answer,
  answerCut: false,
  commandGraders: [],
  ...rest,
});

function one(grader: z.input<typeof Grader>, found: Evidence) {
  const [score] = grade([Grader.parse(grader)], found);
  if (!score) throw new Error('no score');
  return score;
}

const passes = (grader: z.input<typeof Grader>, answer: string, rest?: Partial<Evidence>): boolean =>
  one(grader, evidence(answer, rest)).passed;

describe('grade', () => {
  test.each([
    ['0 by default', {}, 0, true],
    ['another code', {}, 1, false],
    ['the code that is expected', { expected: 3 }, 3, true],
    ['no code at all', {}, null, false],
  ])('exit-code: %s', (_title, config, exitCode, want) => {
    expect(passes({ kind: 'exit-code', ...config }, '', { exitCode })).toBe(want);
  });

  test.each([
    ['the same text', '42', '42', true],
    ['one final line feed', '42\n', '42', true],
    ['one final carriage return and line feed', '42\r\n', '42', true],
    ['a second final line feed', '42\n\n', '42', false],
    ['a carriage return alone', '42\r', '42', false],
    ['the same text with its final line feed', '42\n', '42\n', true],
    ['a line feed the value asks for', '42\n\n', '42\n', true],
    ['a line feed the answer lacks', '42', '42\n', false],
    ['nothing where nothing is expected', '\n', '', true],
    ['space in front', ' 42', '42', false],
    ['another case', 'Yes', 'yes', false],
    ['text outside ASCII', 'grüße 😀\n', 'grüße 😀', true],
    ['a byte order mark', '\ufeff42', '42', false],
  ])('equals: %s', (_title, answer, value, want) => {
    expect(passes({ kind: 'equals', value }, answer)).toBe(want);
  });

  test('equals: invalid UTF-8 is not the replacement character', () => {
    expect(one({ kind: 'equals', value: '\ufffd' }, evidence(new Uint8Array([0xff]))).passed).toBe(false);
  });

  test('equals: says where a long answer differs', () => {
    const { detail } = one({ kind: 'equals', value: `${'x'.repeat(1_000)}a` }, evidence(`${'x'.repeat(1_000)}b`));
    expect(detail).toMatch(/^expected from character \d+ "x+a", got "x+b"$/);
  });

  test.each([
    ['in the middle', 'the answer is 42.', '42', true],
    ['absent', 'the answer is 41.', '42', false],
    ['across lines', 'a\nb', 'a\nb', true],
  ])('contains: %s', (_title, answer, value, want) => {
    expect(passes({ kind: 'contains', value }, answer)).toBe(want);
  });

  test.each([
    ['found anywhere', 'x 42 y', '\\d+', true],
    ['anchored to the whole answer', 'x 42', '^\\d+$', false],
    ['the end before one final newline', '42\n', '^42$', true],
    ['the end before a final carriage return and line feed', '42\r\n', '^42$', true],
    ['a final newline it asks for', '42\n', '42\\n$', true],
    ['lines by flag', 'a\n42\nb', '(?m)^42$', true],
    ['case by flag', 'YES', '(?i)yes', true],
    ['a pattern that does not compile', 'x', '(', false],
  ])('regex: %s', (_title, answer, pattern, want) => {
    expect(passes({ kind: 'regex', pattern }, answer)).toBe(want);
  });

  test('regex: time is linear where backtracking explodes', () => {
    expect(passes({ kind: 'regex', pattern: '^(a+)+$' }, `${'a'.repeat(200_000)}!`)).toBe(false);
  });

  test.each([
    ['the whole answer', '{"a":1}', '$', { a: 1 }, true],
    ['any order of keys', '{"b":[1,{"d":4,"c":3}],"a":1}', '$', { a: 1, b: [1, { c: 3, d: 4 }] }, true],
    ['another order of items', '[1,2]', '$', [2, 1], false],
    ['a step by name', '{"a":{"b":2}}', '$.a.b', 2, true],
    ['a step by index', '{"a":[5,6]}', '$.a[1]', 6, true],
    ['a step by quoted name', '{"a":[{"x y":1}]}', '$.a[0]["x y"]', 1, true],
    ['a quoted name with an escape', '{"\\"":1}', '$["\\""]', 1, true],
    ['a path without its dollar sign', '{"a":1}', 'a', 1, true],
    ['a number is not its text', '{"a":"1"}', '$.a', 1, false],
    ['null is not absence', '{}', '$.a', null, false],
    ['null as a value', '{"a":null}', '$.a', null, true],
    ['an index beyond the end', '[1]', '$[1]', null, false],
    ['a key too many', '{"a":1,"b":2}', '$', { a: 1 }, false],
    ['an object is not a list', '{}', '$', [], false],
    ['an inherited property', '{}', '$.constructor', {}, false],
    ['the prototype', '{}', '$.__proto__', {}, false],
    ['the length of a list', '[1,2]', '$.length', 2, false],
    ['an index of a text', '"ab"', '$[0]', 'a', false],
    ['space and a byte order mark around it', '\ufeff {"a":1}\n', '$.a', 1, true],
    ['text around it', 'result: {"a":1}', '$.a', 1, false],
    ['no answer', '', '$', null, false],
  ])('json: %s', (_title, answer, path, value, want) => {
    expect(passes({ kind: 'json', path, value }, answer)).toBe(want);
  });

  test('json: an answer nested to the limit of its size is only wrong', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(passes({ kind: 'json', path: '$', value: [[1]] }, deep)).toBe(false);
  });

  test.each([
    ['an integer', '42\n', 42, 0, true],
    ['the edge of the tolerance', '1.5', 1, 0.5, true],
    ['beyond the tolerance', '1.51', 1, 0.5, false],
    ['another way to write it', '+4.2e1', 42, 0, true],
    ['a negative number', '-0.5', -0.5, 0, true],
    ['no digits before the point', '.5', 0.5, 0, true],
    ['a number in a sentence', 'it is 42', 42, 0, false],
    ['two numbers', '41 42', 42, 0, false],
    ['hexadecimal', '0x2a', 42, 0, false],
    ['infinity', 'Infinity', 1, 9, false],
    ['a number beyond range', '1e999', 1, 9, false],
    ['not a number', 'NaN', 1, 9, false],
    ['no answer', '', 0, 9, false],
  ])('numeric: %s', (_title, answer, value, tolerance, want) => {
    expect(passes({ kind: 'numeric', value, tolerance }, answer)).toBe(want);
  });

  test('command: each is judged by its own index among the command graders', () => {
    const graders = [
      { id: 'first', kind: 'command', command: 'true' },
      { id: 'between', kind: 'contains', value: 'x' },
      { id: 'second', kind: 'command', command: 'false' },
      { id: 'late', kind: 'command', command: 'sleep 9' },
      { id: 'missing', kind: 'command', command: 'true' },
    ].map((grader) => Grader.parse(grader));
    const commandGraders = [
      { index: 2, status: 1, timedOut: false, ms: 10, output: bytes('ValueError: 3\n  at x\nbye\n') },
      { index: 1, status: 0, timedOut: false, ms: 10, output: bytes('1 test ran\nall is well\n\n') },
      { index: 3, status: 0, timedOut: true, ms: 9_000, output: new Uint8Array() },
    ];
    expect(grade(graders, evidence('x', { commandGraders, graderSec: 8 }))).toEqual([
      { grader: 'first', kind: 'command', passed: true, detail: 'exit code 0: all is well' },
      { grader: 'between', kind: 'contains', passed: true, detail: 'contains "x"' },
      { grader: 'second', kind: 'command', passed: false, detail: 'exit code 1: ValueError: 3' },
      { grader: 'late', kind: 'command', passed: false, detail: 'took 9.0 s, more than the allowed 8 s' },
      { grader: 'missing', kind: 'command', passed: false, detail: 'the grader did not run' },
    ]);
  });

  test.each([
    ['equals', { kind: 'equals', value: '42' }, '42', false],
    ['json', { kind: 'json', path: '$', value: 42 }, '42', false],
    ['numeric', { kind: 'numeric', value: 42 }, '42', false],
    ['contains, absent', { kind: 'contains', value: '43' }, '42', false],
    ['contains, found', { kind: 'contains', value: '4' }, '42', true],
    ['regex, absent', { kind: 'regex', pattern: '43' }, '42', false],
    ['regex, found before the cut', { kind: 'regex', pattern: '4' }, '42', true],
    ['regex, reaching the cut', { kind: 'regex', pattern: '^[^x]*$' }, '42', false],
    ['regex, with the end at a newline', { kind: 'regex', pattern: '^42$' }, '42\n', false],
  ] as const)('a cut answer: %s', (_title, grader, answer, want) => {
    const score = one(grader, evidence(answer, { answerCut: true }));
    expect(score.passed).toBe(want);
    if (!want) expect(score.detail).toContain('cut');
  });

  test('never throws, and gives short clean details, whatever bytes an answer has', () => {
    const graders = [
      { kind: 'exit-code' },
      { kind: 'equals', value: 'x' },
      { kind: 'contains', value: 'x' },
      { kind: 'regex', pattern: '[^a]$' },
      { kind: 'json', path: '$.a[0]', value: { b: 1 } },
      { kind: 'numeric', value: 1 },
      { kind: 'command', command: 'x' },
    ].map((grader) => Grader.parse(grader));
    const answers = fc.oneof(
      fc.uint8Array({ maxLength: 2_000 }),
      fc.json().map(bytes),
      fc.string({ unit: 'binary', maxLength: 900 }).map(bytes),
    );
    fc.assert(
      fc.property(answers, fc.boolean(), answers, (answer, answerCut, output) => {
        const commandGraders = [{ index: 1, status: 1, timedOut: false, ms: 1, output }];
        const scores = grade(graders, { exitCode: 0, answer, answerCut, commandGraders });
        expect(scores).toHaveLength(graders.length);
        for (const { detail } of scores) {
          expect(detail).not.toMatch(/[\p{Cc}\p{Surrogate}]/u);
          expect(detail.length).toBeLessThanOrEqual(500);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('equals, contains and json recognize their own value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.jsonValue({ stringUnit: 'grapheme' }), (text, value) => {
        expect(passes({ kind: 'equals', value: text }, text)).toBe(true);
        expect(passes({ kind: 'equals', value: text }, `${text}\n`)).toBe(true);
        expect(passes({ kind: 'contains', value: text || 'x' }, `a${text || 'x'}b`)).toBe(true);
        const json = JSON.stringify(value);
        const grader = Grader.parse({ kind: 'json', path: '$', value: 0 });
        expect(grade([{ ...grader, value: JSON.parse(json) } as Grader], evidence(json))[0]?.passed).toBe(true);
      }),
    );
  });
});
