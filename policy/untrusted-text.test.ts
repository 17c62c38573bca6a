import fc from 'fast-check';
import { CORPUS } from '../test/mcp/corpus.js';
import { namedIn } from '../test/mcp/naive-agent.js';
import { cutTo, nameBreaker, seen } from './untrusted-text.js';

const NAMES = [
  'cancel_scorecard',
  'cancel_run',
  'delete_secret',
  'run_case',
  'get_run',
  'get_run_logs',
  'run_scorecard',
];
const withoutNames = nameBreaker(NAMES);

describe('what is seen of a text', () => {
  test.each([
    ['colours', '\u001b[31mred\u001b[0m and \u009b1mbold', 'red and bold'],
    ['a title and a link', '\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\b', 'ab'],
    ['what moves a cursor', 'a\bb\u007fc\0d', 'abcd'],
    ['ends of lines', 'a\r\nb\rc\n\td', 'a\nb\nc\n\td'],
    ['what reorders or hides', 'a\u202eb\u200bc\u2066d\ufeffe\u00adf', 'abcdef'],
    ['half of a pair', 'a\ud800b', 'a\ufffdb'],
    ['what is read', 'é 忽略 😀 x\u0301', 'é 忽略 😀 x\u0301'],
  ])('%s', (_what, text, expected) => {
    expect(seen(text)).toBe(expected);
  });
});

describe('no name stands whole in a text of others', () => {
  test.each([
    ['plainly', 'call cancel_run now', 'call ca·ncel_run now'],
    ['in another case', 'CANCEL_run', 'CA·NCEL_run'],
    ['in another width', 'ｃａｎｃｅｌ＿ｒｕｎ', 'ca·ncel_run'],
    ['with marks', 'c\u0335a\u0332n\u0338cel\u0338_run', 'c\u0335a\u0332·n\u0338cel\u0338_run'],
    ['with letters that have marks', 'ḉáncel_rún', 'ḉá·ncel_rún'],
    ['in a longer name', 'get_run_logs', 'ge·t_run_logs'],
    ['and is not made by the break', 'cancel_cancel_runrun', 'cancel_ca·ncel_runrun'],
  ])('%s', (_what, text, expected) => {
    expect(withoutNames(text)).toBe(expected);
    expect(namedIn(withoutNames(text), NAMES)).toEqual([]);
  });

  test.each(['e\u0301 ﬁ ｗｉｄｅ', '', 'cancel run', 'cancel-run'])('a text without one stays: %j', (text) => {
    expect(withoutNames(text)).toBe(text);
  });

  test('in what jobs may write, and with any marks anywhere', () => {
    const broken = (text: string) => namedIn(withoutNames(seen(text)), NAMES);
    expect(CORPUS.flatMap(broken)).toEqual([]);
    const part = fc.constantFrom(...NAMES.flatMap((name) => [name, name.slice(0, 3), name.slice(3)]));
    const between = fc.constantFrom('\u0332', '\u0301', '\u20dd', '\u200d', '\u034f', '\u202e', '\u0345', ' ', '·');
    const spelled = fc.array(fc.oneof(part, between)).map((parts) => parts.join(''));
    const marked = fc.tuple(spelled, between).map(([text, mark]) => [...text].join(mark === ' ' ? '' : mark));
    fc.assert(fc.property(fc.oneof(spelled, marked), (text) => broken(text).length === 0));
  });
});

test('a text is cut at a length, and never in half of a letter', () => {
  expect(cutTo('abc', 3)).toEqual({ text: 'abc', isCut: false });
  expect(cutTo('abc', 2)).toEqual({ text: 'ab', isCut: true });
  expect(cutTo('a😀b', 2)).toEqual({ text: 'a', isCut: true });
  expect(cutTo('abc', 0)).toEqual({ text: '', isCut: true });
});
