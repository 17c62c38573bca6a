import type { Answer } from '../fake-http/fake-answer.js';
import type { Fault, FaultRule } from '../fake-http/fake-faults.js';
import { FakeNomad } from './fake-nomad.js';

const PATH = '/v1/regions';

let fake: FakeNomad;
beforeEach(async () => {
  fake = await FakeNomad.start({ seed: 7 });
});
afterEach(() => fake.stop());

/** Status and body of one request; what cut it where there is no body to read. */
async function ask(path = PATH, method = 'GET'): Promise<string> {
  const signal = AbortSignal.timeout(300);
  try {
    const reply = await fetch(`${fake.url}${path}`, { method, signal });
    return `${reply.status} ${await reply.text()}`;
  } catch {
    return signal.aborted ? 'nothing' : 'cut';
  }
}

const PIECES: Answer = {
  status: 200,
  async *stream() {
    yield Buffer.from('first piece\n');
    yield Buffer.from('second');
  },
};

test.each<[Fault, string]>([
  [{ status: 500, body: 'No cluster leader' }, '500 No cluster leader'],
  [PIECES, '200 first piece\nsecond'],
  ['hang', 'nothing'],
  ['drip', 'nothing'],
  ['reset', 'cut'],
  ['dropped', 'cut'],
  ['truncated', 'cut'],
  ['short', '200 ["glo'],
  ['garbled', '200 {"Index":12,"Kno'],
  [{ slowMs: 20 }, '200 ["global"]'],
])('a request that meets %j gets: %s', async (fault, seen) => {
  fake.fault({ path: PATH, fault, times: 1 });

  expect([await ask(), await ask()]).toEqual([seen, '200 ["global"]']);
});

test('a body that breaks off has sent its first half', async () => {
  fake.fault({ path: PATH, fault: 'truncated' });
  const reply = await fetch(`${fake.url}${PATH}`);
  const chunks: Uint8Array[] = [];

  await expect(
    (async () => {
      for await (const chunk of reply.body ?? []) chunks.push(chunk);
    })(),
  ).rejects.toThrow();
  expect([Buffer.concat(chunks).toString(), reply.headers.get('content-length')]).toEqual(['["glo', '10']);
});

const BUSY: Fault = { status: 500, body: 'busy' };

test.each<[string, Omit<FaultRule, 'path' | 'fault'>, string]>([
  ['as often as it says', { times: 2 }, 'xx....'],
  ['after those that it lets pass', { after: 2, times: 1 }, '..x...'],
  ['of its method alone', { method: 'PUT' }, '......'],
  ['of any method', {}, 'xxxxxx'],
  ['never', { probability: 0 }, '......'],
  ['always', { probability: 1 }, 'xxxxxx'],
])('a rule meets requests %s', async (_title, rule, want) => {
  fake.fault({ path: PATH, fault: BUSY, ...rule });
  let seen = '';
  for (const _ of want) seen += (await ask()).startsWith('500') ? 'x' : '.';

  expect(seen).toBe(want);
});

test('chance meets the same requests for the same seed, about as often as it says', async () => {
  const met = async (seed: number): Promise<string> => {
    const other = await FakeNomad.start({ seed });
    other.fault({ path: /^\/v1\/reg/, fault: BUSY, probability: 0.5 });
    let seen = '';
    for (let i = 0; i < 60; i += 1) seen += (await fetch(`${other.url}${PATH}`)).ok ? '.' : 'x';
    await other.stop();
    return seen;
  };
  const [once, again, differently] = [await met(3), await met(3), await met(4)];

  expect(again).toBe(once);
  expect(differently).not.toBe(once);
  expect(once.replaceAll('.', '').length).toBeGreaterThan(15);
  expect(once.replaceAll('.', '').length).toBeLessThan(45);
});

test('scripts of one path follow each other', async () => {
  fake.script(PATH, { status: 500, body: 'one' }, 1);
  fake.script(PATH, { status: 500, body: 'two' }, 2);
  fake.script('/v1/status/leader', 'reset');

  expect([await ask(), await ask(), await ask(), await ask()]).toEqual([
    '500 one',
    '500 two',
    '500 two',
    '200 ["global"]',
  ]);
  expect(await ask('/v1/status/leader')).toBe('cut');
});
