import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SecretUse } from '../../../contracts/secret.js';
import { rows } from '../../../store/sql.js';
import { SweepStore } from '../../../store/sweep.store.js';
import { type GitServer, makeRepository, startGitServer } from '../../git-server.js';
import { wholeLog } from '../../whole-log.js';
import { printing, recordLines } from './programs.js';
import { Rig } from './rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.open();
});
afterAll(() => rig.close());

const set = (name: string, value: string, use: SecretUse = 'env', bindings: string[] = []) =>
  rig.secrets.put('default', { name, use, bindings, value }, 'me');
const naming = (name: string) => ({ env: { KEY: { secretRef: name } } });

async function logOf(runId: string): Promise<string> {
  return (await wholeLog(rig.world.logs, runId, 1)).map(({ bytes }) => String(bytes)).join('');
}

/** Runs one attempt to its end, and tells all that is stored of it. */
async function outcome(sketch: Parameters<Rig['run']>[0]) {
  const worker = await rig.worker();
  const input = await rig.run(sketch);
  const { finished } = await worker.runToEnd(input);
  const attempt = await rig.world.attempts.read(input.runId, 1);
  return {
    finished,
    attempt,
    answer: String(Buffer.from(attempt?.record?.answer ?? [])),
    log: await logOf(input.runId),
  };
}

describe('a secret that the harness names', () => {
  const VALUE = `line one\n'two' "three" $HOME \`four\` \\ ü\n${'x'.repeat(60_000)}`;
  const SIZE = Buffer.byteLength(VALUE);

  test('reaches its job whole, in the one variable, and shows in nothing that is stored', async () => {
    await set('big', VALUE);
    await set('other', 'S3cr3t-CCCC');
    const { answer, log, finished } = await outcome({
      command: 'printf %s "$KEY"; printf %s "$KEY" >&2; env | grep -c S3cr3t-CCCC >&2; exit 0',
      harness: naming('big'),
      case: { graders: [{ kind: 'regex', pattern: `^\\*{${1_000}}` }] },
    });
    expect(finished).toMatchObject({ outcome: 'passed' });
    expect([answer, log].map((text) => text.replaceAll('*'.repeat(SIZE), 'MASKED').slice(0, 200))).toEqual([
      'MASKED',
      'MASKED0\nMASKED',
    ]);
  });

  test('lies in files of the attempt that only their owner reads, and is gone with them', async () => {
    await set('filed', 'S3cr3t-AAAA');
    const files = join(rig.site.stateDir, 'jobs');
    const { answer } = await outcome({
      command: `grep -rl "$KEY" ${files} | while read -r f; do stat -c '%a %n' "$f"; done >"$EVERDICT_ANSWER_FILE"`,
      harness: naming('filed'),
    });
    expect(answer).toMatch(/^600 \S+\/payload\/env\n$/);
    expect(existsSync(answer.trim().split(' ')[1] ?? '')).toBe(false);
  });

  test('is masked as a process prints it, in graders, and in base64', async () => {
    await set('printed', 'S3cr3t-BBBB');
    const graders = [{ kind: 'command', command: 'printf "no %s" "$KEY"; exit 1' }];
    const harness = naming('printed');
    const command = 'printf %s "$KEY" | base64; exit 3';
    const graded = await outcome({ command, harness, case: { graders } });
    const answer = Buffer.from('S3cr3t-BBBB').toString('hex');
    const entrypoint = printing(recordLines({ answer }), { before: 'echo "it is $KEY"' });
    const printed = await outcome({ entrypoint, harness });
    expect(graded.log).toMatch(/^\*+=?\n$/);
    expect(Buffer.from(graded.attempt?.record?.graders[0]?.output ?? []).toString()).toBe(`no ${'*'.repeat(11)}`);
    expect(printed).toMatchObject({ answer: '*'.repeat(11), log: `it is ${'*'.repeat(11)}\n` });
    const run = await rig.world.runs.find('default', graded.attempt?.runId ?? '');
    expect(JSON.stringify(run)).not.toContain('S3cr3t');
  });

  test('is the one that is set when an attempt begins, and refuses by name once it is gone', async () => {
    await set('turning', 'first-value');
    const sketch = { command: 'printf %s "$KEY" | wc -c', harness: naming('turning') };
    expect((await outcome(sketch)).answer).toBe('11\n');
    await set('turning', 'a-second-value');
    expect((await outcome(sketch)).answer).toBe('14\n');
    await rig.secrets.remove('default', 'turning');
    await expect(outcome(sketch)).rejects.toMatchObject({
      code: 'SECRET_MISSING',
      message: expect.stringMatching(/harness .* names the secret turning, which is not there/),
    });
    await set('turning', 'S3cr3t-AAAA', 'cluster', ['https://a.example']);
    await expect(outcome(sketch)).rejects.toMatchObject({ message: expect.stringContaining('is for cluster') });
  });

  test('stays masked by the worker that goes on with a job, though it is another by then, or gone', async () => {
    await set('adopted', 'S3cr3t-DDDD');
    const gate = join(rig.site.stateDir, 'secret-gate');
    const input = await rig.run({
      command: `until [ -e ${gate} ]; do sleep 0.02; done; echo "$KEY"`,
      harness: naming('adopted'),
    });
    await (await rig.worker()).leaveRunning(input);
    await set('adopted', 'S3cr3t-EEEE');
    await rig.secrets.remove('default', 'adopted');
    const dispatched = (await rig.worker()).dispatch(input);
    spawnSync('touch', [gate]);
    expect(await dispatched).toEqual({ kind: 'record' });
    await (await rig.worker()).finish(input, { kind: 'record' });
    expect(await logOf(input.runId)).toBe(`${'*'.repeat(11)}\n`);
    const sweep = new SweepStore(rig.world.dataSource);
    const kept = () => rows(rig.world.dataSource, 'SELECT 1 FROM replaced_secrets');
    expect([await sweep.purgeReplacedSecrets(), (await kept()).length > 0]).toEqual([0, true]);
    await rows(rig.world.dataSource, `UPDATE replaced_secrets SET replaced_at = now() - interval '1 hour'`);
    await sweep.purgeReplacedSecrets();
    expect(await kept()).toEqual([]);
  });
});

const hasGit = spawnSync('git', ['http-backend', '--help']).status !== null;

(hasGit ? describe : describe.skip)('a private repository', () => {
  let dir: string;
  let server: GitServer;
  let other: GitServer;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'everdict-git-'));
    makeRepository(join(dir, 'repo'), 'forty-two');
    server = await startGitServer(dir, 'robot', 'S3cr3t-GGGG');
    other = await startGitServer(dir, 'nobody', 'else');
    await set('forge', 'robot:S3cr3t-GGGG', 'git', [server.host]);
  });
  afterAll(async () => {
    await Promise.all([server.close(), other.close()]);
    await rm(dir, { recursive: true, force: true });
  });
  const repo = (url: string) => ({ env: { kind: 'repo', source: { git: `${url}/repo/.git`, ref: 'main' } } });

  test('is checked out with the secret of its host, of which nothing is left for the agent', async () => {
    const look = `cat answer.txt; env | grep -c 'GG[G]G'; grep -rl 'GG[G]G' .git ${rig.site.stateDir}; ls -a "\${EVERDICT_TASK_FILE%/*}"`;
    const { answer } = await outcome({ command: `${look}; exit 0`, case: repo(server.url) });
    expect(answer.split('\n').slice(0, 2)).toEqual(['forty-two0', '.']);
    expect(answer).not.toContain('git-credential');
    expect(server.asked).toContain(`Basic ${Buffer.from('robot:S3cr3t-GGGG').toString('base64')}`);
  });

  test('of another host is sent nothing, and its refusal is the end of the setup', async () => {
    const { finished, log } = await outcome({ command: 'true', case: repo(other.url) });
    expect(finished).toMatchObject({ outcome: 'errored' });
    expect(log).toMatch(/could not read Username|Authentication failed/);
    expect(new Set(other.asked)).toEqual(new Set([undefined]));
  });

  test('is announced to a process by a file that it is to delete', async () => {
    const entrypoint = printing(recordLines({ answer: '' }), { before: 'cat "$0/git-credential"' });
    const { log } = await outcome({ entrypoint, case: repo(server.url) });
    expect(log).toBe(`username=robot\npassword=${'*'.repeat(11)}\n`);
  });
});

test('a job that names no secret costs no query for one', async () => {
  const { dataSource } = rig.world;
  const { query } = dataSource;
  const asked: string[] = [];
  dataSource.query = <Rows>(...args: Parameters<typeof query>): Promise<Rows> => {
    asked.push(args[0]);
    return query.call(dataSource, ...args) as Promise<Rows>;
  };
  await outcome({ command: 'true' }).finally(() => {
    dataSource.query = query;
  });
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.filter((sql) => sql.includes('secrets'))).toEqual([]);
});
