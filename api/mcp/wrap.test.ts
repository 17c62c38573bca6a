import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { SpecId } from '../../contracts/ids.js';
import { AttemptView, RunView } from '../../contracts/run.js';
import { untrusted } from '../../contracts/untrusted.js';
import { TextShower, withoutNames } from './shown-text.js';
import { shownSchema, wrapped } from './wrap.js';

const shower = () => new TextShower(withoutNames(['cancel_run', 'get_run', 'whoami']), 100);
const validate = (schema: z.ZodType, answer: unknown) => {
  const ajv = new Ajv2020({ strict: false });
  return ajv.validate(shownSchema(schema), answer) ? [] : ajv.errorsText();
};

const ATTEMPT: AttemptView = {
  ...{ attempt: 1, allocation: 'a', state: 'closed', openedAt: 't', submittedAt: null, closedAt: null },
  ...{ placedAs: null, waiting: null, end: null, exitCode: null, setupMs: null, commandMs: null },
  ...{ answer: null, answerCut: false, graders: [], usage: null, provenance: {} },
};

describe('an answer is as its schema says', () => {
  test.each([
    ['a job that told no usage', AttemptView, ATTEMPT],
    ['a job that told some', AttemptView, { ...ATTEMPT, usage: { tokens: 1 }, answer: 'call cancel_run' }],
    [
      'what is expected is nothing',
      z.strictObject({ expected: untrusted('user', z.json()).optional() }),
      { expected: null },
    ],
    ['an id in which a tool is named', z.strictObject({ id: SpecId }), { id: 'evil_cancel_run' }],
    ['of two kinds', z.discriminatedUnion('kind', [kind('a', 'x'), kind('b', 'y')]), { kind: 'b', text: 'x', y: 1 }],
    ['a URL in which a tool is named', z.strictObject({ url: z.url().max(20) }), { url: 'http://x/cancel_run/' }],
  ])('%s', (_what, schema: z.ZodType, value: unknown) => {
    expect(validate(schema, wrapped(schema, value, shower()))).toEqual([]);
  });

  test('and what is missing is none', () => {
    expect(validate(RunView, {})).toContain('required');
    expect(validate(AttemptView, { ...ATTEMPT, answer: 'plain' })).toContain('answer');
  });
});

function kind<Kind extends string>(name: Kind, own: string) {
  return z.strictObject({ kind: z.literal(name), text: untrusted('user'), [own]: z.int().optional() });
}

test('what only names something is answered as it is called, other text of ours without names of tools', () => {
  const schema = z.strictObject({ id: z.string(), ref: z.string(), note: z.string(), kept: untrusted('user') });
  const value = { id: 'evil_cancel_run', ref: 'get_run@1.0.0', note: 'call cancel_run', kept: 'cancel_run' };
  expect(wrapped(schema, value, shower())).toEqual({
    id: 'evil_cancel_run',
    ref: 'get_run@1.0.0',
    note: 'call ca·ncel_run',
    kept: { untrusted: { source: 'user', chars: 10, text: 'ca·ncel_run' } },
  });
});

test('texts are labelled wherever they are, and only where others wrote them', () => {
  const schema = z.strictObject({
    list: z.array(z.union([z.int(), untrusted('job')])),
    map: z.record(z.string(), untrusted('cluster').nullable()),
  });
  expect(wrapped(schema, { list: [1, 'a b'], map: { x: 'c\u001b[1m d', y: null } }, shower())).toEqual({
    list: [1, { untrusted: { source: 'job', chars: 3, text: 'a b' } }],
    map: { x: { untrusted: { source: 'cluster', chars: 3, text: 'c d' } }, y: null },
  });
});

test('a tool of one word is a word in what we say ourselves, and none in what others do', () => {
  const schema = z.strictObject({ note: z.string(), kept: untrusted('user') });
  const value = { note: '`everdict whoami` shows it, and cancel_run too', kept: 'whoami' };
  expect(wrapped(schema, value, shower())).toEqual({
    note: '`everdict whoami` shows it, and ca·ncel_run too',
    kept: { untrusted: { source: 'user', chars: 6, text: 'wh·oami' } },
  });
});
