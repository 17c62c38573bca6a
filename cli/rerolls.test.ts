import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Answer, aRun, aScorecard, everdict, problem } from '../test/cli-fakes.js';

const made = { id: 'sc_2', status: 'queued', cases: 3, links: {}, warnings: [] };

/** Accepts, then shows the new scorecard as it ended. */
const plays =
  (ended: object, accepted: object = made) =>
  ({ method, path: at }: { method: string; path: string }): Answer => {
    if (method === 'POST') return { status: 202, body: accepted };
    if (at.endsWith('/events')) return problem(404, { code: 'NOT_FOUND' });
    if (at.endsWith('/cases')) return { body: { items: [], next: null } };
    return { body: ended };
  };

const before = aScorecard({ counts: { passed: 1, errored: 2, infraErrors: 1 } });
const reroll = {
  ...{ scorecard: 'sc_1', classes: ['infra', 'failed'], retried: 2, decidedAgain: 1, by: 'mel', at: 'then' },
  counts: before.counts,
  rates: before.rates,
};

describe('scorecard retry', () => {
  const retried = { ...made, retryOf: 'sc_1', retried: 2, carried: 1 };
  const ended = aScorecard({ id: 'sc_2', retryOf: 'sc_1', rerolls: [reroll], counts: { passed: 3 } });

  test('asks for the classes, waits, and shows the numbers before and after side by side', async () => {
    const words = ['scorecard', 'retry', 'sc_1', '--class', 'infra', '--class', 'failed'];
    const { asked, out, err, exitCode } = await everdict(words, plays(ended, retried));
    expect(asked[0]).toMatchObject({ method: 'POST', path: '/scorecards/sc_1/retry' });
    expect(asked[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
    expect(asked[0]?.query.class).toBe('failed');
    expect(err).toContain('sc_2: 2 of 3 again, 1 carried from sc_1');
    const lines = out.split('\n').map((line) => line.trim().split(/ {2,}/));
    expect(lines).toContainEqual(['before and after', 'first attempt', 'final', 'infra excluded', 'then run again']);
    const [rate, clean] = ['1/3 33.3 %', '1/2 50.0 %'];
    expect(lines).toContainEqual(['sc_1', rate, rate, clean, '2 infra, failed, 1 of them counted as failed (mel)']);
    expect(lines).toContainEqual(['sc_2', ...Array.from({ length: 3 }, () => '3/3 100.0 %')]);
    expect(exitCode).toBe(0);
  });

  test('without a class leaves the choice to the platform, and with --no-wait only starts it', async () => {
    const { asked, out } = await everdict(['scorecard', 'retry', 'sc_1', '--no-wait'], plays(ended, retried));
    expect(asked).toHaveLength(1);
    expect(asked[0]?.query).toEqual({});
    expect(out).toBe('sc_2: 2 of 3 again, 1 carried from sc_1\nnext: npx everdict scorecard watch sc_2\n');
  });

  test('that is refused says why and ends with 3', async () => {
    const refusal = problem(409, { code: 'CONFLICT', detail: 'sc_1 is running: wait for its end' });
    const { err, exitCode } = await everdict(['scorecard', 'retry', 'sc_1'], () => refusal);
    expect([exitCode, err]).toEqual([3, expect.stringContaining('wait for its end')]);
  });

  test('shows in `scorecard show`, and whose attempts a carried run has', async () => {
    expect((await everdict(['scorecard', 'show', 'sc_2'], plays(ended))).out).toContain('2 infra, failed');
    const run = aRun({ carriedFrom: 'sc_1.7' });
    const shown = await everdict(['run', 'show', 'sc_2.7'], ({ path: at }) =>
      at.endsWith('/attempts') ? { body: { items: [], next: null } } : { body: run },
    );
    expect(shown.out).toMatch(/carried +from sc_1\.7/);
  });
});

describe('scorecard regrade', () => {
  const ended = aScorecard({ id: 'sc_2', regradeOf: 'sc_1', counts: { passed: 2, failed: 1 } });
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'everdict-graders-'));
  });
  afterAll(() => rmSync(dir, { recursive: true }));
  const file = (text: string): string => {
    const name = path.join(dir, 'graders.json');
    writeFileSync(name, text);
    return name;
  };

  test('sends the graders of a file as they are, waits and reports', async () => {
    const graders = [{ kind: 'contains', value: 'yes' }];
    const words = ['scorecard', 'regrade', 'sc_1', '--graders', file(JSON.stringify(graders))];
    const { asked, out, exitCode } = await everdict(words, plays(ended));
    expect(asked[0]).toMatchObject({ method: 'POST', path: '/scorecards/sc_1/regrade' });
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ graders });
    expect(out).toContain('2 passed, 1 failed');
    expect(exitCode).toBe(1);
  });

  test('names a dataset, and with --no-wait only starts it', async () => {
    const words = ['scorecard', 'regrade', 'sc_1', '--dataset', 'tasks@1.0.1', '--no-wait'];
    const { asked, out } = await everdict(words, plays(ended));
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ dataset: 'tasks@1.0.1' });
    expect(out).toBe('sc_2: answers of sc_1 are graded anew\nnext: npx everdict scorecard watch sc_2\n');
  });

  test.each([
    [[], /nothing says how to grade/],
    [['--graders', 'none.json'], /there is no file none.json/],
    [['--graders', 'x.json', '--dataset', 'd'], /cannot be used with/],
  ])('with %j is refused before anything is asked', async (options, message) => {
    const { asked, err, exitCode } = await everdict(['scorecard', 'regrade', 'sc_1', ...options], plays(ended));
    expect([asked.length, exitCode]).toEqual([0, 3]);
    expect(err).toMatch(message);
  });

  test('of a file that is no JSON names the file', async () => {
    const name = file('[{]');
    const { err, exitCode } = await everdict(['scorecard', 'regrade', 'sc_1', '--graders', name], plays(ended));
    expect([exitCode, err]).toEqual([3, expect.stringContaining(`${name} is not valid JSON`)]);
  });
});
