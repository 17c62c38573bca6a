import fc from 'fast-check';
import { HiddenValues, isMasked, MaskedStream, SecretMask } from './redact.js';

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
  expect([isMasked('abc'), isMasked('äö')]).toEqual([false, true]);
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

test('a value of several lines is masked line by line, and without the white space around it', () => {
  const mask = new SecretMask(['\n-----BEGIN KEY-----\nMIIEvQIBADAN\nshort\n', ' token-1 \n']);
  expect(mask.text('  MIIEvQIBADAN short <token-1>')).toBe(`  ${'*'.repeat(12)} short <${'*'.repeat(7)}>`);
});

test('a log shows none of many values, and is quick about it', () => {
  const hidden = new HiddenValues();
  for (let n = 0; n < 2_000; n++) hidden.add(`value-${n}-${'x'.repeat(20)}`);
  const line = `${'ordinary text '.repeat(50)} value-0-${'x'.repeat(20)} value-1999-${'x'.repeat(20)} "é"`;
  // Work, not time, which other processes take, too: to look for the values one by one takes several times as much.
  const before = process.cpuUsage();
  for (let turn = 0; turn < 100; turn++) hidden.without(line);
  expect(process.cpuUsage(before).user / 100).toBeLessThan(5_000);
  expect(hidden.without(line)).toBe(`${'ordinary text '.repeat(50)} *** *** "é"`);
  expect(hidden.without('value-0-xx')).toBe('value-0-xx');
});

test('a log hides what stands within, and what overlaps', () => {
  const hidden = new HiddenValues();
  for (const value of ['abcdef', 'cdefgh', 'bcde']) hidden.add(value);
  expect(hidden.without('<abcdefgh> <bcde>')).toBe('<***> <***>');
});

test.each([
  ['of one letter', 'x'.repeat(65_536)],
  ['of few letters', 'ab'.repeat(32_768)],
])('a value %s costs no more than any other', (_title, value) => {
  const begun = performance.now();
  const shown = streamed([value], encoder.encode(`${value.slice(1)}\n${value}\n`), [50_000, 10, 30_000, 50_000]);
  expect(text(shown)).toBe(`${value.slice(1)}\n${'*'.repeat(65_536)}\n`);
  expect(performance.now() - begun).toBeLessThan(3_000);
});

test('the largest value is masked within moments', () => {
  const value = Array.from({ length: 1_000 }, (_, at) => `${at}:${'0123456789abcdef'.repeat(4)}`)
    .join('\n')
    .slice(0, 65_536);
  const begun = performance.now();
  const mask = new SecretMask([value]);
  const shown = text(mask.bytes(encoder.encode(`${'plain '.repeat(50_000)}${value}`)));
  expect(shown.slice(300_000)).toBe('*'.repeat(65_536));
  expect(performance.now() - begun).toBeLessThan(2_000);
});
