import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { ScorecardView } from '../../contracts/scorecard.js';
import { startStack } from '../../dev/launcher.js';
import { eventually } from '../eventually.js';
import { FakeGithub, outputsOf, pullRequestEvent } from '../fake-github.js';
import { endPrograms, node, type Program, ROOT } from './cli/processes.js';
import { E2ePlatform, MINUTE } from './platform.js';

const ACTION = path.join(ROOT, 'action/dist/index.js');
const ADMIN = { authorization: 'Bearer bootstrap-key-0123456789-0123456789' };
/** What the agent prints, and an answer that is wrong. */
const HOSTILE = '::error title=forged::you lost @everyone <img src=x onerror=alert(1)> [link](https://evil.example)';

/** Answers as it should, slowly, or wrong in one case. */
const COMMAND = `
if [ "$EVERDICT_PARAM_MODE" = slow ]; then sleep 60; fi
if [ "$EVERDICT_PARAM_MODE" = bad ] && [ "$EVERDICT_CASE_ID" = two ]; then echo '${HOSTILE}'; else echo right; fi`;

const aCase = (id: string) => ({
  ...{ id, task: `say it, ${id}`, env: { kind: 'prompt' } },
  graders: [{ id: 'says', kind: 'contains', value: 'right' }],
});

const SUBMITTED = /^(sc_\w+): \d+ runs/m;

let github: FakeGithub;
let platform: E2ePlatform;
beforeAll(async () => {
  github = await FakeGithub.start();
  const env = {
    EVERDICT_AUTH: 'on',
    EVERDICT_GITHUB_ISSUER: github.url,
    EVERDICT_GITHUB_AUDIENCE: 'everdict',
    EVERDICT_BOOTSTRAP_KEY: 'bootstrap-key-0123456789-0123456789',
  };
  platform = await E2ePlatform.start((options) => startStack({ ...options, env: { ...options.env, ...env } }));
  const register = (kind: string, spec: object) => platform.ok('POST', `/${kind}`, spec, ADMIN);
  await register('ci-bindings', { repository: 'acme/agent' });
  await register('runtimes', { id: 'desk', version: '1.0.0', kind: 'local', maxConcurrent: 4 });
  await register('harnesses', {
    id: 'solver',
    version: '1.0.0',
    kind: 'command',
    command: COMMAND,
    params: { MODE: 'good' },
  });
  await register('datasets', { id: 'tasks', version: '1.0.0', cases: ['one', 'two', 'three'].map(aCase) });
  await register('datasets', { id: 'tasks', version: '2.0.0', cases: ['one', 'four'].map(aCase) });
}, 2 * MINUTE);
afterAll(async () => {
  await endPrograms();
  await platform.stop();
  await github.close();
}, MINUTE);

let jobs = 0;
/** One job of a workflow: the committed bundle, run as GitHub runs it. */
function start(inputs: Record<string, string>, job: Partial<Parameters<FakeGithub['job']>[1]> = {}) {
  jobs += 1;
  const dir = path.join(platform.dir, `job-${jobs}`);
  const given = {
    ...{ 'api-url': platform.stack.apiUrl, harness: 'solver', dataset: 'tasks@1.0.0', runtime: 'desk' },
    ...{ policy: '{"minPassRate": 1}', ...inputs },
  };
  const env = github.job(dir, { event: pullRequestEvent(), runId: String(100 + jobs), ...job, inputs: given });
  const program: Program = node([ACTION], { cwd: dir, env });
  const file = (name: string): string => readFileSync(path.join(dir, name), 'utf8');
  const ended = program.ended.then(({ code, out, err }) => ({
    ...{ code, out, err, outputs: outputsOf(env), summary: file('summary.md') },
    commands: out.split('\n').filter((line) => line.startsWith('::') && !line.startsWith('::add-mask::')),
  }));
  return { program, ended };
}

const run = (...given: Parameters<typeof start>) => start(...given).ended;

test('a passing scorecard of the main branch is the baseline of what follows', async () => {
  const event = { repository: { default_branch: 'main' } };
  const { code, outputs, summary, commands, out, err } = await run({}, { event, eventName: 'push', refName: 'main' });
  expect({ code, err, verdict: outputs.verdict, out }).toMatchObject({ code: 0, err: '', verdict: 'pass' });
  expect(commands).toEqual([expect.stringMatching(/^::notice title=Everdict%3A pass::/)]);
  expect(outputs['pass-rate']).toBe('1');
  expect(summary).toContain('Verdict: pass');
  expect(github.comments).toEqual([]);
});

test('a regression blocks, by name and without a word of the job as a command, and the comment says so', async () => {
  const { code, outputs, commands } = await run({ params: 'MODE=bad', policy: '{"maxRegressions": 0}' });
  expect({ code, verdict: outputs.verdict, regressions: outputs.regressions }).toEqual({
    ...{ code: 1, verdict: 'block', regressions: '1' },
  });
  expect(commands).toEqual([
    expect.stringMatching(/^::error title=Everdict%3A block::/),
    '::error title=Regression::two passed in the baseline and does not pass now',
  ]);
  const [comment] = github.comments;
  expect(comment?.body).toContain('Verdict: block');
  expect(comment?.body).not.toMatch(/@everyone|<img|\]\(https:\/\/evil/);
  for (const name of ['html', 'junit', 'json', 'markdown']) {
    expect(statSync(outputs[`report-${name}`] ?? '').size).toBeGreaterThan(200);
  }
});

test('the next run edits the comment, also where its token was over at once and is asked for anew', async () => {
  github.lifetimesSec.push(-3_600);
  const issued = github.tokensIssued;
  const { code, outputs, err } = await run({});
  expect({ code, err, verdict: outputs.verdict }).toEqual({ code: 0, err: '', verdict: 'pass' });
  expect(github.tokensIssued - issued).toBe(2);
  expect(github.comments.map(({ body }) => /Verdict: (\w+)/.exec(body)?.[1])).toEqual(['pass']);
});

test('what cannot be compared is no answer; whether that fails the step is the workflow’s choice', async () => {
  const { items } = await platform.ok<{ items: ScorecardView[] }>('GET', '/scorecards?limit=1', undefined, ADMIN);
  const inputs = { dataset: 'tasks@2.0.0', baseline: items[0]?.id ?? '', policy: '{"maxRegressions": 0}' };
  const strict = await run(inputs);
  expect([strict.code, strict.outputs.verdict]).toEqual([1, 'not_comparable']);
  const lenient = await run({ ...inputs, 'fail-on': 'block', comment: 'false' });
  expect([lenient.code, lenient.outputs.verdict]).toEqual([0, 'not_comparable']);
  expect(lenient.commands).toEqual([expect.stringMatching(/^::warning title=Everdict%3A cannot tell/)]);
});

test(
  'a newer run of the pull request cancels what the older one left unfinished, and no other',
  async () => {
    const older = start({ params: 'MODE=slow' });
    const other = start({ params: 'MODE=slow', key: 'another job' });
    await older.program.printed(SUBMITTED);
    await other.program.printed(SUBMITTED);
    const newer = await run({});
    expect([newer.code, newer.outputs.verdict]).toEqual([0, 'pass']);
    const { code, outputs } = await older.ended;
    expect(code).toBe(1);
    const read = (id = ''): Promise<ScorecardView> => platform.ok('GET', `/scorecards/${id}`, undefined, ADMIN);
    expect(await read(outputs['scorecard-id'])).toMatchObject({ status: 'cancelled' });
    expect(other.program.child.exitCode).toBeNull();
    // A job that GitHub cancels takes its scorecard with it.
    other.program.child.kill('SIGINT');
    const stopped = await other.ended;
    expect(stopped.code).toBe(1);
    const id = SUBMITTED.exec(stopped.out)?.[1] ?? '';
    await eventually('its scorecard is cancelled', async () => (await read(id)).status === 'cancelled');
  },
  2 * MINUTE,
);

test('an image is pinned by digest, as a version that a member may register and CI may not', async () => {
  const image = `registry.example/agent@sha256:${'ab'.repeat(32)}`;
  const ofCi = await run({ image });
  expect(ofCi.code).toBe(1);
  expect(ofCi.out).toMatch(/solver@1\.0\.0-0\.image-abababababababab.*member/);
  const key = await platform.ok<{ value: string }>('POST', '/keys', { name: 'ci', role: 'member' }, ADMIN);
  const { code, outputs, out } = await run({ image, 'api-key': key.value });
  expect({ code, verdict: outputs.verdict, out }).toMatchObject({ code: 0, verdict: 'pass' });
  expect(out).toContain(`::add-mask::${key.value}`);
  const used = await platform.ok<ScorecardView>('GET', `/scorecards/${outputs['scorecard-id']}`, undefined, ADMIN);
  expect(used.harness).toBe('solver@1.0.0-0.image-abababababababab');
  const latest = await platform.ok<{ version: string }>('GET', '/harnesses/solver/versions/latest', undefined, ADMIN);
  expect(latest.version).toBe('1.0.0');
});

test('without a right it says which: to log in, of a fork, to comment', async () => {
  const anonymous = await run({}, { hasIdToken: false });
  expect([anonymous.code, anonymous.commands.join()]).toEqual([1, expect.stringContaining('id-token: write')]);
  const fork = await run({}, { hasIdToken: false, event: pullRequestEvent({ fork: true }) });
  expect([fork.code, fork.commands.join()]).toEqual([1, expect.stringContaining('from a fork')]);
  github.canComment = false;
  const silent = await run({});
  expect([silent.code, silent.outputs.verdict]).toEqual([0, 'pass']);
  expect(silent.commands.join()).toContain('pull-requests: write');
});
