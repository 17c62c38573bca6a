import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Answer, type Asked, aRun, everdict } from '../test/cli-fakes.js';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'everdict-cli-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const words = (...more: string[]): string[] => ['run', 'submit', '--harness', 'solver', '--runtime', 'desk', ...more];
const registered = words('--dataset', 'tasks', '--case', 'math/sum');

/** Accepts the run, then shows it in these states, the last one for ever. */
const plays =
  (...states: object[]) =>
  ({ method }: Asked): Answer => {
    if (method === 'POST') return { status: 202, body: { id: 'run_1', state: 'queued', links: {} } };
    return { body: aRun({ id: 'run_1', ...(states.length > 1 ? states.shift() : states[0]) }) };
  };
const unused = (): Answer => {
  throw new Error('the platform is not asked');
};

describe('run submit', () => {
  test('sends a case of a dataset and nothing that was not said, waits, and ends with the verdict', async () => {
    const running = { state: 'running', outcome: null, settledAt: null };
    const { asked, out, err, exitCode } = await everdict(registered, plays(running, running, { outcome: 'failed' }));
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
      ...{ dataset: 'tasks', caseId: 'math/sum', harness: 'solver', runtime: 'desk' },
    });
    expect(asked[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
    expect(err).toBe('run_1 is running\n');
    expect(out).toMatch(/outcome +failed/);
    expect(out).toContain('npx everdict run logs run_1');
    expect(exitCode).toBe(1);
  });

  test('sends a case from a file as it is', async () => {
    const file = path.join(dir, 'case.json');
    await writeFile(file, '{"id": "a", "task": "x", "colour": 1}');
    const { asked, out, exitCode } = await everdict(words('--case-file', file, '--no-wait'), plays({}));
    expect(JSON.parse(asked[0]?.body ?? '').case).toEqual({ id: 'a', task: 'x', colour: 1 });
    expect(out).toBe('run_1 submitted\nnext: npx everdict run watch run_1\n');
    expect(exitCode).toBe(0);
  });

  test.each([
    ['no case', words()],
    ['a dataset without a case', words('--dataset', 'tasks')],
    ['two cases', [...registered, '--case-file', 'x.json']],
  ])('with %s says what is missing', async (_title, line) => {
    const { err, exitCode } = await everdict(line, unused);
    expect(err).toContain('say which case: --dataset with --case, or --case-file');
    expect(exitCode).toBe(3);
  });
});

describe('run watch', () => {
  test.each([
    ['passed', null, 0],
    ['failed', null, 1],
    ['errored', null, 2],
    ['cancelled', null, 2],
    ['passed', 'local', 2],
  ])('of a run that %s by the word of %s ends with %i', async (outcome, decidedBy, want) => {
    const { out, exitCode } = await everdict(['run', 'watch', 'run_1', '--json'], plays({ outcome, decidedBy }));
    expect(JSON.parse(out)).toMatchObject({ id: 'run_1', outcome });
    expect(exitCode).toBe(want);
  });

  test('bears a platform that is away for a while', async () => {
    const answer = plays({ outcome: 'passed' });
    const { err, exitCode } = await everdict(['run', 'watch', 'run_1'], (asked, calls) =>
      calls < 3 ? 'drop' : answer(asked),
    );
    expect(err).toContain('still waiting, for at most 5:00');
    expect(err).toContain('the platform answers again');
    expect(exitCode).toBe(0);
  });
});
