import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NomadRuntimeSpec } from '../../contracts/runtime.js';
import { FakeNomad } from '../../dev/fake-nomad/fake-nomad.js';
import { buildPayload } from '../../policy/payload.js';
import type { Program } from '../../policy/process-job.js';
import { aNomadRuntime } from '../../test/builders.js';
import { eventually } from '../../test/eventually.js';
import { nomadCalls } from '../../test/nomad-calls.js';
import { nomadJob } from './nomad.job.js';
import { PAYLOAD_DIR } from './nomad.templates.js';

let fake: FakeNomad;
let nomad: ReturnType<typeof nomadCalls>;
beforeAll(async () => {
  fake = await FakeNomad.start();
  nomad = nomadCalls(fake);
});
afterAll(() => fake.stop());

const NONCE = '0123456789abcdef';
const WRAPPER = new URL('../../wrapper/wrapper.sh', import.meta.url);
const NASTY = `{{ env "HOME" }} \${attr.cpu.arch} $\${Y} $$ %{ if } %%{ '"\\ \u0001< \u0001<< \r\n é🙂`;

interface Parts {
  driver: string;
  payload: Map<string, Uint8Array>;
  program?: Program;
  caseId?: string;
}

/** Registers a job and returns the directory of its task, and what its stdout holds once that satisfies. */
async function run(
  name: string,
  { driver, caseId = 'a', ...job }: Parts,
  isSo: (stdout: string) => boolean,
): Promise<{ task: string; stdout: string }> {
  const owner = { deployment: 'lab', workspaceId: 'default', runId: name, caseId, attempt: 1, expiresAt: 0 };
  const spec = aNomadRuntime({ driver }) as NomadRuntimeSpec;
  const document = nomadJob(
    { image: 'debian:12', resources: {}, lifeMs: 60_000, owner, ...job },
    { name, nonce: NONCE },
    spec,
    '1.6.10',
  );
  const { status, text } = await nomad.register(document, { EnforceIndex: true, JobModifyIndex: 0 });
  if (status !== 200) throw new Error(text);
  const { ID } = await nomad.allocation(name, ({ ClientStatus }) => ClientStatus !== 'pending');
  const directory = join(fake.cluster.root, ID);
  const stdout = await eventually(`the output of ${name}`, async () => {
    const printed = await readFile(join(directory, 'alloc/logs/case.stdout.0'), 'utf8').catch(() => '');
    return isSo(printed) ? printed : undefined;
  });
  await nomad.remove(name);
  return { task: join(directory, 'case'), stdout };
}

test.each(['raw_exec', 'docker'])(
  'N27 C25 with driver %s the wrapper gets its payload byte for byte, and runs it',
  async (driver) => {
    const payload = buildPayload({
      wrapper: await readFile(WRAPPER, 'utf8'),
      runId: 'run_1',
      caseId: 'a',
      task: NASTY.padEnd(300_000, '{{${\u0001<'),
      files: { text: NASTY, binary: { hex: '00ff0180'.repeat(20_000) }, empty: '' },
      setup: [],
      command: `env | sed -n 's/^\\([A-Z_a-z]*\\)=.*/\\1/p' | sort | tr '\\n' ' '; echo; echo "[$TPL]"; wc -c <empty; wc -c <binary; cmp text text && X=1 && echo \${X}`,
      graders: [],
      env: { TPL: NASTY },
      params: {},
      timers: { setupSec: 20, timeoutSec: 20, graderSec: 20, graceSec: 1, lingerSec: 60 },
      answerLimit: 262_144,
    });
    const { task, stdout } = await run(`wrapped-${driver}`, { driver, payload }, (text) =>
      /^\S+ \S+ end \d+$/m.test(text),
    );

    for (const [file, bytes] of payload) {
      expect([file, (await readFile(join(task, PAYLOAD_DIR, file))).equals(bytes)]).toEqual([file, true]);
    }
    expect(stdout).toContain(`__EVERDICT_RESULT__ ${NONCE} status 0`);
    const [names = '', ...lines] = stdout.split('\n__EVERDICT_RESULT__')[0]?.split('\n') ?? [];
    expect(lines.join('\n')).toBe(`[${NASTY}]\n0\n80000\n1\n`);
    const ours = names
      .trim()
      .split(' ')
      .filter((name) => !/^(NOMAD_.*|(OLD)?PWD)$/.test(name));
    expect(ours).toEqual([
      ...['EVERDICT_ANSWER_FILE', 'EVERDICT_ATTEMPT', 'EVERDICT_CASE_ID', 'EVERDICT_RUN_ID', 'EVERDICT_TASK_FILE'],
      ...['EVERDICT_USAGE_FILE', 'HOME', 'PATH', 'TMPDIR', 'TPL'],
    ]);
    expect(stdout).not.toContain(`NONCE=${NONCE}`);
  },
);

test('N27 a program gets its arguments and its variables as they were written, and nothing of its node', async () => {
  const program = {
    entrypoint: [
      '/bin/sh',
      '-c',
      `printf '%s|' "$@" "$TPL" "$EVERDICT_NONCE" "$NOMAD_META_case"; cat "$2/job.json"`,
      'x',
      NASTY,
    ],
    env: { TPL: NASTY },
  };
  const payload = new Map([['job.json', Buffer.from('{}\n')]]);
  const { task, stdout } = await run('program', { driver: 'exec', payload, program, caseId: NASTY }, (text) =>
    text.endsWith('{}\n'),
  );
  expect(stdout).toBe([NASTY, join(task, PAYLOAD_DIR), NASTY, NONCE, NASTY, '{}\n'].join('|'));
});
