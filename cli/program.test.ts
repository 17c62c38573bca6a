import { aTerminal, everdict, problem, unused } from '../test/cli-fakes.js';
import { runCommandLine } from './program.js';

describe('errors', () => {
  test('of an input are printed each with its place', async () => {
    const errors = [
      { path: 'cases[0].id', message: 'is empty' },
      { path: '', message: 'unknown key `colour`; `color` is meant?' },
    ];
    const detail = 'the dataset is not valid: cases[0].id: is empty; unknown key `colour`';
    const answer = () => problem(400, { code: 'BAD_REQUEST', detail, errors });
    const { err, out, exitCode } = await everdict(['dataset', 'add', 'examples/expected.json'], answer);
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

  test('of an address with a password in it do not repeat it', async () => {
    const terminal = aTerminal();
    await runCommandLine(['scorecard', 'list', '--url', 'http://ann:hunter2@127.0.0.1:2'], terminal);
    expect(terminal.err.text).toMatch(/^(?!.*hunter2).*the URL of the platform has a user or a password in it/s);
    expect(terminal.exitCode).toBe(3);
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
    [['scorecard', 'run'], /required options '--dataset <ref>' and '--harness <ref>' not specified/],
    [['scorecard', 'run', '--dataset', 'd', '--harnes', 'h'], /unknown option '--harnes'.*Did you mean --harness/s],
    [['run', 'submit', '--harnes', 'h'], /unknown option '--harnes'.*Did you mean --harness/s],
    [['scorecard', 'settle', 'sc_1', 'c', '--outcom', 'passed'], /unknown option '--outcom'.*Did you mean --outcome/s],
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
      'Who may what:',
      'What is evaluated, with what, and where:',
      expect.stringMatching(/^runtime where cases run: validate, probe, add, list, show,/),
      expect.stringMatching(/^dataset the cases: add, list, show, tag, /),
      expect.stringMatching(/^harness the program under test: add, list, show, tag, /),
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
