import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { everdict } from '../test/cli-fakes.js';

const same = (seconds: number | null) => ({ p50: seconds, p90: seconds });
const peak = { slots: 4, memoryMb: 900, cpuMillicores: 0 };
const future = {
  cases: 40,
  wallSec: same(100),
  waits: [{ workspace: 'default', cases: 40, wait: { p50: 45, p90: 90 } }],
};
const answer = (parts: object = {}) => ({
  ...{ runtime: 'desk', seed: 1, limits: { slots: 8, memoryMb: 1_000, cpuMillicores: null }, scorecard: null },
  ...{ before: { ...future, peak, refused: 0 }, after: { ...future, wallSec: same(null), peak, refused: 2 } },
  assumptions: {
    ...{ replications: 30, notes: ['waits and times count from now on'] },
    durations: [
      {
        ...{ harness: 'solver@1', dataset: 'tasks@1', cases: 40, basis: 'harness', attempts: 120 },
        held: { p50: 9, p90: 30 },
      },
      { harness: 'new@1', dataset: null, cases: 1, basis: null, attempts: 0, held: same(null) },
    ],
  },
  ...parts,
});

const bodyOf = ([request]: readonly { body?: unknown }[]): unknown => JSON.parse(String(request?.body));

test('simulate asks for other limits and shows both futures side by side', async () => {
  const { asked, out } = await everdict(['simulate', '--runtime', 'desk', '--slots', '8', '--seed', '7'], () => ({
    body: answer(),
  }));
  expect(asked[0]).toMatchObject({ method: 'POST', path: '/simulate' });
  expect(bodyOf(asked)).toEqual({ runtime: 'desk', change: { slots: 8 }, seed: 7 });
  expect(out).toBe(`desk with 8 slots, 1000 MB

                               as it stands               then
cases that start               40                         40
all done in                    1:40                       nobody can say
wait of default                0:45, 9 of 10 within 1:30  0:45, 9 of 10 within 1:30
most slots in use              4                          4
most memory declared, MB       900                        900
most CPU declared, millicores  0                          0
refused                        0                          2

30 futures of seed 1 over these durations:
harness   dataset  cases  hold a slot for
solver@1  tasks@1  40     0:09, 9 of 10 within 0:30, by 120 attempts of the same harness
new@1     -        1      nobody can say
note: waits and times count from now on
`);
});

test('simulate says when a scorecard would be done, from options or from a file', async () => {
  const scorecard = { cases: 120, firstStartSec: same(0), doneSec: { p50: 300, p90: 400 }, wait: same(100) };
  const reply = () => ({ body: answer({ scorecard }) });
  const words = ['simulate', '--dataset', 'tasks', '--harness', 'solver', '--runtime', 'desk', '--trials', '3'];
  const { asked, out } = await everdict([...words, '--tag', 'json'], reply);
  const plan = { dataset: 'tasks', harness: 'solver', runtime: 'desk', trials: 3 };
  expect(bodyOf(asked)).toEqual({ scorecard: { ...plan, cases: { tags: ['json'] } } });
  expect(out).toContain('120 cases, submitted now: the first starts in 0:00\ndone in 5:00, 9 of 10 within 6:40\n');

  const file = path.join(await mkdtemp(path.join(tmpdir(), 'everdict-plan-')), 'plan.json');
  await writeFile(file, JSON.stringify({ ...plan, metadata: { sha: 'x' } }));
  const fromFile = await everdict(['simulate', '--scorecard', file, '--json'], reply);
  expect(bodyOf(fromFile.asked)).toEqual({ scorecard: plan });
  expect(JSON.parse(fromFile.out)).toEqual(answer({ scorecard }));
});

test.each([
  [['--runtime', 'desk'], 'say what would change'],
  [['--runtime', 'desk', '--slots', '2', '--dataset', 'tasks'], 'say what would change'],
  [['--slots', '2'], "required option '--runtime <ref>' not specified"],
  [['--runtime', 'desk', '--slots', '0'], 'whole number, at least 1'],
  [['--scorecard', '/nowhere.json'], 'there is no file /nowhere.json'],
])('simulate %j is refused before anything is asked', async (words, message) => {
  const { asked, err, exitCode } = await everdict(['simulate', ...words], () => ({ body: {} }));
  expect([asked.length, exitCode]).toEqual([0, 3]);
  expect(err).toContain(message);
});
