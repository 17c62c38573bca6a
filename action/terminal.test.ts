import fc from 'fast-check';
import { inert } from './terminal.js';

/** What GitHub's runner takes for a command. */
const COMMAND = /^\s*::|##\[/m;

test.each([
  ['::error::you lost', ':\u200b:error::you lost'],
  ['ok\n  ::add-mask::x\r\n::set-output name=a::b', 'ok\n  :\u200b:add-mask::x\n:\u200b:set-output name=a::b'],
  ['a ##[error]b', 'a ##\u200b[error]b'],
  ['\u001b[2K::stop-commands::t', ':\u200b:stop-commands::t'],
  ['\u200b::warning::hidden', ':\u200b:warning::hidden'],
  ['a::b [##] c', 'a::b [##] c'],
])('%j is printed as %j', (text, printed) => {
  expect(inert(text)).toBe(printed);
});

test('no text is a command', () => {
  const pieces = fc.constantFrom(
    '::',
    ':',
    '##[',
    '#',
    '[',
    '\n',
    '\r',
    ' ',
    '\t',
    'error',
    '\u001b[0m',
    '\u200b',
    '\u2028',
  );
  fc.assert(fc.property(fc.array(pieces), (parts) => !COMMAND.test(inert(parts.join('')))));
});
