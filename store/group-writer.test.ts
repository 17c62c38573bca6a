import { setImmediate as turn } from 'node:timers/promises';
import { PlatformError } from '../contracts/errors.js';
import { GroupWriter } from './group-writer.js';

interface Item {
  key: string;
  bytes?: number;
}

/** Writes groups that it is told to let through, and fails those with a key among `bad`. */
class Sink {
  readonly groups: string[][] = [];
  bad = new Set<string>();
  error: Error = new Error('one of them is bad');

  readonly writer = new GroupWriter<Item, string>({
    keyOf: ({ key }) => key,
    bytesOf: ({ bytes = 0 }) => bytes,
    write: async (items) => {
      this.groups.push(items.map(({ key }) => key));
      await turn();
      if (items.some(({ key }) => this.bad.has(key))) throw this.error;
      return items.map(({ key }) => key.toUpperCase());
    },
  });

  submit(...items: Item[]): Promise<PromiseSettledResult<string>[]> {
    return Promise.allSettled(items.map((item) => this.writer.submit(item)));
  }
}

const keys = (count: number): Item[] => Array.from({ length: count }, (_, i) => ({ key: `k${i}` }));

describe('GroupWriter', () => {
  test('writes what comes together at once, and answers each for itself', async () => {
    const sink = new Sink();
    const answers = await sink.submit({ key: 'a' }, { key: 'b' }, { key: 'c' });

    expect(sink.groups).toEqual([['a', 'b', 'c']]);
    expect(answers.map((answer) => answer.status === 'fulfilled' && answer.value)).toEqual(['A', 'B', 'C']);
  });

  test('puts at most 200 of them, and about 1 MB, into a group', async () => {
    const sink = new Sink();
    await sink.submit(...keys(450));
    expect(sink.groups.map((group) => group.length)).toEqual([200, 200, 50]);

    sink.groups.length = 0;
    await sink.submit(...keys(5).map((item) => ({ ...item, bytes: 400_000 })));
    expect(sink.groups.map((group) => group.length)).toEqual([2, 2, 1]);
  });

  test('never puts two of one key into a group, and keeps their order', async () => {
    const sink = new Sink();
    await sink.submit({ key: 'a' }, { key: 'b' }, { key: 'a' }, { key: 'a' });

    expect(sink.groups).toEqual([['a', 'b'], ['a'], ['a']]);
  });

  test('splits a group that fails, until only what is wrong with it fails', async () => {
    const sink = new Sink();
    sink.bad = new Set(['k3', 'k6']);
    const answers = await sink.submit(...keys(8));

    expect(answers.flatMap(({ status }, i) => (status === 'rejected' ? [i] : []))).toEqual([3, 6]);
  });

  test('fails a whole group while the database is away, without trying each', async () => {
    const sink = new Sink();
    sink.bad = new Set(['k3']);
    sink.error = new PlatformError('STORE_UNAVAILABLE', 'the database does not answer');
    const answers = await sink.submit(...keys(8));

    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill('rejected'));
    expect(sink.groups).toHaveLength(1);
  });
});
