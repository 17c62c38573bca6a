import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Answer, aPlatform, aRun, aScorecard, aTerminal, everdict } from '../test/cli-fakes.js';
import { runCommandLine } from './program.js';

let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'everdict-cli-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function aFile(name: string, text: string): Promise<string> {
  const file = path.join(dir, name);
  await writeFile(file, text);
  return file;
}

const registered = (): Answer => ({ status: 201, body: { id: 'x', version: '1.0.0', kind: 'local', caseCount: 2 } });
const unused = (): Answer => {
  throw new Error('the platform is not asked');
};
const problem = (status: number, body: object): Answer => ({ status, type: 'application/problem+json', body });

describe('registering', () => {
  test('sends a JSON file as it is, unknown keys too', async () => {
    const file = await aFile('desk.json', '{"id": "desk", "colour": 1}');
    const { asked, out, exitCode } = await everdict(['runtime', 'add', file], registered);
    expect(asked).toMatchObject([{ method: 'POST', path: '/runtimes', body: '{"id": "desk", "colour": 1}' }]);
    expect(asked[0]?.headers['content-type']).toBe('application/json');
    expect(out).toBe('runtime x@1.0.0 is registered (kind local)\n');
    expect(exitCode).toBe(0);
  });

  test('names a JSONL dataset after its file, and says so', async () => {
    const file = await aFile('My Tasks.jsonl', '{"id":"a"}\n');
    const { asked, out, err } = await everdict(['dataset', 'add', file], registered);
    expect(asked[0]).toMatchObject({ path: '/datasets', query: { id: 'my-tasks', version: '1.0.0' } });
    expect(asked[0]?.headers['content-type']).toBe('application/x-ndjson');
    expect(err).toContain('registering it as my-tasks@1.0.0; choose with --id and --version');
    expect(out).toBe('dataset x@1.0.0 is registered (cases 2)\n');
  });

  test('takes id and version of a JSONL dataset from the command line without a note', async () => {
    const file = await aFile('t.jsonl', '{"id":"a"}\n');
    const { asked, err } = await everdict(['dataset', 'add', file, '--id', 'b', '--version', '2'], registered);
    expect(asked[0]?.query).toEqual({ id: 'b', version: '2' });
    expect(err).toBe('');
  });

  test.each([
    ['a file that does not exist', 'missing.json', undefined, /there is no file .*missing\.json/],
    ['a file that is not JSON', 'broken.json', '{"id": ', /broken\.json is not valid JSON/],
  ])('refuses %s without asking the platform', async (_title, name, text, want) => {
    const file = text === undefined ? path.join(dir, name) : await aFile(name, text);
    const { err, exitCode, asked } = await everdict(['harness', 'add', file], unused);
    expect(err).toMatch(want);
    expect([exitCode, asked.length]).toEqual([3, 0]);
  });
});

describe('errors', () => {
  test('of an input are printed each with its place', async () => {
    const file = await aFile('faulty.json', '{}');
    const errors = [
      { path: 'cases[0].id', message: 'is empty' },
      { path: '', message: 'unknown key `colour`; `color` is meant?' },
    ];
    const detail = 'the dataset is not valid: cases[0].id: is empty; unknown key `colour`';
    const answer = () => problem(400, { code: 'BAD_REQUEST', detail, errors });
    const { err, out, exitCode } = await everdict(['dataset', 'add', file], answer);
    expect(err).toBe(
      'error: the dataset is not valid (BAD_REQUEST)\n  cases[0].id: is empty\n  unknown key `colour`; `color` is meant?\n',
    );
    expect([out, exitCode]).toEqual(['', 3]);
  });

  test('come as one JSON document with --json', async () => {
    const answer = () => problem(404, { code: 'NOT_FOUND', detail: 'there is no runtime desk@2', errors: [] });
    const { out, exitCode } = await everdict(['runtime', 'show', 'desk@2', '--json'], answer);
    expect(JSON.parse(out)).toMatchObject({
      error: { code: 'NOT_FOUND', detail: 'there is no runtime desk@2', exitCode: 3 },
    });
    expect(exitCode).toBe(3);
  });

  test('of a platform that is not there say how to start it', async () => {
    const terminal = aTerminal();
    await runCommandLine(['scorecard', 'list'], terminal);
    expect(terminal.err.text).toContain('no Everdict platform answers at http://127.0.0.1:2 (ECONNREFUSED)');
    expect(terminal.err.text).toContain('next: start it with `npx everdict dev`, or set EVERDICT_URL');
    expect(terminal.exitCode).toBe(4);
  });

  test('of the platform itself are no verdict', async () => {
    const answer = () => problem(500, { code: 'INTERNAL', detail: 'the platform failed' });
    expect((await everdict(['scorecard', 'show', 'sc_1'], answer)).exitCode).toBe(4);
  });

  test('name another server for what it is', async () => {
    const { err, exitCode } = await everdict(['run', 'show', 'run_1'], () => ({ body: '<html>', type: 'text/html' }));
    expect(err).toContain('it answered 200 with something else: not JSON but text/html');
    expect(exitCode).toBe(4);
  });

  test.each([
    [['scorecard', 'run', '--dataset', 'd'], /required option '--harness <ref>' not specified/],
    [
      ['scorecard', 'run', '--dataset', 'd', '--harness', 'h', '--limit', 'x'],
      /'x' is invalid.*whole number, at least 1/,
    ],
    [['scorecard', 'run', '--dataset', 'd', '--harness', 'h', '--param', 'x'], /write it as name=value/],
    [
      ['scorecard', 'run', '--dataset', 'd', '--harness', 'h', '--class', 'slow'],
      /Allowed choices are interactive, batch/,
    ],
    [['scorecrad', 'list'], /unknown command 'scorecrad'.*Did you mean scorecard/s],
    [['run', 'atempts', 'x'], /unknown command 'atempts'.*Did you mean attempts/s],
    [['run', 'logs', 'x', '--atempt', '2'], /unknown option '--atempt'.*Did you mean --attempt/s],
    [['run', 'show'], /missing required argument 'id'/],
    [['dataset'], /a command is missing/],
    [['runtime', 'show', 'a@b@c'], /a@b@c is not an id or id@version/],
    [['scorecard', 'list', '--colour'], /unknown option '--colour'/],
  ])('of usage are refused: %j', async (words, want) => {
    const { err, exitCode } = await everdict(words, unused);
    expect(err).toMatch(want);
    expect(exitCode).toBe(3);
  });
});

describe('help', () => {
  test('is a map: every group of commands with what it can do', async () => {
    const { out } = await everdict(['--help'], unused);
    const lines = out.split('\n').filter((line) => /^[A-Z].*:$|^ {2}[a-z]+ .*: [a-z]+, /.test(line));
    expect(lines.map((line) => line.replace(/ {2,}/g, ' ').trim())).toEqual([
      'Options:',
      'The platform:',
      'What is evaluated, with what, and where:',
      'runtime where cases run: add, list, show',
      'dataset the cases: add, list, show, cases, download',
      'harness the program under test: add, list, show',
      'Evaluating:',
      expect.stringMatching(/^scorecard a dataset × a harness on a runtime: run, watch, /),
      expect.stringMatching(/^run one execution of one case: submit, watch, /),
      'Exit codes:',
      'A first scorecard:',
    ]);
  });

  test.each([[['--help']], [['scorecard', 'run', '--help']]])('of %j documents the exit codes', async (words) => {
    const { out, exitCode } = await everdict(words, unused);
    expect(out).toMatch(/2 +cannot tell: a case errored, was cancelled, or nothing ran/);
    expect(out).toContain('--json');
    expect(exitCode).toBe(0);
  });
});

describe('scorecard run', () => {
  const submit = ['scorecard', 'run', '--dataset', 'tasks', '--harness', 'solver@2', '--runtime', 'desk'];

  /** Accepts the scorecard, then shows it in these states, the last one for ever. */
  const plays =
    (...states: ReturnType<typeof aScorecard>[]) =>
    ({ method, path: at, query }: { method: string; path: string; query: Record<string, string> }): Answer => {
      if (method === 'POST') return { status: 202, body: { id: 'sc_1', status: 'queued', cases: 2, links: {} } };
      if (at.endsWith('/events')) return problem(404, { code: 'NOT_FOUND' });
      if (at.endsWith('/cases')) return { body: { items: query.outcome === 'failed' ? [aRun()] : [], next: null } };
      return { body: states.length > 1 ? states.shift() : states[0] };
    };

  test('submits what was asked for and nothing else', async () => {
    const words = [...submit, '--case', 'a/b', '--case', 'c', '--tag', 'text', '--limit', '5', '--trials', '2'];
    words.push(
      '--param',
      'STYLE=a=b',
      '--metadata',
      'sha=1',
      '--metadata',
      'branch=main',
      '--idempotency-key',
      'k',
      '--no-wait',
    );
    const { asked, out } = await everdict(words, plays(aScorecard()));
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
      dataset: 'tasks',
      harness: 'solver@2',
      runtime: 'desk',
      trials: 2,
      params: { STYLE: 'a=b' },
      metadata: { sha: '1', branch: 'main' },
      cases: { ids: ['a/b', 'c'], tags: ['text'], limit: 5 },
    });
    expect(asked[0]?.headers['idempotency-key']).toBe('k');
    expect(out).toBe('sc_1 submitted: 2 cases\nnext: npx everdict scorecard watch sc_1\n');
  });

  test('waits, reports, and ends with the verdict', async () => {
    const running = aScorecard({ status: 'running', finishedAt: null, counts: { running: 2 } });
    const { out, err, exitCode } = await everdict(
      submit,
      plays(running, aScorecard({ counts: { passed: 1, failed: 1 } })),
    );
    expect(err).toContain('running 2');
    expect(out).toContain('1 passed, 1 failed, 0 errored, 0 cancelled');
    expect(out).toMatch(/math\/sum {2}failed {3}expected 4/);
    expect(exitCode).toBe(1);
  });

  test('with --json prints the scorecard and nothing else on stdout', async () => {
    const done = aScorecard({ counts: { passed: 2 }, novelty: 1 });
    const { out, exitCode } = await everdict([...submit, '--json'], plays(done));
    expect(JSON.parse(out)).toEqual(done);
    expect(exitCode).toBe(0);
  });

  test('repeats a submission that broke on the way under the same key', async () => {
    const answer = plays(aScorecard({ counts: { passed: 1 } }));
    const { asked, exitCode } = await everdict(submit, (one, calls) => (calls === 1 ? 'drop' : answer(one)));
    const keys = asked.filter(({ method }) => method === 'POST').map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
    expect(exitCode).toBe(0);
  });
});

describe('run logs', () => {
  const answer = (): Answer => ({ body: 'one\n\u001b[2Jtwo', type: 'text/plain' });

  test('are passed on byte for byte into a pipe', async () => {
    const { out, asked } = await everdict(['run', 'logs', 'sc_1.7', '--attempt', '2', '--stream', 'stderr'], answer);
    expect(out).toBe('one\n\u001b[2Jtwo');
    expect(asked[0]).toMatchObject({ path: '/runs/sc_1.7/logs', query: { attempt: '2', stream: 'stderr' } });
  });

  test('cannot clear a terminal', async () => {
    const { out } = await everdict(['run', 'logs', 'sc_1.7'], answer, { isTty: true });
    expect(out).toBe('one\ntwo\n');
  });

  test('come byte for byte on a terminal with --raw', async () => {
    const { out } = await everdict(['run', 'logs', 'sc_1.7', '--raw'], answer, { isTty: true });
    expect(out).toBe('one\n\u001b[2Jtwo');
  });

  test('are one document with --json', async () => {
    const { out } = await everdict(['run', 'logs', 'sc_1.7', '--json'], answer);
    expect(JSON.parse(out)).toEqual({ run: 'sc_1.7', text: 'one\n\u001b[2Jtwo' });
  });
});

describe('run logs --follow', () => {
  const event = (name: string, id: string, data: object) =>
    `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
  const piece = (attempt: number, stream: string, at: number, text: string) => {
    const bytes = Buffer.from(text, 'latin1');
    const ends = { stdout: 0, stderr: 0, [stream]: at + bytes.length };
    const data = { attempt, stream, at, base64: bytes.toString('base64') };
    return event('log', `${attempt}.${ends.stdout}.${ends.stderr}`, data);
  };
  /** Drops once in the middle of a letter, and once within an event. */
  const parts = [
    piece(1, 'stdout', 0, 'caf\xc3') + piece(1, 'stdout', 4, 'lost').slice(0, 30),
    piece(1, 'stdout', 4, '\xa9\n\u001b[2Jx') +
      event('cut', '1.100.0', { attempt: 1, stream: 'stdout', at: 11, bytes: 89 }),
    event('attempt', '2.0.0', { attempt: 2 }) +
      piece(2, 'stderr', 0, 'oops') +
      event('end', '2.0.4', { outcome: 'passed' }),
  ];
  const following = async (words: string[], options = {}) => {
    const left = [...parts];
    return everdict(
      ['run', 'logs', '-f', 'sc_1.7', ...words],
      () => ({ type: 'text/event-stream', body: left.shift() ?? '' }),
      options,
    );
  };

  test('goes on after each drop, byte for byte into a pipe, and ends with the run', async () => {
    const { out, err, asked, exitCode } = await following(['--raw']);
    expect(out).toBe('café\n\u001b[2Jx\n[89 bytes of stdout cut]\noops');
    expect(err).toBe('attempt 2\n');
    expect(asked.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '1.4.0', '1.100.0']);
    expect(asked[0]?.query).toEqual({ follow: 'true' });
    expect(exitCode).toBe(0);
  });

  test('cannot clear a terminal, and does not tear letters', async () => {
    const { out } = await following([], { isTty: true });
    expect(out).toBe('café\nx\n[89 bytes of stdout cut]\noops\n');
  });

  test('says that there is no such run', async () => {
    const { err, exitCode } = await everdict(['run', 'logs', '-f', 'sc_1.7'], () =>
      problem(404, { code: 'NOT_FOUND', detail: 'there is no run sc_1.7' }),
    );
    expect([err.split('\n')[0], exitCode]).toEqual(['error: there is no run sc_1.7 (NOT_FOUND)', 3]);
  });

  test('ends on Ctrl-C without a word about the run', async () => {
    const platform = await aPlatform(() => ({ type: 'text/event-stream', body: '' }));
    const terminal = aTerminal({ url: platform.url });
    terminal.sleep = async () => terminal.interrupt();
    await runCommandLine(['run', 'logs', '-f', 'sc_1.7'], terminal);
    await platform.close();
    expect(terminal.exitCode).toBe(130);
    expect(terminal.err.text).toContain('stopped following; run sc_1.7 is not affected');
  });
});

describe('scorecard stragglers', () => {
  const straggler = {
    ...{ run: 7, id: 'sc_1.7', caseId: 'math/sum', trial: 1, runtime: 'desk@1', phase: 'running', attempt: 2 },
    ...{ since: '2026-01-01T00:00:00.000Z', ageMs: 65_000, timeoutSec: 100, leftMs: 35_000, timesMedian: 6.5 },
  };
  const waiting = { ...straggler, run: 9, phase: 'waiting', attempt: 0, leftMs: null, timesMedian: null };

  test('are listed with their age, what is left to them, and how they compare', async () => {
    const answer = () => ({ body: { medianMs: 10_000, queued: 3, items: [straggler, waiting] } });
    const { out } = await everdict(['scorecard', 'stragglers', 'sc_1'], answer);
    expect(out).toMatch(/ 7 {2}math\/sum {2}running +2 {2}1:05 +0:35 +6\.5 ×/);
    expect(out).toMatch(/ 9 {2}math\/sum {2}waiting +0 {2}1:05 +– +–/);
    expect(out).toContain('finished ones took 10.0 s (median); 3 more do not wait for a slot yet');
  });

  test('of a finished scorecard are none', async () => {
    const answer = () => ({ body: { medianMs: 10, queued: 0, items: [] } });
    expect((await everdict(['scorecard', 'stragglers', 'sc_1'], answer)).out).toBe('nothing runs or waits\n');
  });
});

describe('lists', () => {
  test('read as many pages as the limit takes, and say how to go on', async () => {
    const words = ['dataset', 'list', '--limit', '3'];
    const { out, asked } = await everdict(words, ({ query }) => {
      const from = Number(query.cursor ?? 0);
      const items = [from, from + 1]
        .map((n) => ({ id: `d${n}`, version: '1', caseCount: n }))
        .slice(0, Number(query.limit));
      return { body: { items, next: String(from + items.length) } };
    });
    expect(asked.map(({ query }) => query.limit)).toEqual(['3', '1']);
    expect(out).toBe(
      'id  version  cases  description\nd0  1            0\nd1  1            1\nd2  1            2\nmore: the same command with --cursor 3\n',
    );
  });

  test('of the cases of a dataset show their graders and tags', async () => {
    const items = [
      { id: 'a', task: 'say\nhello', tags: ['x', 'y'], graders: [{ kind: 'equals', value: '1' }] },
      { id: 'b', task: 'go' },
    ];
    const { out, asked } = await everdict(['dataset', 'cases', 'tasks@2'], () => ({ body: { items, next: null } }));
    expect(asked[0]?.path).toBe('/datasets/tasks/versions/2/cases');
    expect(out).toBe('case  tags  graders    task\na     x y   equals     say hello\nb           exit-code  go\n');
  });

  test('of cases that did not pass gather all three outcomes', async () => {
    const { out } = await everdict(['scorecard', 'cases', 'sc_1', '--not-passed', '--json'], ({ query }) => ({
      body: { items: [aRun({ outcome: query.outcome, id: `sc_1.${query.outcome}` })], next: null },
    }));
    const { items } = JSON.parse(out) as { items: { outcome: string }[] };
    expect(items.map(({ outcome }) => outcome)).toEqual(['failed', 'errored', 'cancelled']);
  });
});

describe('settling a case', () => {
  const settle = ['scorecard', 'settle', 'sc_1', 'suite/größe 1', '--outcome', 'failed', '--reason', 'it hangs'];

  test('names the case whatever is in its id, and says how it ended and by whom', async () => {
    const body = aRun({ caseId: 'suite/größe 1', decidedBy: 'local' });
    const { asked, out } = await everdict(settle, () => ({ status: 200, body }));
    const path = `/scorecards/sc_1/cases/${encodeURIComponent('suite/größe 1')}/settle`;
    expect(asked).toMatchObject([{ method: 'POST', path, body: '{"outcome":"failed","reason":"it hangs"}' }]);
    expect(out).toBe('sc_1.7 (suite/größe 1) is failed (operator)\n');
  });

  test.each([
    ['without a reason', settle.slice(0, -2)],
    ['with an outcome that does not exist', [...settle, '--outcome', 'won']],
  ])('%s is refused without asking the platform', async (_title, words) => {
    const { exitCode, asked } = await everdict(words, unused);
    expect([exitCode, asked.length]).toEqual([3, 0]);
  });

  test('that ended otherwise is refused, with both outcomes', async () => {
    const conflict = problem(409, { code: 'CONFLICT', detail: 'sc_1.7 is passed already, by its result' });
    const { err, exitCode } = await everdict(settle, () => conflict);
    expect(err).toContain('sc_1.7 is passed already, by its result');
    expect(exitCode).toBe(3);
  });
});
