import { existsSync } from 'node:fs';
import { endPrograms, node, type Program, processesOf, ROOT } from './cli/processes.js';

const MINUTE = 60_000;
const DEMO = `${ROOT}dist/dev/demo.js`;

afterEach(endPrograms, MINUTE);

async function dataDirOf(program: Program): Promise<string> {
  const [, dir = ''] = await program.printed(/data and logs in (\S+)/);
  return dir;
}

test(
  'the demo runs both scorecards, prints their results and leaves nothing',
  async () => {
    const program = node([DEMO]);
    const dir = await dataDirOf(program);
    await program.printed(/worker +ready/);
    expect(processesOf(dir)).not.toEqual([]);

    const { code, out, err } = await program.ended;
    expect(out).toMatch(/49 passed, 0 failed, 0 errored/);
    expect(out).toMatch(/42 passed, 6 failed, 1 errored/);
    expect(out).toMatch(/first attempt .*\nfinal .*\ninfra excluded /);
    expect(out).toMatch(/errored agent\/TIMEOUT/);
    expect(err).toMatch(/running [1-4] /);
    expect(code).toBe(0);
    expect(processesOf(dir)).toEqual([]);
    expect(existsSync(dir)).toBe(false);
  },
  3 * MINUTE,
);

test.each([
  ['while it starts', /postgres +ready/],
  ['while cases run', /running [1-4] /],
])(
  'Ctrl-C %s stops everything',
  async (_when, moment) => {
    const program = node([DEMO]);
    const dir = await dataDirOf(program);
    await program.printed(moment);
    program.child.kill('SIGINT');
    const { code, out } = await program.ended;
    expect(out).toContain('interrupted: stopping everything');
    expect(code).toBe(130);
    expect(processesOf(dir)).toEqual([]);
    expect(existsSync(dir)).toBe(false);
  },
  3 * MINUTE,
);

test('the demo names the runtimes that it runs on, and refuses others', async () => {
  const { code, out, err } = await node([DEMO, '--runtime', 'docker']).ended;

  expect([code, out]).toEqual([3, '']);
  expect(err).toContain('--runtime is "docker"; it is one of: local, nomad, k8s');
  expect((await node([DEMO, '--help']).ended).out).toMatch(/--runtime <kind>.*\n +local .*\n +nomad .*\n +k8s /);
});
