import { type Api, rowCounts, startApi } from './server.js';

let api: Api;
beforeAll(async () => {
  api = await startApi();
}, 60_000);
afterAll(() => api.close());

const LINES = { 'content-type': 'application/x-ndjson' };
const line = (id: string, more: object = {}) => JSON.stringify({ id, task: 'x', ...more });
const upload = (text: string | Uint8Array, query = '?id=lines&version=1', type = LINES) =>
  api.send('POST', `/datasets${query}`, text, type);

describe('a dataset as JSONL', () => {
  test.each(['application/x-ndjson', 'application/jsonl', 'text/plain; charset=utf-8'])(
    'is taken as %s',
    async (type) => {
      const version = type.replace(/\W/g, '');
      const text = `${line('HumanEval/0')}\r\n\n${line('ü 2', { tags: ['a'] })}\n`;
      const made = await upload(text, `?id=typed&version=${version}&tags=one&tags=two&description=d`, {
        'content-type': type,
      });
      expect(made.status).toBe(201);
      expect(made.body).toMatchObject({ id: 'typed', version, caseCount: 2, tags: ['one', 'two'], description: 'd' });

      const { body } = await api.send('GET', `/datasets/typed/versions/${version}/cases?limit=1`);
      expect(body.items.map(({ id }: { id: string }) => id)).toEqual(['HumanEval/0']);
      const rest = await api.send('GET', `/datasets/typed/versions/${version}/cases?cursor=${body.next}`);
      expect([rest.body.items[0].id, rest.body.items[0].tags, rest.body.next]).toEqual(['ü 2', ['a'], null]);
    },
  );

  test('has the same content as the same cases in JSON', async () => {
    await upload(`${line('a')}\n${line('b')}`, '?id=twice&version=1');
    const cases = ['a', 'b'].map((id) => ({ task: 'x', id }));
    expect((await api.send('POST', '/datasets', { id: 'twice', version: '1', cases })).status).toBe(200);
  });

  test.each([
    ['invalid JSON', `${line('a')}\n\n{"id": "b", "task": }`, 'line 3', 'line 3, column 21'],
    ['a cut line', `${line('a')}\n{"id": "b"`, 'line 2', 'line 2'],
    ['a duplicate id', `${line('a')}\n${line('b')}\n${line('a')}`, 'line 3: id', 'line 1'],
    ['an unknown key', line('a', { grader: [] }), 'line 1: grader', 'did you mean `graders`?'],
    ['a wrong type', `${line('a')}\n${line('b', { task: 7 })}`, 'line 2: task', 'expected string'],
    ['NUL', line('a', { task: 'a\0b' }), 'line 1: task', 'NUL'],
    ['half a surrogate pair', String.raw`{"id":"a","task":"\ud800"}`, 'line 1: task', 'Unicode'],
    ['the key `__proto__`', '{"id":"a","task":"x","__proto__":{"polluted":1}}', 'line 1', '__proto__'],
    [
      'a pattern that does not compile',
      line('a', { graders: [{ kind: 'regex', pattern: '(' }] }),
      'line 1: graders[0].pattern',
      'compile',
    ],
    [
      'a variable that does not exist',
      line('a', { graders: [{ kind: 'command', command: 'cat $EVERDICT_ANSWR_FILE' }] }),
      'line 1: graders[0].command',
      'EVERDICT_ANSWER_FILE',
    ],
    ['no line', '\n\n', '', 'has no cases'],
    ['a case above 1 MB', line('a', { task: 'x'.repeat(1_048_576) }), 'line 1', '1048576'],
  ])('with %s is a 400 that names the place, and nothing is stored', async (_title, text, path, part) => {
    const before = await rowCounts(api);
    const { status, body } = await upload(text);
    expect(status).toBe(400);
    expect(body.errors[0].path).toBe(path);
    expect(body.errors[0].message).toContain(part);
    expect(await rowCounts(api)).toEqual(before);
  });

  test.each([
    ['no id', '?version=1', 'id'],
    ['no version', '?id=lines', 'version'],
    ['an unknown key', '?id=lines&version=1&nam=x', 'nam'],
    ['the id `__proto__`', '?id=__proto__&version=1', 'id'],
    ['two ids', '?id=a&id=b&version=1', 'id'],
  ])('with %s in the query is a 400 that names it', async (_title, query, path) => {
    const { status, body } = await upload(line('a'), query);
    expect([status, body.errors[0].path]).toEqual([400, path]);
  });

  test('that is not UTF-8 is refused, naming the line', async () => {
    const { status, body } = await upload(Uint8Array.from([...Buffer.from(`${line('a')}\n`), 123, 255, 254, 125]));
    expect([status, body.errors]).toEqual([400, [{ path: 'line 2', message: 'is not valid UTF-8' }]]);
  });
});

describe('a dataset as JSON', () => {
  const dataset = (cases: unknown, more: object = {}) => ({ id: 'json', version: '1', cases, ...more });

  test.each([
    [
      'a duplicate id',
      dataset([
        { id: 'a', task: 'x' },
        { id: 'b', task: 'x' },
        { id: 'a', task: 'y' },
      ]),
      'cases[2].id',
      'cases[0]',
    ],
    ['no case', dataset([]), 'cases', 'has no cases'],
    ['no `cases`', { id: 'json', version: '1' }, 'cases', 'is required'],
    ['the id `__proto__`', dataset([{ id: 'a', task: 'x' }], { id: '__proto__' }), 'id', 'starts with'],
    [
      'a pattern that does not compile',
      dataset([{ id: 'a', task: 'x', graders: [{ kind: 'regex', pattern: '[' }] }]),
      'cases[0].graders[0].pattern',
      'compile',
    ],
    [
      'private grader files',
      dataset([{ id: 'a', task: 'x', graders: [{ kind: 'command', command: 'x', files: {} }] }]),
      'cases[0].graders[0]',
      'verifier',
    ],
    [
      'a path out of the work directory',
      dataset([{ id: 'a', task: 'x', env: { kind: 'repo', source: { files: { '../x': '' } } } }]),
      'cases[0].env.source.files["../x"]',
      'relative path',
    ],
    ['a case above 1 MB', dataset([{ id: 'a', task: 'x'.repeat(1_048_577) }]), 'cases[0]', '1048576'],
  ])('with %s is a 400 that names the place, and nothing is stored', async (_title, body, path, part) => {
    const before = await rowCounts(api);
    const reply = await api.send('POST', '/datasets', body);
    expect(reply.status).toBe(400);
    expect(reply.body.errors[0].path).toBe(path);
    expect(reply.body.errors[0].message).toContain(part);
    expect(await rowCounts(api)).toEqual(before);
  });

  test('takes no query', async () => {
    const { status, body } = await api.send('POST', '/datasets?id=x', dataset([{ id: 'a', task: 'x' }]));
    expect([status, body.errors[0].path]).toEqual([400, 'id']);
  });

  test('keeps a case of the id `__proto__` apart from the prototype', async () => {
    const made = await api.send('POST', '/datasets', dataset([{ id: '__proto__', task: 'x' }], { id: 'odd' }));
    expect(made.status).toBe(201);
    const { body } = await api.send('GET', '/datasets/odd/versions/1/cases');
    expect(body.items[0].id).toBe('__proto__');
  });
});
