import { type Answer, aPlatform, aScorecard, aTerminal } from '../test/cli-fakes.js';
import { Session } from './session.js';
import { follow } from './watch.js';

const running = { body: aScorecard({ status: 'running', finishedAt: null, counts: { running: 1 } }) };
const done = { body: aScorecard({ counts: { passed: 1 } }) };

async function following(
  answers: Answer[],
  patienceMs = 60_000,
  during?: (terminal: ReturnType<typeof aTerminal>) => void,
) {
  const platform = await aPlatform(() => (answers.length > 1 ? answers.shift() : answers[0]) ?? 'drop');
  const terminal = aTerminal({ url: platform.url });
  const { sleep } = terminal;
  terminal.sleep = async (ms) => {
    during?.(terminal);
    await sleep(ms);
  };
  try {
    const outcome = await follow(new Session(terminal, {}), 'sc_1', patienceMs).then(
      ({ reply }) => reply.status,
      (error: Error) => error,
    );
    return { outcome, terminal };
  } finally {
    await platform.close();
  }
}

describe('waiting for a scorecard', () => {
  test('asks every half second until it is over', async () => {
    const { outcome, terminal } = await following([running, running, done]);
    expect(outcome).toBe('completed');
    expect(terminal.slept).toBe(1_000);
  });

  test('goes on through a restart of the platform and says so', async () => {
    const starting = { status: 503, body: { code: 'STORE_UNAVAILABLE', detail: 'the database does not answer' } };
    const { outcome, terminal } = await following([running, 'drop', 'drop', starting, done]);
    expect(outcome).toBe('completed');
    expect(terminal.err.text.match(/still waiting, for at most 1:00/g)).toHaveLength(1);
    expect(terminal.err.text).toContain('the platform answers again after 0:01');
  });

  test('gives up after the stated time without an answer', async () => {
    const { outcome, terminal } = await following([running, 'drop'], 10_000);
    expect(outcome).toMatchObject({ exitCode: 4, message: expect.stringContaining('for 0:10') });
    expect(terminal.slept).toBe(10_500);
  });

  test('does not wait for a scorecard that does not exist', async () => {
    const { outcome } = await following([
      { status: 404, body: { code: 'NOT_FOUND', detail: 'there is no scorecard sc_1' } },
    ]);
    expect(outcome).toMatchObject({ exitCode: 3, message: 'there is no scorecard sc_1' });
  });

  test('ends on Ctrl-C and says how to come back', async () => {
    const { outcome } = await following([running], 60_000, (terminal) => terminal.interrupt());
    expect(outcome).toMatchObject({
      exitCode: 130,
      message: 'stopped waiting; scorecard sc_1 goes on',
      nextStep: 'npx everdict scorecard watch sc_1, or npx everdict scorecard cancel sc_1',
    });
  });
});
