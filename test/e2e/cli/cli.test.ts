import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Stack, startStack } from '../../../dev/launcher.js';
import { eventually } from '../../eventually.js';
import { CLI, type Ended, endPrograms, node, Program, processesOf, ROOT } from './processes.js';

const MINUTE = 60_000;
const dir = mkdtempSync(path.join(tmpdir(), 'everdict-cli-e2e-'));
const said: string[] = [];
let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ dataDir: path.join(dir, 'data'), say: (line) => said.push(line) });
  writeFileSync(path.join(dir, 'sleeper.json'), JSON.stringify(SLEEPER));
  writeFileSync(
    path.join(dir, 'naps.jsonl'),
    NAPS.map((seconds) => `{"id":"nap-${seconds}","task":"${seconds}"}\n`).join(''),
  );
  writeFileSync(
    path.join(dir, 'here.json'),
    JSON.stringify({ kind: 'local', id: 'here', version: '1', maxConcurrent: 4 }),
  );
  writeFileSync(path.join(dir, 'doorman.json'), JSON.stringify(DOORMAN));
  writeFileSync(path.join(dir, 'doors.jsonl'), DOORS.map((id) => `{"id":"${id}","task":"${door(id)}"}\n`).join(''));
  for (const [noun, file] of [
    ['runtime', 'here.json'],
    ['harness', 'sleeper.json'],
    ['harness', 'doorman.json'],
    ['dataset', 'naps.jsonl'],
    ['dataset', 'doors.jsonl'],
  ] as const) {
    const { code, err } = await everdict([noun, 'add', file]);
    if (code !== 0) throw new Error(err);
  }
}, 2 * MINUTE);

afterEach(endPrograms, MINUTE);
afterAll(async () => {
  await stack?.stop();
  const left = processesOf(dir);
  rmSync(dir, { recursive: true, force: true });
  expect(left).toEqual([]);
}, MINUTE);

const SLEEPER = {
  kind: 'command',
  id: 'sleeper',
  version: '1',
  command: 'echo "sleeping $EVERDICT_TASK"; sleep "$EVERDICT_TASK"',
};
const NAPS = ['0', '3', '600'];

/** Waits until there is a file, whose text is its exit code. */
const DOORMAN = {
  kind: 'command',
  id: 'doorman',
  version: '1',
  command: 'until [ -s "$EVERDICT_TASK" ]; do sleep 0.1; done; exit "$(cat "$EVERDICT_TASK")"',
};
const DOORS = ['good', 'bad', 'late', 'never'];
const door = (id: string): string => path.join(dir, `door-${id}`);
const open = (id: string, code: number): void => writeFileSync(door(id), String(code));

const start = (words: readonly string[]): Program =>
  node([CLI, ...words], { cwd: dir, env: { EVERDICT_URL: stack.apiUrl } });
const everdict = (words: readonly string[]): Promise<Ended> => start(words).ended;
const run = (...words: string[]) => [
  'scorecard',
  'run',
  '--dataset',
  'naps',
  '--harness',
  'sleeper',
  '--runtime',
  'here',
  ...words,
];
const idIn = (text: string): string => /sc_[0-9a-z]{26}/.exec(text)?.[0] ?? '';

test(
  'what the README says for a first result of one’s own works as it is written',
  async () => {
    const readme = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
    const section = readme.slice(readme.indexOf('## Your own first result'));
    const scripts = [...section.matchAll(/```sh\n(.*?)```/gs)].slice(0, 2).map(([, script]) => script);
    const script = `set -u\n${scripts.join('\n')}`.replaceAll('npx everdict', `node ${CLI}`);
    const { code, out, err } = await new Program('sh', ['-c', script], {
      cwd: dir,
      env: { EVERDICT_URL: stack.apiUrl },
    }).ended;
    expect(err).not.toContain('error:');
    expect(out).toContain('1 passed, 1 failed, 0 errored, 0 cancelled');
    expect(out).toMatch(/half {2}failed/);
    expect(code).toBe(1);
  },
  MINUTE,
);

test(
  'a scorecard that passes ends with 0, one JSON document on stdout and plain lines beside it',
  async () => {
    const { code, out, err } = await everdict(run('--case', 'nap-0', '--metadata', 'sha=abc', '--json'));
    expect(JSON.parse(out)).toMatchObject({
      status: 'completed',
      metadata: { sha: 'abc' },
      counts: { submitted: 1, passed: 1 },
    });
    expect(err).toMatch(/\[0:\d\d\] 1\/1 {2}queued 0/);
    expect(err).not.toContain('\u001b');
    expect(code).toBe(0);
  },
  MINUTE,
);

test(
  'submitting and watching can be two steps, and the log is there afterwards',
  async () => {
    const submitted = await everdict(run('--case', 'nap-0', '--no-wait', '--idempotency-key', 'two-steps'));
    const again = await everdict(run('--case', 'nap-0', '--no-wait', '--idempotency-key', 'two-steps'));
    const id = idIn(submitted.out);
    expect(idIn(again.out)).toBe(id);
    expect((await everdict(['scorecard', 'watch', id])).code).toBe(0);
    expect((await everdict(['run', 'logs', `${id}.0`])).out).toBe('sleeping 0\n');
    expect((await everdict(['run', 'show', `${id}.0`])).out).toMatch(/outcome +passed/);
    expect((await everdict(['run', 'attempts', `${id}.0`])).out).toMatch(/attempt 1 .*exit code 0/);
    expect((await everdict(['scorecard', 'cases', id])).out).toMatch(/0 {2}nap-0 {2}passed/);
    expect((await everdict(['scorecard', 'list'])).out).toContain(id);
  },
  MINUTE,
);

test(
  'a cancelled scorecard cannot tell, and keeps what had finished',
  async () => {
    const program = start(run());
    await program.printed(/passed [12]/);
    const id = idIn(program.err);
    expect((await everdict(['scorecard', 'cancel', id])).code).toBe(0);
    const { code, out } = await program.ended;
    expect(out).toMatch(/: cancelled in/);
    expect(out).toMatch(/[12] passed, 0 failed, 0 errored, [12] cancelled/);
    expect(code).toBe(2);
  },
  MINUTE,
);

test(
  'waiting survives the death of the API',
  async () => {
    const program = start(run('--case', 'nap-3'));
    await program.printed(/running 1/);
    process.kill(stack.pids.api ?? 0, 'SIGKILL');
    const { code, err } = await program.ended;
    expect(err).toContain('still waiting, for at most 5:00');
    expect(err).toContain('the platform answers again');
    expect(said.join('\n')).toMatch(/api +ended unexpectedly/);
    expect(code).toBe(0);
  },
  MINUTE,
);

test(
  'Ctrl-C ends the waiting and not the scorecard',
  async () => {
    const program = start(run('--case', 'nap-3'));
    await program.printed(/running 1/);
    program.child.kill('SIGINT');
    const { code, err } = await program.ended;
    expect(err).toContain('stopped waiting');
    expect(code).toBe(130);
    expect((await everdict(['scorecard', 'watch', idIn(err)])).code).toBe(0);
  },
  MINUTE,
);

const ci = (...words: string[]) => ['ci', '--dataset', 'doors', '--harness', 'doorman', '--runtime', 'here', ...words];
const rules = (minPassRate: number): string => {
  const file = path.join(dir, `rules-${minPassRate}.json`);
  writeFileSync(file, JSON.stringify({ minPassRate }));
  return file;
};

test(
  'everdict ci gives the same answer, and makes one scorecard, on a platform that restarts three times meanwhile',
  async () => {
    const once = ci('--case', 'late', '--idempotency-key', 'late', '--metadata', 'sha=late', '--json');
    const program = start(once);
    await program.printed(/running 1/);
    for (const times of [1, 2, 3]) {
      const killed = stack.pids.api ?? 0;
      process.kill(killed, 'SIGKILL');
      await program.printed(new RegExp(`(answers again.*){${times}}`, 's'));
      await eventually('the launcher has its next one', async () => (stack.pids.api ?? killed) !== killed);
    }
    open('late', 0);
    const { code, out } = await program.ended;
    expect(code).toBe(0);
    const again = await everdict(once);
    const report = JSON.parse(out);
    expect(JSON.parse(again.out)).toMatchObject({ verdict: 'pass', scorecard: report.scorecard, runs: report.runs });
    expect(report).toMatchObject({ verdict: 'pass', scorecard: { counts: { submitted: 1, passed: 1 } } });
    const list = await everdict(['scorecard', 'list', '--metadata', 'sha=late', '--json']);
    expect(JSON.parse(list.out).items).toHaveLength(1);
  },
  MINUTE,
);

test(
  'E11 everdict ci ends with a status of its own for each answer',
  async () => {
    open('good', 0);
    open('bad', 1);
    const both = ['--case', 'good', '--case', 'bad'];
    const table: [what: string, words: string[], code: number][] = [
      ['all passed', ['--case', 'good'], 0],
      ['one failed', both, 1],
      ['the threshold is met', [...both, '--policy', rules(0.5)], 0],
      ['the threshold is not met', [...both, '--policy', rules(0.8)], 1],
      ['infrastructure ended one', ['--case', 'good', '--case', 'never', '--timeout', '2s'], 2],
      ['none was measured', ['--case', 'never', '--timeout', '2s'], 2],
      ['there is no baseline yet', ['--case', 'good', '--baseline-branch', 'none'], 2],
      ['no case is selected', ['--tag', 'none'], 3],
      ['nobody listens', ['--url', 'http://127.0.0.1:2', '--patience', '1'], 4],
    ];
    const ended = await Promise.all(table.map(([, words]) => everdict(ci(...words))));
    expect(table.map(([what], at) => [what, ended[at]?.code])).toEqual(table.map(([what, , code]) => [what, code]));
    expect(ended[1]?.out).toMatch(/bad +failed/);
  },
  MINUTE,
);

test(
  'E11 everdict ci that is ended with its job cancels its scorecard',
  async () => {
    const program = start(ci('--case', 'never'));
    await program.printed(/running 1/);
    program.child.kill('SIGTERM');
    const { code, err } = await program.ended;
    expect(code).toBe(130);
    const { code: then, out } = await everdict(['scorecard', 'watch', idIn(err)]);
    expect(out).toContain(': cancelled');
    expect(then).toBe(2);
  },
  MINUTE,
);

test.each([
  [
    'an unknown runtime',
    ['scorecard', 'run', '--dataset', 'naps', '--harness', 'sleeper', '--runtime', 'nowhere'],
    /nowhere/,
  ],
  [
    'an unknown case',
    ['scorecard', 'run', '--dataset', 'naps', '--harness', 'sleeper', '--runtime', 'here', '--case', 'nap-9'],
    /nap-9/,
  ],
  ['an unknown scorecard', ['scorecard', 'watch', 'sc_00000000000000000000000000'], /sc_00000000000000000000000000/],
])(
  '%s is named and ends with 3',
  async (_title, words, want) => {
    const { code, err } = await everdict(words);
    expect(err).toMatch(want);
    expect(code).toBe(3);
  },
  MINUTE,
);

test(
  'a faulty line of a dataset is named by its number, and nothing is registered',
  async () => {
    writeFileSync(path.join(dir, 'faulty.jsonl'), '{"id":"a","task":"1"}\n{"id":"b","taks":"2"}\n{"id":');
    const { code, err } = await everdict(['dataset', 'add', 'faulty.jsonl', '--id', 'faulty', '--version', '1']);
    expect(err).toMatch(/line 2.*taks/);
    expect(err).toMatch(/line 3.*not valid JSON/);
    expect(code).toBe(3);
    expect((await everdict(['dataset', 'list'])).out).not.toContain('faulty');
  },
  MINUTE,
);
