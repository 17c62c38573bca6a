import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { ScorecardView } from '../../../contracts/scorecard.js';
import { CLI, type Ended, node, Program, ROOT } from '../cli/processes.js';
import { E2ePlatform, MINUTE } from '../platform.js';

const EXAMPLES = path.join(ROOT, 'examples');
const read = (file: string): string => readFileSync(path.join(EXAMPLES, file), 'utf8');

let platform: E2ePlatform;
beforeAll(async () => {
  platform = await E2ePlatform.start();
}, 2 * MINUTE);
afterAll(() => platform.stop(), MINUTE);

/** Runs a line as it stands in the documentation, with the package as the current directory. */
const typed = (line: string): Promise<Ended> =>
  new Program('sh', ['-c', `everdict() { node '${CLI}' "$@"; }\n${line}`], {
    env: { EVERDICT_URL: platform.stack.apiUrl },
  }).ended;

interface Totals {
  submitted: number;
  passed: number;
  failed: number;
  errored: number;
  failing: Record<string, 'failed' | { class: string; code: string }>;
}

/** Exit codes that the README does not promise are 0: a case that errors makes a verdict impossible. */
const EXIT_CODES: Record<string, number> = {
  'everdict scorecard run --dataset shell-tasks --harness hasty --runtime desk': 2,
  'everdict scorecard run --dataset shell-tasks --harness hasty --runtime desk --tag json': 1,
};

/** Commands of the README without their comments. */
const COMMANDS = [...read('README.md').matchAll(/```sh\n(.*?)```/gs)]
  .flatMap(([, block = '']) => block.split('\n'))
  .filter((line) => line.startsWith('everdict '))
  .map((line) => line.replace(/ *#.*/, ''));

test(
  'every command of the README does what it says',
  async () => {
    expect(COMMANDS.length).toBeGreaterThanOrEqual(9);
    for (const command of COMMANDS) {
      const { code, err } = await typed(command);
      expect(err).not.toContain('error:');
      expect({ command, code }).toEqual({ command, code: EXIT_CODES[command] ?? 0 });
    }
  },
  3 * MINUTE,
);

test.each(['solver', 'hasty'])('%s has just the results that are written down', async (harness) => {
  const { dataset, [harness]: totals } = JSON.parse(read('expected.json')) as Record<string, Totals> & {
    dataset: string;
  };
  const { failing, ...counts } = totals ?? { failing: {} };
  const { items } = await platform.ok<{ items: ScorecardView[] }>('GET', '/scorecards');
  const whole = items.find(
    (each) => each.harness === `${harness}@1.0.0` && each.counts.submitted === totals?.submitted,
  );
  expect(whole).toMatchObject({ status: 'completed', counts });
  expect(whole?.dataset).toMatch(new RegExp(`^${dataset}@`));
  const others = (await platform.runs(whole?.id ?? '')).filter(({ outcome }) => outcome !== 'passed');
  const found = others.map(({ caseId, outcome, errorClass, errorCode }) => [
    caseId,
    outcome === 'errored' ? { class: errorClass, code: errorCode } : outcome,
  ]);
  expect(Object.fromEntries(found)).toEqual(failing);
});

test.each(['local', 'nomad', 'k8s'])('the %s runtime can be registered', async (kind) => {
  const { code, err } = await typed(`everdict runtime add examples/runtimes/${kind}.json`);
  expect(err).not.toContain('error:');
  expect(code).toBe(0);
  const { id } = JSON.parse(read(`runtimes/${kind}.json`)) as { id: string };
  expect(await platform.ok('GET', `/runtimes/${id}/versions/1.0.0`)).toMatchObject({ kind, id });
});

test('the committed harnesses are what their sources make', async () => {
  expect(await node([path.join(EXAMPLES, 'harnesses/build.mjs'), '--check']).ended).toMatchObject({ code: 0, err: '' });
});

test(
  'the script of the GitLab job submits with its metadata, passes by exit code and leaves its reports',
  async () => {
    const Job = z.object({ scorecard: z.object({ script: z.tuple([z.string()]) }) });
    const [script] = Job.parse(parse(read('ci/gitlab-ci.yml'))).scorecard.script;
    const dir = path.join(platform.dir, 'ci');
    mkdirSync(dir);
    symlinkSync(ROOT, path.join(dir, '.everdict-cli'));
    const few = script.replace('--dataset shell-tasks', '--dataset shell-tasks --limit 3').replace(/, "max[^}]*/, '');
    const env = {
      ...{ EVERDICT_URL: platform.stack.apiUrl, GITLAB_CI: 'true', CI_DEFAULT_BRANCH: 'main' },
      ...{
        CI_COMMIT_SHA: 'abc123',
        CI_MERGE_REQUEST_IID: '7',
        CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'a branch; exit 9',
      },
    };
    const { code, err } = await new Program('sh', ['-e', '-c', few], { cwd: dir, env }).ended;
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(path.join(dir, 'everdict-report/report.json'), 'utf8'))).toMatchObject({
      verdict: 'pass',
      scorecard: {
        metadata: { sha: 'abc123', branch: 'a branch; exit 9', pr: '7' },
        counts: { submitted: 3, passed: 3 },
      },
    });
    expect(readFileSync(path.join(dir, 'everdict-report/junit.xml'), 'utf8')).toContain('<testcase');
  },
  MINUTE,
);

test('nothing is there that no test knows', () => {
  const files = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' }).filter((file) => /\.[a-z]+$/.test(file));
  const known =
    /^(README\.md|expected\.json|datasets\/shell-tasks\.jsonl|harnesses\/.*|runtimes\/(local|nomad|k8s)\.json|policies\/merge\.json|k8s\/everdict\.yaml|nomad\/everdict\.policy\.hcl|ci\/(github-workflow|gitlab-ci)\.yml)$/;
  expect(files.filter((file) => !known.test(file))).toEqual([]);
});
