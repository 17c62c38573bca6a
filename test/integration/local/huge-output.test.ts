import { statSync } from 'node:fs';
import { jobPaths } from '../../../backends/local/local.state.js';
import { wholeLog } from '../../whole-log.js';
import { Rig } from './rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.open();
});
afterAll(() => rig.close());

const LOG_BYTES = 1_000_000;
const MB = 1_000_000;

describe('a job that prints far more than is kept', () => {
  test.each([
    ['lines', `yes | head -c ${200 * MB}; echo RESULT=1`, 200 * MB + 9],
    ['one line', `head -c ${200 * MB} /dev/zero | tr "\\0" y; echo RESULT=1`, 200 * MB + 9],
  ])(
    'of %s has its record found, its beginning and end kept, and its answer cut',
    async (_what, command, size) => {
      const worker = await rig.worker({ logBytes: LOG_BYTES });
      const input = await rig.run({ command });
      const before = process.memoryUsage().rss;
      const { finished } = await worker.runToEnd(input);

      expect(finished).toEqual({ kind: 'settled', outcome: 'passed' });
      expect((process.memoryUsage().rss - before) / MB).toBeLessThan(100);
      const { record } = (await rig.world.attempts.read(input.runId, 1)) ?? {};
      expect(record).toMatchObject({ status: 0, answerCut: true });
      expect(record?.answer.length).toBe(262_144);
      const chunks = await wholeLog(rig.world.logs, input.runId, 1, 'stdout');
      const head = chunks.filter(({ at }) => at < LOG_BYTES);
      const tail = chunks.filter(({ at }) => at >= LOG_BYTES);
      const lengthOf = (part: typeof chunks) => part.reduce((total, { bytes }) => total + bytes.length, 0);
      expect([lengthOf(head), lengthOf(tail)]).toEqual([0.8 * LOG_BYTES, 0.2 * LOG_BYTES]);
      const last = tail.at(-1);
      expect((last?.at ?? 0) + (last?.bytes.length ?? 0)).toBe(size);
      expect(
        Buffer.from(last?.bytes ?? [])
          .subarray(-9)
          .toString(),
      ).toBe('RESULT=1\n');
    },
    30_000,
  );

  test('keeps nobody from ending, and takes little disk while it is followed', async () => {
    const worker = await rig.worker({ logBytes: LOG_BYTES });
    // Paced, so that it is followed all the way.
    const piece = `head -c ${20 * MB} /dev/zero | tr "\\0" y; sleep 0.05`;
    const flood = await rig.run({
      command: `for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do ${piece}; done; sleep 2`,
    });
    const flooding = worker.dispatch(flood);
    const small = await Promise.all(Array.from({ length: 5 }, () => rig.run({ command: 'echo small' })));
    const ends = await Promise.all(small.map((input) => worker.runToEnd(input)));
    expect(ends.map(({ finished }) => finished)).toEqual(ends.map(() => ({ kind: 'settled', outcome: 'passed' })));

    const name = (await rig.world.attempts.read(flood.runId, 1))?.allocation ?? '';
    const { stdout } = jobPaths(rig.site.stateDir, name);
    const end = await flooding;
    const { size, blocks } = statSync(stdout);
    await worker.finish(flood, { kind: end.kind === 'record' ? 'record' : 'cancelled' });

    expect(end).toEqual({ kind: 'record' });
    expect(size).toBeGreaterThan(300 * MB);
    expect(blocks * 512).toBeLessThan(150 * MB);
  }, 30_000);
});
