import { buildPayload } from '../../policy/payload.js';
import { templatesOf } from './nomad.templates.js';

const templateOf = (content: string | Uint8Array) => {
  const [template] = templatesOf(new Map([['task', Buffer.from(content)]]));
  if (!template) throw new Error('no template');
  return template;
};

const NASTY = [
  '{{ env "HOME" }} }} {{/* no */}} {{- trim -}}',
  `\${attr.cpu.arch} $\${Y} $$\${Z} $$ $1 %{ if true } %%{ 100%`,
  `'"\`\\ "quoted" \\n`,
  '\u0001< \u0001<< \u0001> \u0001<\u0001<<< \u0001',
  '\ufeffbom, é🙂\u2028\u2029 \u0000nul \r\n\ttab',
];

test.each([
  ['no newline at its end', 'a'],
  ['one', 'a\n'],
  ['many, and white space', '\n\n  a \t\n\n\n'],
  ['white space only', ' \n'],
  ['a byte order mark', '\ufeffa'],
  ...NASTY.map((text): [string, string] => [JSON.stringify(text), text]),
  ['all of them', NASTY.join('\n')],
])('a text with %s is its own template', (_, text) => {
  const { EmbeddedTmpl, LeftDelim, RightDelim } = templateOf(text);
  expect(EmbeddedTmpl).toBe(text);
  expect(text).not.toContain(LeftDelim);
  expect(text).not.toContain(RightDelim);
});

test('a file that is empty is a comment, as Nomad takes no template without text', () => {
  expect(templateOf('').EmbeddedTmpl).toBe('\u0001</**/\u0001>');
});

test('bytes that are no text are refused, and never replaced', () => {
  expect(() => templateOf(Uint8Array.of(0x66, 0xff))).toThrow('not valid');
});

test('a payload of 500 KB with binary files and everything that anything could interpret is sent byte for byte', () => {
  const payload = buildPayload({
    wrapper: `#!/bin/sh\n: {{ }} \${X:-y}\n`,
    runId: 'run_1',
    caseId: NASTY[1] ?? '',
    task: NASTY.join('\n').padEnd(400_000, `{{\${\u0001<`),
    files: { 'a/{{b}}': NASTY[0] ?? '', binary: { hex: '00ff0180'.repeat(12_000) }, empty: '' },
    setup: [NASTY[1] ?? ''],
    command: NASTY[2] ?? '',
    graders: [NASTY[3] ?? ''],
    env: { TPL: NASTY.join('') },
    params: {},
    timers: { setupSec: 1, timeoutSec: 1, graderSec: 1, graceSec: 1, lingerSec: 1 },
    answerLimit: 1_024,
  });
  const templates = templatesOf(payload);
  expect(templates.map(({ DestPath }) => DestPath)).toEqual(
    [...payload.keys()].map((name) => `secrets/everdict/${name}`),
  );
  const sent = new Map(templates.map(({ DestPath, EmbeddedTmpl }) => [DestPath.split('/').pop(), EmbeddedTmpl]));
  for (const [name, bytes] of payload) {
    if (bytes.length > 0) expect(Buffer.from(sent.get(name) ?? '').equals(bytes)).toBe(true);
  }
  for (const { EmbeddedTmpl, LeftDelim } of templates) {
    expect(EmbeddedTmpl.split(LeftDelim)).toHaveLength(EmbeddedTmpl.startsWith(`${LeftDelim}/**/`) ? 2 : 1);
  }
});

test('delimiters for a text that is full of them are found at once', () => {
  const text = `\u0001${'<'.repeat(200_000)}${'\u0001<'.repeat(100_000)}`;
  expect(templateOf(text).LeftDelim).toHaveLength(200_002);
});
