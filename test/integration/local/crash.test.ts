import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { printing, recordLines } from './programs.js';
import { type Effects, Rig, type RunSketch } from './rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.open();
});
afterAll(() => rig.close());

/** Dies at the `at`-th effect, before it happens or just after. Counts the effects on the way. */
class Fuse {
  count = 0;
  constructor(
    private readonly at: number,
    private readonly when: 'before' | 'after',
  ) {}

  private burn<T extends object>(target: T, methods: readonly (keyof T & string)[]): T {
    const wrapped: T = Object.create(target);
    for (const method of methods) {
      const original: unknown = target[method];
      if (typeof original !== 'function') continue;
      const guarded = async (...args: unknown[]): Promise<unknown> => {
        this.count += 1;
        const isLast = this.count === this.at;
        if (isLast && this.when === 'before') throw new Error('the worker died');
        const result: unknown = await Reflect.apply(original, target, args);
        if (isLast) throw new Error('the worker died');
        return result;
      };
      Reflect.set(wrapped, method, guarded);
    }
    return wrapped;
  }

  through = ({ attempts, runs, logs, backend, sender }: Effects): Effects => ({
    attempts: this.burn(attempts, ['open', 'confirmSubmitted', 'recordEnd', 'settle', 'close', 'closeForRetry']),
    runs,
    logs: this.burn(logs, ['append']),
    backend: this.burn(backend, ['submit', 'stop']),
    sender: this.burn(sender, ['send']),
  });
}

const EFFECTS = 9;

/** Jobs that note their start in a file and answer `out`. */
const JOBS: Record<string, (starts: string) => RunSketch> = {
  command: (starts) => ({ command: `echo start >>${starts}; printf out` }),
  process: (starts) => {
    const before = `echo start >>${starts}; echo working`;
    return { entrypoint: printing(recordLines({ answer: '6f7574' }), { before }) };
  },
};

describe('a worker that dies', () => {
  const moments = Array.from({ length: EFFECTS }, (_, i) => i + 1).flatMap((at) =>
    Object.keys(JOBS).flatMap((job) => [['before', at, job] as const, ['after', at, job] as const]),
  );

  test('leaves a job that the next adopts, whatever the clock says of its start', async () => {
    const input = await rig.run({ command: 'sleep 0.2; exit 4' });
    await (await rig.worker()).leaveRunning(input);
    const sql = `UPDATE attempts SET submitted_at = now() - interval '2 days' WHERE run_id = $1`;
    await rig.world.dataSource.query(sql, [input.runId]);

    const { finished } = await (await rig.worker()).runToEnd(input);

    expect(finished).toEqual({ kind: 'settled', outcome: 'failed' });
  });

  test.each(moments)(
    '%s effect %i of a %s leaves a run that the next worker settles once, without starting it twice',
    async (when, at, job) => {
      const starts = join(rig.site.stateDir, `starts-${when}-${at}-${job}`);
      const input = await rig.run({
        ...JOBS[job]?.(starts),
        case: { graders: [{ kind: 'equals', value: 'out' }] },
      });
      const fuse = new Fuse(at, when);
      const dying = await rig.worker({ through: fuse.through });
      await expect(dying.runAtLength(input)).rejects.toThrow('the worker died');

      const next = await rig.worker();
      const { end, finished } = await next.runToEnd(input);
      const again = await next.finish(input, { kind: 'record' });

      if (end?.kind === 'refused') expect(end.refusal.reason).toBe('settled');
      else expect(finished).toEqual({ kind: 'settled', outcome: 'passed' });
      expect(again).toEqual({ kind: 'settled', outcome: 'passed' });
      expect(readFileSync(starts, 'utf8')).toBe('start\n');
      const attempt = await rig.world.attempts.read(input.runId, 1);
      expect(attempt?.closedAt).toBeDefined();
      expect(await rig.processesOf(input)).toEqual([]);
      expect(existsSync(join(rig.site.stateDir, 'jobs', attempt?.allocation ?? ''))).toBe(false);
      expect(rig.released).toContainEqual(expect.objectContaining({ holder: input.holder, seq: input.seq }));
    },
  );

  test('has no further effect to die at', async () => {
    const fuse = new Fuse(-1, 'before');
    const input = await rig.run({ command: 'echo out' });
    await (await rig.worker({ through: fuse.through })).runToEnd(input);

    expect(fuse.count).toBe(EFFECTS);
  });
});
