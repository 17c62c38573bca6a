import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { INPUT_NAMES, keyOf, readInputs } from './inputs.js';

const NEEDED = { 'api-url': 'https://everdict.example', dataset: 'tasks', harness: 'solver' };

const reading =
  (given: Record<string, string>) =>
  (name: string): string =>
    given[name] ?? '';

const read = (given: Record<string, string> = {}) => readInputs(reading({ ...NEEDED, ...given }));

const Action = z.object({
  inputs: z.record(z.string(), z.object({ default: z.string().optional(), required: z.boolean().optional() })),
});
const { inputs: declared } = Action.parse(parse(readFileSync(new URL('action.yml', import.meta.url), 'utf8')));

test('the inputs that are read are those that action.yml declares', () => {
  expect(INPUT_NAMES.toSorted()).toEqual(Object.keys(declared).toSorted());
});

test('a default of action.yml is what an input that is not given means', () => {
  const defaults = Object.entries(declared).flatMap(([name, { default: value }]) => (value ? [[name, value]] : []));
  const { 'github-token': token, ...whole } = read(Object.fromEntries(defaults));
  expect(token).toMatch(/^\$\{\{ github\.token }}$/);
  expect(whole).toEqual({ ...read(), 'early-stop': undefined });
});

test('the example of a workflow gives inputs that there are, all that are needed, and the permissions', () => {
  const Workflow = z.object({
    permissions: z.record(z.string(), z.string()),
    jobs: z.object({
      scorecard: z.object({ steps: z.array(z.object({ with: z.record(z.string(), z.unknown()).default({}) })) }),
    }),
  });
  const file = new URL('../examples/ci/github-workflow.yml', import.meta.url);
  const { permissions, jobs } = Workflow.parse(parse(readFileSync(file, 'utf8')));
  const given = jobs.scorecard.steps.map((step) => step.with).find((inputs) => 'api-url' in inputs) ?? {};
  expect(Object.keys(given).filter((name) => !(name in declared))).toEqual([]);
  const needed = Object.entries(declared).filter(([, { required }]) => required);
  expect(Object.keys(given)).toEqual(expect.arrayContaining(needed.map(([name]) => name)));
  expect(permissions).toMatchObject({ 'id-token': 'write', 'pull-requests': 'write' });
});

test.each([
  ['tags', ' json, csv\nmath ', ['json', 'csv', 'math']],
  ['cases', 'math/sum\n\n a, b \r\n', ['math/sum', 'a, b']],
  ['params', 'STYLE=verbose\nURL=http://x/?a=b', { STYLE: 'verbose', URL: 'http://x/?a=b' }],
  ['limit', '12', 12],
  ['comment', 'false', false],
  ['early-stop', 'true', {}],
  ['early-stop', '0.01', { errorRate: 0.01 }],
  ['early-stop', 'false', undefined],
] as const)('%s %j is read as %j', (name, text, value) => {
  expect(read({ [name]: text })[name]).toEqual(value);
});

test.each([
  ['api-url', 'everdict.example', 'is not an http(s) URL'],
  ['api-url', 'https://ann:hunter2@everdict.example', 'has a user or a password in it'],
  ['dataset', '', 'the input dataset is missing'],
  ['baseline-branch', 'main\nother', 'is more than one line'],
  ['trials', '0', 'is below 1'],
  ['trials', 'three', 'is not a whole number'],
  ['comment', 'yes', 'is true or false'],
  ['fail-on', 'never', 'is block or cannot-tell'],
  ['params', '=x', 'has a line that is not NAME=value: "=x"'],
  ['early-stop', '0.9', 'from 0 to 0.5'],
])('%s %j is refused by name', (name, text, why) => {
  expect(() => read({ [name]: text })).toThrow(new RegExp(`the input ${name} .*`));
  expect(() => read({ [name]: text })).toThrow(why);
});

test('a password in the address is not repeated', () => {
  expect(() => read({ 'api-url': 'https://ann:hunter2@everdict.example' })).toThrow(
    /^(?!.*hunter2).*give the address/s,
  );
});

test('uses of the action are told apart by workflow, job and step, or by the key that is given', () => {
  const env = { GITHUB_WORKFLOW: 'evals', GITHUB_JOB: 'small', GITHUB_ACTION: '__self_2' };
  expect(keyOf(env, {})).toBe('evals/small/__self_2');
  expect(keyOf(env, { key: 'mine' })).toBe('mine');
});
