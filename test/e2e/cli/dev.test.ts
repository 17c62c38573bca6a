import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { dataPaths } from '../../../dev/data-dir.js';
import { partsOn } from '../../../dev/part-processes.js';
import { signalProcess } from '../../../dev/process-id.js';
import { CLI, endPrograms, node, processesOf } from './processes.js';

const MINUTE = 60_000;
const root = mkdtempSync(path.join(tmpdir(), 'everdict-dev-e2e-'));
afterEach(endPrograms, MINUTE);
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Naps until it is woken. */
const NAPPER =
  'echo started >> "$EVERDICT_PARAM_STARTS"; until [ -e "$EVERDICT_PARAM_STARTS.over" ]; do sleep 0.2; done';
const FILES = {
  runtime: { kind: 'local', id: 'here', version: '1' },
  harness: { kind: 'command', id: 'napper', version: '1', params: { STARTS: '' }, command: NAPPER },
  dataset: { id: 'nap', version: '1', cases: [{ id: 'nap', task: '' }] },
};

/** A platform in the foreground on a data directory, and the commands that speak to it. */
async function starting(dir: string) {
  const program = node([CLI, 'dev', '--dir', dir]);
  const [, url = ''] = await program.printed(/API +(http:\S+).*Ctrl-C stops everything/s);
  const everdict = (...words: string[]) => node([CLI, ...words], { env: { EVERDICT_URL: url } }).ended;
  return { program, everdict };
}
type Platform = Awaited<ReturnType<typeof starting>>;

/** Starts a nap and returns once it runs. */
async function napping({ everdict }: Platform, dir: string) {
  const starts = path.join(dir, 'starts');
  for (const [noun, content] of Object.entries(FILES)) {
    const file = path.join(dir, `${noun}.json`);
    writeFileSync(file, JSON.stringify(content));
    expect(await everdict(noun, 'add', file)).toMatchObject({ code: 0 });
  }
  const run = ['scorecard', 'run', '--dataset', 'nap', '--harness', 'napper', '--runtime', 'here', '--no-wait'];
  const { out } = await everdict(...run, '--param', `STARTS=${starts}`);
  const id = /sc_[0-9a-z]{26}/.exec(out)?.[0] ?? '';
  for (let shown = ''; !shown.includes('running 1'); ) {
    shown = (await everdict('scorecard', 'show', id)).out;
    expect(shown).toMatch(/passed 0 {2}failed 0 {2}errored 0/);
  }
  return {
    id,
    starts: () => readFileSync(starts, 'utf8').split('\n').length - 1,
    wake: () => writeFileSync(`${starts}.over`, ''),
  };
}

const dev = (dir: string, ...words: string[]) => node([CLI, 'dev', ...words, '--dir', dir]).ended;

function aDir(name: string): string {
  const dir = path.join(root, name);
  mkdirSync(dir);
  return dir;
}

async function stopped({ program }: Platform, signal: NodeJS.Signals, dir: string): Promise<void> {
  program.child.kill(signal);
  expect((await program.ended).code).toBe(0);
  expect(processesOf(dir)).toEqual([]);
}

test(
  '`everdict dev` serves a directory once, leaves nothing running, and goes on where it was stopped',
  async () => {
    const dir = aDir('stopped');
    const first = await starting(dir);
    const { id, wake } = await napping(first, dir);

    const second = await node([CLI, 'dev', '--dir', dir]).ended;
    expect(second.out).toContain(
      `a platform already runs in ${dir} (pid ${first.program.child.pid}) and answers at http`,
    );
    expect(second.code).toBe(1);
    await stopped(first, 'SIGINT', dir);

    const third = await starting(dir);
    expect(third.program.out).toMatch(new RegExp(`going on with 1 scorecard\\n +${id} +0/1 +nap × napper`));
    wake();
    expect((await third.everdict('scorecard', 'watch', id)).code).toBe(0);
    // We cut the first attempt short, and say so instead of blaming the agent.
    const attempts = await third.everdict('run', 'attempts', `${id}.0`);
    expect(attempts.out).toMatch(/attempt 1 .*ALLOCATION_LOST.*attempt 2 .*exit code 0/s);

    expect(await dev(dir, 'status')).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^running .*postgres +pid .*temporal +pid .*api +pid .*worker +pid .*1 scorecard; unf/s,
      ),
    });
    expect(await dev(dir, 'reset', '--yes')).toMatchObject({ code: 3, err: expect.stringContaining('--stop') });
    const { code, out } = await dev(dir, 'stop');
    expect(out).toMatch(/^stopping launcher, postgres .*worker .*\nstopped; the data stays for the next start\n$/s);
    expect([code, (await third.program.ended).code, processesOf(dir)]).toEqual([0, 0, []]);
    expect(await dev(dir, 'status')).toMatchObject({ code: 4, out: expect.stringMatching(/^stopped/) });

    writeFileSync(path.join(dir, 'mine'), '');
    const asked = await dev(dir, 'reset');
    expect(asked).toMatchObject({ code: 3, out: expect.stringMatching(/MB, 1 scorecard with all results\n$/) });
    expect(asked.err).toContain('nothing was changed');
    expect((await dev(dir, 'reset', '--yes')).out).toMatch(/deleted; what is not ours stays in .*mine/);
    expect(await dev(dir, 'status')).toMatchObject({ code: 4, out: expect.stringMatching(/^nothing there/) });
  },
  3 * MINUTE,
);

test(
  'after `kill -9` of the launcher, and then of everything, the next start goes on and a running job is adopted',
  async () => {
    const dir = aDir('killed');
    const first = await starting(dir);
    const { id, starts, wake } = await napping(first, dir);
    first.program.child.kill('SIGKILL');
    await first.program.ended;
    expect(await dev(dir, 'status')).toMatchObject({ code: 1, out: expect.stringMatching(/^left over: .*0\/1/s) });

    const second = await starting(dir);
    expect(second.program.out).toMatch(/ending what an earlier start left: worker, api, temporal, postgres/);
    second.program.child.kill('SIGKILL');
    for (const { pid } of partsOn(dataPaths(realpathSync(dir)))) signalProcess(pid, 'SIGKILL');
    writeFileSync(path.join(dir, 'running.json'), '{"launcher":');

    const third = await starting(dir);
    wake();
    expect((await third.everdict('scorecard', 'watch', id)).code).toBe(0);
    expect(starts()).toBe(1);
    third.program.child.kill('SIGKILL');
    await third.program.ended;
    // Without its launcher, too, all of it can be stopped.
    expect((await dev(dir, 'stop')).out).toMatch(/worker, api, temporal, postgres\nstopped/);
    expect(processesOf(dir)).toEqual([]);
    expect((await dev(dir, 'reset', '--yes', '--keep')).out).toMatch(/moved to \S+killed\.kept-\d+T\d+;/);
  },
  3 * MINUTE,
);

test('where Temporal does not start, the program ends as soon as it has said why', async () => {
  const cli = path.join(root, 'temporal');
  writeFileSync(
    cli,
    '#!/bin/sh\n[ "$2" != start-dev ] || [ "$3" = --help ] && exit\necho "no such thing" >&2\nexit 1\n',
  );
  chmodSync(cli, 0o755);
  const program = node([CLI, 'dev', '--dir', aDir('failing')], { env: { EVERDICT_TEMPORAL_CLI: cli } });
  await program.printed(/ended with status 1\nno such thing/);
  expect((await program.ended).code).toBe(1);
}, 25_000);

test(
  'a port that was asked for by number is not replaced',
  async () => {
    const dir = aDir('port');
    const first = await starting(dir);
    const port = new URL(/API +(http:\S+)/.exec(first.program.out)?.[1] ?? '').port;
    const { code, out } = await node([CLI, 'dev', '--dir', aDir('other'), '--port', port]).ended;
    expect(out).toContain(`port ${port} is taken`);
    expect(code).toBe(1);
    await stopped(first, 'SIGINT', dir);
  },
  3 * MINUTE,
);
