import { clock, cut, plain, plainLines, table, widthOf } from './text.js';

describe('plain', () => {
  test.each([
    ['removes escape sequences whole', '\u001b[31mred\u001b[0m and \u001b]0;title\u0007rest', 'red and rest'],
    ['puts lines on one line', 'one\r\ntwo\tthree', 'one two three'],
    ['removes what is left of broken sequences', 'a\u001b\u009b\u0000\u007fb', 'ab'],
    ['removes marks that reorder text', 'abc\u202egnp.exe', 'abcgnp.exe'],
    ['keeps letters of any script', 'größe 大きさ 👍', 'größe 大きさ 👍'],
  ])('%s', (_title, text, want) => {
    expect(plain(text)).toBe(want);
  });
});

test('output of a job keeps its lines and loses what moves the cursor', () => {
  expect(plainLines('a\tb\n\u001b[2Jc\r\u0008d\n')).toBe('a\tb\ncd\n');
});

test('text is cut by the columns it takes, not by its letters', () => {
  expect(widthOf('大きさ')).toBe(6);
  expect(cut('大きさ', 5)).toBe('大き…');
  expect(cut('short', 5)).toBe('short');
  expect(cut('longer', 5)).toBe('long…');
});

test('a table aligns its columns, and no line is wider than the terminal', () => {
  const heads = [{ title: 'name', max: 6 }, { title: 'n', align: 'right' as const }, { title: 'why' }];
  const text = table(
    heads,
    [
      ['a-long-name', '7', 'first'],
      ['b', '12', 'x'.repeat(50)],
    ],
    20,
  );
  expect(text).toBe('name     n  why\na-lon…   7  first\nb       12  xxxxxxx…\n');
});

test.each([
  [0, '0:00'],
  [65_400, '1:05'],
  [3_725_000, '1:02:05'],
])('%d ms read as %s', (ms, want) => {
  expect(clock(ms)).toBe(want);
});
