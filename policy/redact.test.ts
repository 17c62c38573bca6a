import fc from 'fast-check';
import { formsOf, HiddenValues, MaskedStream, SecretMask } from './redact.js';

const VALUE = 'S3cr3t-BBBB/+"$\nü?>ÿ~~';
const encoder = new TextEncoder();
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** What a stream shows of pieces of these lengths, as one text; gaps and overlaps fail. */
function streamed(values: string[], input: Uint8Array, cuts: number[]): Uint8Array {
  const stream = new MaskedStream(new SecretMask(values));
  const shown = [];
  let at = 0;
  for (const cut of [...cuts, input.length]) {
    const end = Math.min(input.length, at + cut);
    shown.push(...stream.push(at, input.subarray(at, end)));
    at = end;
  }
  shown.push(...stream.end());
  let next = 0;
  for (const piece of shown) {
    expect(piece.at).toBe(next);
    next += piece.bytes.length;
  }
  return Buffer.concat(shown.map(({ bytes }) => bytes));
}

test.each([
  ['as it is', VALUE],
  ['as JSON escapes it', JSON.stringify(VALUE).slice(1, -1)],
  ['as URLs escape it', encodeURIComponent(VALUE)],
  ['in base64', Buffer.from(VALUE).toString('base64')],
  ['in base64 for URLs', Buffer.from(VALUE).toString('base64url')],
  ['in hex', Buffer.from(VALUE).toString('hex')],
  ['in upper hex', Buffer.from(VALUE).toString('hex').toUpperCase()],
])('a value is masked %s, and the text is as long as before', (_title, form) => {
  const masked = new SecretMask([VALUE]).bytes(encoder.encode(`<${form}>`));
  expect(text(masked).replace(/=+(?=>)/, (padding) => '*'.repeat(padding.length))).toBe(
    `<${'*'.repeat(Buffer.byteLength(form))}>`,
  );
});

test.each(['u:', 'us:', 'use:'])('the value after %s is masked in the base64 of both', (before) => {
  const encoded = Buffer.from(before + VALUE).toString('base64');
  const masked = new SecretMask([VALUE]).text(encoded);
  expect(masked).toMatch(/^.{2,6}\*{20,}=*$/);
});

test('values of fewer than four bytes are not looked for', () => {
  expect(formsOf('abc')).toEqual([]);
  expect(new SecretMask(['abc', '']).isEmpty).toBe(true);
});

test('a value is masked wherever pieces are cut, and offsets stay as they were', () => {
  const alphabet = fc.constantFrom('a', 'b', 'c', '-');
  const words = fc.array(alphabet, { minLength: 4, maxLength: 8 }).map((letters) => letters.join(''));
  fc.assert(
    fc.property(
      fc.array(words, { minLength: 1, maxLength: 3 }),
      fc.array(alphabet, { maxLength: 60 }).map((letters) => letters.join('')),
      fc.array(fc.nat(9), { maxLength: 20 }),
      (values, noise, cuts) => {
        const input = encoder.encode(noise + values.join('') + noise);
        const shown = streamed(values, input, cuts);
        expect(text(shown)).toBe(text(new SecretMask(values).bytes(input)));
        for (const value of values) expect(text(shown)).not.toContain(value);
        for (const [at, byte] of input.entries()) expect([byte, 0x2a]).toContain(shown[at]);
      },
    ),
  );
});

test('a stream shows at once what is no beginning of a value', () => {
  const stream = new MaskedStream(new SecretMask(['S3cr3t-AAAA']));
  expect(stream.push(0, encoder.encode('hello ')).map(({ bytes }) => text(bytes))).toEqual(['hello ']);
  expect(stream.push(6, encoder.encode('S3cr3t-')).map(({ bytes }) => text(bytes))).toEqual([]);
  expect(stream.push(13, encoder.encode('AAAB')).map(({ at, bytes }) => [at, text(bytes)])).toEqual([
    [6, 'S3cr3t-AAAB'],
  ]);
});

test('a value that a gap cuts is masked as far as it is seen', () => {
  const stream = new MaskedStream(new SecretMask(['S3cr3t-AAAA']));
  stream.push(0, encoder.encode('S3cr3t-AA'));
  const [first, second] = stream.push(1_000, encoder.encode('x'));
  expect(text(first?.bytes ?? new Uint8Array())).toBe('*'.repeat(9));
  expect(second).toMatchObject({ at: 1_000 });
});

test('texts within JSON are masked', () => {
  const masked = new SecretMask(['S3cr3t-AAAA']).json({ a: ['x S3cr3t-AAAA', 3], b: undefined });
  expect(masked).toEqual({ a: ['x ***********', 3] });
});

test('a log forgets the oldest of very many values only', () => {
  const hidden = new HiddenValues();
  for (let n = 0; n < 600; n++) hidden.add(`value-${n}-`);
  expect(hidden.without('value-599- value-0-')).toBe('*** value-0-');
});
