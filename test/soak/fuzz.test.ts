import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { type Api, registerWorld, startApi } from '../integration/api/server.js';
import { valuesOf } from './schema-values.js';

type Json = ReturnType<typeof JSON.parse>;

const BODIES = 10_000;
const AT_ONCE = 8;
/** More than a probe may take. */
const ANSWER_MS = 20_000;
const seed = Number(process.env.EVERDICT_TEST_SEED ?? 1);
/** A documented refusal that is no fault of the platform: it says what is not built. */
const NOT_BUILT = 'HARNESS_NOT_BUILT';

let api: Api;
beforeAll(async () => {
  process.stderr.write(`fuzz: EVERDICT_TEST_SEED=${seed}\n`);
  const key = `k1:${randomBytes(32).toString('base64')}`;
  api = await startApi({ env: { EVERDICT_SECRETS_KEY: key, EVERDICT_AUTH: 'off' } });
  await registerWorld(api);
}, 60_000);
afterAll(() => api.close());

interface Route {
  method: string;
  path: string;
  body?: Json;
}

interface Shot {
  method: string;
  path: string;
  body: string | Uint8Array;
  type: string;
}

const ODD_KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '', '\0', '\ud800'];
const ODD_VALUES = [
  1e308,
  -0,
  2 ** 53,
  -1,
  1.5,
  '\0',
  '\ud800',
  '\udfff',
  'x'.repeat(70_000),
  '../..',
  '{{x}}',
  "'; --",
  '\u202e',
];

const junk: fc.Arbitrary<Json> = fc.oneof(
  { depthSize: 'small' },
  fc.constantFrom<Json>(...ODD_VALUES, null, true, [], {}),
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.dictionary(fc.constantFrom(...ODD_KEYS), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3, noNullPrototype: false }),
  fc.constantFrom(50, 99, 101, 500).map(nested),
);

function nested(levels: number): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 ? [value] : { a: value };
  return value;
}

/** What is done to the text of a body on its way. */
const damage = fc.oneof(
  { weight: 6, arbitrary: fc.constant((text: string): string | Uint8Array => text) },
  fc.nat(400).map((at) => (text: string) => text.slice(0, at)),
  fc
    .constantFrom(...ODD_KEYS)
    .map((key) => (text: string) => text.replace('{', `{${JSON.stringify(key)}:{"polluted":1},`)),
  fc.constant((text: string) => text.replace(/\{("\w+":)/, '{$1"twice",$1')),
  fc.constant((text: string) => text.replace('{', '{"constructor":{"prototype":{"polluted":1}},')),
  fc.constant((text: string) => text.replace(/:\d+/, ':1e999')),
  fc.tuple(fc.nat(200), fc.uint8Array({ minLength: 1, maxLength: 20 })).map(([at, bytes]) => (text: string) => {
    const whole = Buffer.from(text);
    return Buffer.concat([whole.subarray(0, at), bytes, whole.subarray(at)]);
  }),
  fc.constant((text: string) => text.replace(/:\d+/, `:${'['.repeat(60_000)}${']'.repeat(60_000)}`)),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => () => bytes),
);

const types = fc.oneof(
  { weight: 20, arbitrary: fc.constant('application/json') },
  fc.constantFrom(
    'application/x-ndjson',
    'text/plain',
    'application/xml',
    'multipart/form-data',
    'application/json; charset=utf-16',
    ';',
    '*/*',
  ),
);

const names = fc.oneof(
  fc.constantFrom(
    'tasks',
    'echo',
    'here',
    'default',
    'rotate-key',
    'latest',
    '1.0.0',
    'case-1',
    'sc_00000000000000000000000000',
  ),
  fc.constantFrom(...ODD_KEYS.filter((key) => key !== '' && key !== '\ud800'), 'a/b', '..', 'x'.repeat(300)),
);

function shotsAt({ method, path, body }: Route, components: Json): fc.Arbitrary<Shot> {
  const value = body ? valuesOf(body, components, junk, 4) : junk;
  const parts = fc.array(names, { minLength: 4, maxLength: 4 });
  return fc.tuple(value, damage, types, parts).map(([made, harm, type, ids]) => {
    let at = 0;
    const filled = path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(ids[at++] ?? ''));
    return { method, type, path: filled, body: harm(JSON.stringify(made) ?? 'null') };
  });
}

/** Every route that takes a body or acts. */
async function routes(): Promise<{ all: Route[]; components: Json }> {
  const { body: document } = await api.send('GET', '/openapi.json');
  const all = Object.entries<Record<string, Json>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== 'get')
      .map(([method, { requestBody }]) => ({
        method: method.toUpperCase(),
        path,
        body: requestBody?.content['application/json'].schema,
      })),
  );
  return { all, components: document.components.schemas };
}

const NO_ANSWER = 599;

async function answered({ method, path, body, type }: Shot): Promise<{ status: number; body: Json }> {
  const done = new AbortController();
  const none = { status: NO_ANSWER, body: { code: `no answer in ${ANSWER_MS} ms` } };
  const silence = sleep(ANSWER_MS, none, { signal: done.signal }).catch(() => none);
  try {
    return await Promise.race([api.send(method, path, body, { 'content-type': type }), silence]);
  } finally {
    done.abort();
  }
}

async function fire(shots: readonly Shot[], look: (shot: Shot, status: number, body: Json) => void): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    for (let shot = shots[next++]; shot; shot = shots[next++]) {
      const { status, body } = await answered(shot);
      look(shot, status, body);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

const PROTOTYPES = [Object.prototype, Array.prototype, Function.prototype, String.prototype, Promise.prototype];
const prototypes = (): string[][] => PROTOTYPES.map((each) => Reflect.ownKeys(each).map(String));

/** Rows that something of which is missing, by what they are. */
const HALVES: Record<string, string> = {
  'scorecards without all of their runs':
    'SELECT s.id FROM scorecards s WHERE total <> (SELECT count(*) FROM runs WHERE scorecard_id = s.id)',
  'cases without a dataset': 'SELECT dataset_pk FROM dataset_cases WHERE dataset_pk NOT IN (SELECT pk FROM datasets)',
  'datasets without all of their cases':
    'SELECT d.id FROM datasets d WHERE case_count <> (SELECT count(*) FROM dataset_cases WHERE dataset_pk = d.pk)',
  'runtimes without a pool': `SELECT id FROM runtimes r WHERE NOT EXISTS (
     SELECT FROM pools p WHERE p.workspace_id = r.workspace_id AND p.runtime_id = r.id)`,
  'open transactions': `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
};

test(`${BODIES} bodies over every route that acts: none breaks it, changes a prototype, or is stored by halves`, async () => {
  const { all, components } = await routes();
  const each = Math.ceil(BODIES / all.length);
  const shots = all.flatMap((route, index) =>
    fc.sample(shotsAt(route, components), { numRuns: each, seed: seed + index }),
  );
  const before = prototypes();
  const faults: string[] = [];
  const statuses: Record<string, number> = {};
  await fire(shots, ({ method, path, type, body }, status, reply) => {
    statuses[status] = (statuses[status] ?? 0) + 1;
    const text = JSON.stringify(reply) ?? '';
    const isFine = (status < 500 || reply.code === NOT_BUILT) && !/\bat .{1,200}\.[jt]s:\d+|node_modules/.test(text);
    if (!isFine)
      faults.push(
        `${status} ${method} ${path} (${type}) ${Buffer.from(body).toString().slice(0, 500)} → ${text.slice(0, 300)}`,
      );
  });
  process.stderr.write(`fuzz: ${shots.length} bodies over ${all.length} routes: ${JSON.stringify(statuses)}\n`);
  expect(faults.slice(0, 10)).toEqual([]);
  expect(prototypes()).toEqual(before);
  expect(Object.keys(statuses).some((status) => status.startsWith('2'))).toBe(true);
  for (const [what, sql] of Object.entries(HALVES)) {
    expect([what, await api.database.dataSource.query(sql)]).toEqual([what, []]);
  }
  // What was stored can be read back.
  for (const list of ['/runtimes', '/harnesses', '/datasets', '/scorecards', '/runs', '/audit', '/healthz']) {
    expect([list, (await api.send('GET', list)).status]).toEqual([list, 200]);
  }
}, 240_000);
