import { lastWords } from './last-words.js';

const of = (text: string): string => lastWords(Buffer.from(text));

test.each([
  ['nothing', '', ''],
  ['blank lines', ' \n\r\n\t', ''],
  ['one line', 'no such file\n', 'no such file'],
  ['several lines', 'npm error code 1\n\n  npm error: x\r\n', 'npm error code 1 ↵ npm error: x'],
  ['colours, titles and cursor movement', '\u001b[1;31mred\u001b[0m\u001b]0;title\u0007 \u001b[2Jend', 'red end'],
  ['other controls', 'a\u0000b\u0008\u0085c\u202ed\u2028e', 'a b c d e'],
])('of %s', (_title, text, want) => {
  expect(of(text)).toBe(want);
});

test('are the last 300 characters, whole ones', () => {
  const words = of(`${'😀'.repeat(400)}end`);
  expect([...words]).toHaveLength(300);
  expect(words).toBe(`…${'😀'.repeat(296)}end`);
});

test('of bytes that are no text are still text', () => {
  expect(lastWords(Uint8Array.of(0xff, 0x61, 0xc3))).toBe('\ufffda\ufffd');
});
