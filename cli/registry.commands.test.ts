import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Answer, everdict, unused } from '../test/cli-fakes.js';

let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'everdict-cli-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function aFile(name: string, text: string): Promise<string> {
  const file = path.join(dir, name);
  await writeFile(file, text);
  return file;
}

const registered = (): Answer => ({ status: 201, body: { id: 'x', version: '1.0.0', kind: 'local', caseCount: 2 } });

describe('registering', () => {
  test('sends a JSON file as it is, unknown keys too', async () => {
    const file = await aFile('desk.json', '{"id": "desk", "colour": 1}');
    const { asked, out, exitCode } = await everdict(['runtime', 'add', file], registered);
    expect(asked).toMatchObject([{ method: 'POST', path: '/runtimes', body: '{"id": "desk", "colour": 1}' }]);
    expect(asked[0]?.headers['content-type']).toBe('application/json');
    expect(out).toBe('runtime x@1.0.0 is registered (kind local)\n');
    expect(exitCode).toBe(0);
  });

  test('names a JSONL dataset after its file, and says so', async () => {
    const file = await aFile('My Tasks.jsonl', '{"id":"a"}\n');
    const { asked, out, err } = await everdict(['dataset', 'add', file], registered);
    expect(asked[0]).toMatchObject({ path: '/datasets', query: { id: 'my-tasks', version: '1.0.0' } });
    expect(asked[0]?.headers['content-type']).toBe('application/x-ndjson');
    expect(err).toContain('registering it as my-tasks@1.0.0; choose with --id and --version');
    expect(out).toBe('dataset x@1.0.0 is registered (cases 2)\n');
  });

  test('takes id and version of a JSONL dataset from the command line without a note', async () => {
    const file = await aFile('t.jsonl', '{"id":"a"}\n');
    const { asked, err } = await everdict(['dataset', 'add', file, '--id', 'b', '--version', '2'], registered);
    expect(asked[0]?.query).toEqual({ id: 'b', version: '2' });
    expect(err).toBe('');
  });

  test.each([
    ['a file that does not exist', 'missing.json', undefined, /there is no file .*missing\.json/],
    ['a file that is not JSON', 'broken.json', '{"id": ', /broken\.json is not valid JSON/],
  ])('refuses %s without asking the platform', async (_title, name, text, want) => {
    const file = text === undefined ? path.join(dir, name) : await aFile(name, text);
    const { err, exitCode, asked } = await everdict(['harness', 'add', file], unused);
    expect(err).toMatch(want);
    expect([exitCode, asked.length]).toEqual([3, 0]);
  });
});

describe('lists', () => {
  test('read as many pages as the limit takes, and say how to go on', async () => {
    const words = ['dataset', 'list', '--limit', '3'];
    const { out, asked } = await everdict(words, ({ query }) => {
      const from = Number(query.cursor ?? 0);
      const items = [from, from + 1]
        .map((n) => ({ id: `d${n}`, version: '1', caseCount: n, owner: 'acme', latest: n === 1, tags: ['x'] }))
        .slice(0, Number(query.limit));
      return { body: { items, next: String(from + items.length) } };
    });
    expect(asked.map(({ query }) => query.limit)).toEqual(['3', '1']);
    expect(out.split('\n')).toEqual([
      'id  version  owner  standing  tags  cases  description',
      'd0  1        acme             x         0',
      'd1  1        acme   latest    x         1',
      'd2  1        acme             x         2',
      'more: the same command with --cursor 3',
      '',
    ]);
  });

  test('of the cases of a dataset show their graders and tags', async () => {
    const items = [
      { id: 'a', task: 'say\nhello', tags: ['x', 'y'], graders: [{ kind: 'equals', value: '1' }] },
      { id: 'b', task: 'go' },
    ];
    const { out, asked } = await everdict(['dataset', 'cases', 'tasks@2'], () => ({ body: { items, next: null } }));
    expect(asked[0]?.path).toBe('/datasets/tasks/versions/2/cases');
    expect(out).toBe('case  tags  graders    task\na     x y   equals     say hello\nb           exit-code  go\n');
  });
});

describe('what is said of a version', () => {
  const listed = {
    id: 'desk',
    version: '2.0.0',
    owner: 'acme',
    tags: ['gpu node'],
    latest: false,
    confirmed: false,
    deprecated: true,
    deprecatedReason: 'moved',
    registeredBy: 'vic',
  };

  test.each<[string[], string, string, unknown]>([
    [['tag', 'desk@2.0.0', 'gpu node', 'eu'], 'PUT', 'tags', { tags: ['gpu node', 'eu'] }],
    [['tag', 'desk@2.0.0'], 'PUT', 'tags', { tags: [] }],
    [['confirm', 'desk@2.0.0'], 'POST', 'confirm', undefined],
    [['deprecate', 'desk@2.0.0', '--reason', 'moved'], 'POST', 'deprecate', { reason: 'moved' }],
    [['restore', 'desk@2.0.0'], 'POST', 'restore', undefined],
  ])('is changed by `%s`', async (words, method, what, body) => {
    const { asked, out, exitCode } = await everdict(['runtime', ...words], () => ({ body: listed }));
    expect(asked).toMatchObject([{ method, path: `/runtimes/desk/versions/2.0.0/${what}` }]);
    expect(asked[0]?.body ? JSON.parse(asked[0].body) : undefined).toEqual(body);
    expect(out).toBe(
      'runtime desk@2.0.0 of acme; unconfirmed, registered by vic; deprecated (moved); tagged gpu node\n',
    );
    expect(exitCode).toBe(0);
  });

  test('is told beside its content', async () => {
    const { out, err } = await everdict(['runtime', 'show', 'desk@2.0.0'], ({ path: asked }) =>
      asked === '/runtimes' ? { body: { items: [listed], next: null } } : { body: { id: 'desk', version: '2.0.0' } },
    );
    expect(JSON.parse(out)).toEqual({ id: 'desk', version: '2.0.0' });
    expect(err).toBe('desk@2.0.0 of acme; unconfirmed, registered by vic; deprecated (moved); tagged gpu node\n');
  });

  test('needs the version to be named', async () => {
    const { err, exitCode, asked } = await everdict(['harness', 'deprecate', 'solver'], unused);
    expect(err).toContain('which version of solver?');
    expect([exitCode, asked.length]).toEqual([3, 0]);
  });
});
