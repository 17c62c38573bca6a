import { type Answer, aPlatform, aScorecard, aTerminal } from '../test/cli-fakes.js';
import { Session } from './session.js';
import { follow } from './watch.js';

const running = { body: aScorecard({ status: 'running', finishedAt: null, counts: { running: 1 } }) };
const done = { body: aScorecard({ counts: { passed: 1 } }) };

const noEvents: Answer = { status: 404, body: { code: 'NOT_FOUND', detail: 'there is no route' } };

async function following(
  answers: Answer[],
  patienceMs = 60_000,
  during?: (terminal: ReturnType<typeof aTerminal>) => void,
) {
  const platform = await aPlatform(({ path }) => {
    if (path.endsWith('/events')) return noEvents;
    return (answers.length > 1 ? answers.shift() : answers[0]) ?? 'drop';
  });
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

describe('waiting for a scorecard without events', () => {
  test('asks every half second until it is over', async () => {
    const { outcome, terminal } = await following([running, running, done]);
    expect(outcome).toBe('completed');
    expect(terminal.slept).toBe(1_000);
  });

  test('says once why it is paused, and how to go on', async () => {
    const counts = { waiting: 1 };
    const paused = { body: aScorecard({ status: 'paused', finishedAt: null, counts, pauseReason: 'nodes are lost' }) };
    const { outcome, terminal } = await following([running, paused, paused, done]);
    expect(outcome).toBe('completed');
    expect(terminal.err.text.match(/paused: nodes are lost\nnext: npx everdict scorecard resume sc_1/g)).toHaveLength(
      1,
    );
    expect(terminal.err.text).toContain('0/1 paused  ');
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

describe('waiting for a scorecard that tells its events', () => {
  const told = (...events: [event: string, id: string, data: object][]): Answer => ({
    type: 'text/event-stream',
    body: events.map(([event, id, data]) => `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`).join(''),
  });
  const progress = (passed: number) => aScorecard({ status: 'running', counts: { passed, running: 3 - passed } });

  test('shows each step, goes on after a drop where it was, and asks for the result once', async () => {
    const streams = [
      told(['progress', '1:1:', progress(1)]),
      'drop' as const,
      told(['progress', '2:2:', progress(2)], ['end', '3:3:', {}]),
    ];
    const platform = await aPlatform(({ path }) => (path.endsWith('/events') ? (streams.shift() ?? 'drop') : done));
    const terminal = aTerminal({ url: platform.url });
    const { reply } = await follow(new Session(terminal, {}), 'sc_1', 60_000);
    await platform.close();
    expect(reply.status).toBe('completed');
    expect(platform.asked.map(({ path, headers }) => [path, headers['last-event-id']])).toEqual([
      ['/scorecards/sc_1/events', undefined],
      ['/scorecards/sc_1/events', '1:1:'],
      ['/scorecards/sc_1/events', '1:1:'],
      ['/scorecards/sc_1', undefined],
    ]);
    expect(terminal.err.text).toMatch(/passed 1.*passed 2/s);
    expect(terminal.err.text).toContain('the platform answers again');
  });
});
