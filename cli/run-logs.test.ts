import { type Answer, aPlatform, aTerminal, everdict, problem } from '../test/cli-fakes.js';
import { runCommandLine } from './program.js';

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

  test('has lines of one stream each, also from one attempt to the next', async () => {
    const body =
      piece(1, 'stdout', 0, 'out 1') +
      piece(1, 'stderr', 0, 'err 1\n') +
      piece(1, 'stdout', 5, '\nout 2') +
      event('attempt', '2.0.0', { attempt: 2 }) +
      piece(2, 'stdout', 0, '\nagain\n') +
      event('end', '2.7.0', { outcome: 'passed' });
    const { out } = await everdict(['run', 'logs', '-f', 'sc_1.7'], () => ({ type: 'text/event-stream', body }));
    expect(out).toBe('out 1\nerr 1\nout 2\n\nagain\n');
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
