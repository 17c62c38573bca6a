import type { NomadRuntimeSpec } from '../../contracts/runtime.js';
import { effectiveResources } from '../../policy/demand.js';
import { aCase, aHarness, aNomadRuntime } from '../../test/builders.js';
import type { AllocationRef, Job } from '../backend.js';
import { attestedOf, DISK_MB, LOG_FILE_MB, LOG_FILES, nomadJob } from './nomad.job.js';
import { enforcedOf } from './nomad.resources.js';

const ALLOCATION: AllocationRef = { name: 'lab-run-01-2', nonce: '00ff' };
const NONCE_LINE = { EVERDICT_ATTEMPT: 'lab-run-01-2', EVERDICT_NONCE: '00ff' };

const aSpec = (parts: Record<string, unknown> = {}) => aNomadRuntime(parts) as NomadRuntimeSpec;

const aJob = (parts: Partial<Job> = {}): Job => ({
  payload: new Map([['wrapper.sh', Buffer.from('echo hello\n')]]),
  image: 'debian:12',
  resources: {},
  lifeMs: 60_000,
  owner: {
    deployment: 'lab',
    workspaceId: 'default',
    scorecardId: 'sc_1',
    runId: 'run_01',
    caseId: 'case-1',
    attempt: 2,
    expiresAt: Date.UTC(2026, 0, 2),
  },
  ...parts,
});

const render = (parts: Partial<Job> = {}, spec: Record<string, unknown> = {}, version?: string) => {
  const document = nomadJob(aJob(parts), ALLOCATION, aSpec(spec), version);
  const [group] = document.TaskGroups;
  return { document, group, task: group.Tasks[0] };
};

test('N21 the document of a job: placed once, started once, with all that tells whose it is', () => {
  expect(render().document).toEqual({
    ID: 'lab-run-01-2',
    Name: 'lab-run-01-2',
    Type: 'batch',
    Namespace: 'default',
    Datacenters: ['*'],
    Meta: {
      deployment: 'lab',
      workspace: 'default',
      scorecard: 'sc_1',
      run: 'run_01',
      attempt: '2',
      case: 'case-1',
      expires: '2026-01-02T00:00:00.000Z',
    },
    TaskGroups: [
      {
        Name: 'case',
        Count: 1,
        RestartPolicy: { Attempts: 0, Mode: 'fail', Interval: 86_400_000_000_000, Delay: 0 },
        ReschedulePolicy: { Attempts: 0, Unlimited: false },
        Disconnect: { Replace: false },
        EphemeralDisk: { SizeMB: 500 },
        Tasks: [
          {
            Name: 'case',
            Driver: 'docker',
            Config: {
              image: 'debian:12',
              entrypoint: ['/bin/sh'],
              args: [
                `\${NOMAD_SECRETS_DIR}/everdict/wrapper.sh`,
                `\${NOMAD_SECRETS_DIR}/everdict`,
                `\${NOMAD_TASK_DIR}`,
              ],
              force_pull: false,
            },
            Env: NONCE_LINE,
            Templates: [
              {
                EmbeddedTmpl: 'echo hello\n',
                DestPath: 'secrets/everdict/wrapper.sh',
                ChangeMode: 'noop',
                Perms: '0644',
                LeftDelim: '\u0001<',
                RightDelim: '\u0001>',
              },
            ],
            Resources: { CPU: 1_000, MemoryMB: 1_024 },
            LogConfig: { MaxFiles: 10, MaxFileSizeMB: 10 },
            KillTimeout: 5_000_000_000,
            KillSignal: 'SIGTERM',
          },
        ],
      },
    ],
  });
});

test('N09 what a client keeps of both streams fits the disk that is asked for', () => {
  const { EphemeralDisk, Tasks } = render().group;
  const { MaxFiles, MaxFileSizeMB } = Tasks[0].LogConfig;
  expect([MaxFiles, MaxFileSizeMB, EphemeralDisk.SizeMB]).toEqual([LOG_FILES, LOG_FILE_MB, DISK_MB]);
  expect(2 * MaxFiles * MaxFileSizeMB).toBeLessThan(EphemeralDisk.SizeMB);
});

test.each([
  ['1.6.10', { StopAfterClientDisconnect: 86_400_000_000_000 }],
  ['1.7.7-dev+ent', { StopAfterClientDisconnect: 86_400_000_000_000 }],
  ['1.8.0', { Disconnect: { Replace: false } }],
  ['1.10.3', { Disconnect: { Replace: false } }],
  ['2.0.5', { Disconnect: { Replace: false } }],
  [undefined, { Disconnect: { Replace: false } }],
])('Nomad %s places no second copy of what it lost sight of', (version, want) => {
  const { Disconnect, StopAfterClientDisconnect } = render({}, {}, version).group;
  expect({ Disconnect, StopAfterClientDisconnect }).toEqual({
    Disconnect: undefined,
    StopAfterClientDisconnect: undefined,
    ...want,
  });
});

describe('drivers', () => {
  const LINE = [`\${NOMAD_SECRETS_DIR}/everdict/wrapper.sh`, `\${NOMAD_SECRETS_DIR}/everdict`, `\${NOMAD_TASK_DIR}`];

  test.each(['exec', 'raw_exec'])('%s starts a shell of its host, whatever image there is', (driver) => {
    const { task } = render({ registry: { username: 'u', password: 'p' } }, { driver, runtime: 'runsc' });
    expect([task.Driver, task.Config]).toEqual([driver, { command: '/bin/sh', args: LINE }]);
  });

  test('podman overrides the entrypoint of an image as docker does', () => {
    const { task } = render({}, { driver: 'podman', runtime: 'runsc' });
    expect(task.Config).toEqual({ image: 'debian:12', entrypoint: ['/bin/sh'], args: LINE, force_pull: false });
  });

  test('docker is told the runtime of the spec', () => {
    expect(render({}, { runtime: 'runsc' }).task.Config).toMatchObject({ runtime: 'runsc' });
    expect(render().task.Config).not.toHaveProperty('runtime');
  });

  test('C27 the credential of a registry is where the driver looks for it, and nowhere else', () => {
    const registry = { username: 'rob', password: `p\${attr.x}%{` };
    for (const driver of ['docker', 'podman']) {
      const { document, task } = render({ registry }, { driver });
      expect(task.Config).toMatchObject({ auth: { username: 'rob', password: `p$\${attr.x}%%{` } });
      const elsewhere = { ...task, Config: { ...task.Config, auth: undefined } };
      expect(JSON.stringify([elsewhere, document.Meta])).not.toContain('attr.x');
    }
    expect(render().task.Config).not.toHaveProperty('auth');
  });

  test('a container driver without an image is refused', () => {
    expect(() => render({ image: undefined })).toThrow(expect.objectContaining({ code: 'BAD_SPEC' }));
  });
});

describe('programs', () => {
  const program = (entrypoint: string[], env: Record<string, string> = {}) => ({ program: { entrypoint, env } });

  test('a program is started without a shell, and is told where its payload is', () => {
    const parts = program(['/bin/agent', '--fast'], { MODEL: 'm' });
    const PAYLOAD = `\${NOMAD_SECRETS_DIR}/everdict`;
    const { task } = render(parts);
    expect(task.Config).toMatchObject({ entrypoint: ['/bin/agent'], args: ['--fast', PAYLOAD] });
    expect(task.Env).toEqual({ MODEL: 'm', ...NONCE_LINE });
    expect(render(parts, { driver: 'exec' }).task.Config).toEqual({ command: '/bin/agent', args: ['--fast', PAYLOAD] });
  });

  test('N27 what looks like an interpolation arrives as it was written', () => {
    const { task } = render(
      program(['sh', `\${X} $\${Y} $$\${Z} $W %{if} %%{a} 100% $`], { TPL: `$\${attr.cpu.arch} $A` }),
    );
    // As Nomad's own parser has it, twice the mark stands for one, whatever stands before it.
    expect(task.Config.args[0]).toBe(`$\${X} $$\${Y} $$$\${Z} $W %%{if} %%%{a} 100% $`);
    // The values of variables know no escape.
    expect(task.Env.TPL).toBe(`$\${NOMAD_META_dollar}{attr.cpu.arch} $A`);
    expect(task.Meta).toEqual({ dollar: '$' });
    expect(render(program(['sh'], { A: '$A 100%' })).task).not.toHaveProperty('Meta');
  });

  test('a program is not told another nonce by its harness', () => {
    expect(render(program(['x'], { EVERDICT_NONCE: 'mine' })).task.Env).toEqual(NONCE_LINE);
  });
});

test('C25 the environment of a wrapper is a closed list, and holds nothing of the payload', () => {
  const payload = new Map([
    ['wrapper.sh', Buffer.from('')],
    ['git-credential', Buffer.from('password=s3cret\n')],
  ]);
  const { task } = render({ payload, registry: { username: 'u', password: 'pa55' } });
  expect(Object.keys(task.Env).sort()).toEqual(['EVERDICT_ATTEMPT', 'EVERDICT_NONCE']);
  const base64 = Buffer.from('s3cret').toString('base64').slice(0, 6);
  const { auth: _, ...config } = task.Config as { auth?: unknown };
  for (const value of ['s3cret', 'pa55', base64]) expect(JSON.stringify([task.Env, config])).not.toContain(value);
});

describe('meta', () => {
  const owner = aJob().owner;

  test('N25 a case keeps its own id, whatever characters it has', () => {
    for (const caseId of ['suite a/b?c#1', 'x/plan', 'é/🙂', 'x'.repeat(300)]) {
      expect(render({ owner: { ...owner, caseId } }).document.Meta.case).toBe(caseId);
    }
  });

  test('N27 an id that looks like an interpolation stays in meta, and shows a job nothing of its node', () => {
    const { document, task } = render({ owner: { ...owner, caseId: `\${meta.token}` } });
    expect(document.Meta.case).toBe(`\${meta.token}`);
    const said = `\${NOMAD_META_dollar}{meta.token}`;
    expect(task.Env).toEqual({ NOMAD_META_case: said, NOMAD_META_CASE: said, ...NONCE_LINE });
    expect(task.Meta).toEqual({ dollar: '$' });
  });
});

describe('resources', () => {
  const CONSTRAINT = { attribute: `\${node.class}`, value: 'gpu' };
  const asked = (at: { case?: object; harness?: object }, spec: Record<string, unknown>) => {
    const { cpu, ...rest } = effectiveResources(
      aCase({ resources: at.case }),
      aHarness({ resources: at.harness }),
      aSpec(spec),
    );
    return render({ resources: { ...rest, cpuMillicores: cpu } }, spec);
  };

  test('D29 a GPU is a device, a constraint is the one of the runtime, and the record repeats both', () => {
    const spec = { gpu: 2, constraints: [CONSTRAINT], runtime: 'runsc' };
    const { group, task } = asked({}, spec);
    expect(task.Resources.Devices).toEqual([{ Name: 'nvidia/gpu', Count: 2 }]);
    expect(group.Constraints).toEqual([{ LTarget: `\${node.class}`, Operand: '=', RTarget: 'gpu' }]);
    expect(attestedOf(aJob({ resources: { gpu: 2 } }), aSpec(spec))).toEqual({
      driver: 'docker',
      image: 'debian:12',
      runtime: 'runsc',
      datacenters: ['*'],
      constraints: [{ ...CONSTRAINT, operator: '=' }],
      enforced: { cpu: { mhz: 1_000 }, memoryMb: 1_024, gpu: 2 },
    });
  });

  test.each([
    ['harness over runtime', { harness: { gpu: 4 } }, 4],
    ['case over harness', { case: { gpu: 3 }, harness: { gpu: 4 } }, 3],
  ])('D29 %s', (_, at, count) => {
    expect(asked(at, { gpu: 1 }).task.Resources.Devices).toEqual([{ Name: 'nvidia/gpu', Count: count }]);
  });

  test('D29 where nothing is declared, nothing is asked for', () => {
    const { group, task } = asked({}, {});
    expect(group).not.toHaveProperty('Constraints');
    expect(task.Resources).toEqual({ CPU: 1_000, MemoryMB: 1_024 });
    expect(attestedOf(aJob(), aSpec())).not.toHaveProperty('constraints');
  });

  test.each([
    [500, 2_400, 1_200],
    [1_500, 2_596, 3_894],
    [333, 2_500, 833],
    [1, 100, 1],
  ])('%i millicores of cores of %i MHz are %i MHz, in the document and in the record', (cpuMillicores, clock, mhz) => {
    const parts = { resources: { cpuMillicores, memoryMb: 64 } };
    const spec = { cpuMhzPerCore: clock };
    expect(render(parts, spec).task.Resources).toEqual({ CPU: mhz, MemoryMB: 64 });
    expect(enforcedOf(aJob(parts), aSpec(spec))).toEqual({ cpu: { mhz, millicores: cpuMillicores }, memoryMb: 64 });
  });

  test('CPU without a clock is refused by the name of the field', () => {
    for (const driver of ['docker', 'podman', 'exec']) {
      const refused = expect.objectContaining({ code: 'BAD_SPEC', message: expect.stringContaining('cpuMhzPerCore') });
      expect(() => render({ resources: { cpuMillicores: 500 } }, { driver })).toThrow(refused);
    }
  });

  test('raw_exec enforces nothing, and takes what is declared without a clock as the default', () => {
    const parts = { resources: { cpuMillicores: 500, memoryMb: 2_048, gpu: 1 } };
    const spec = { driver: 'raw_exec' };
    expect(render(parts, spec).task.Resources).toMatchObject({ CPU: 1_000, MemoryMB: 2_048 });
    expect(enforcedOf(aJob(parts), aSpec(spec))).toEqual({ cpu: false, memoryMb: false, gpu: false });
    expect(attestedOf(aJob(parts), aSpec(spec))).not.toHaveProperty('image');
  });
});

describe('a payload of many files', () => {
  const payload = new Map(Array.from({ length: 300 }, (_, index) => [`file.${index}`, Buffer.from('x')]));

  test('is given room where Nomad can be asked for it', () => {
    expect(render({ payload }, {}, '1.10.0').task.Resources).toMatchObject({ SecretsMB: 2 });
    const few = new Map([...payload].slice(0, 200));
    expect(render({ payload: few }, {}, '1.10.0').task.Resources).not.toHaveProperty('SecretsMB');
    expect(render({ payload: few }, {}, '1.6.1').task.Templates).toHaveLength(200);
  });

  test.each([['1.6.1'], ['1.9.7'], [undefined]])('is refused with Nomad %s, which has 1 MB for it', (version) => {
    const refused = expect.objectContaining({
      code: 'PAYLOAD_TOO_LARGE',
      message: expect.stringContaining('300 files'),
    });
    expect(() => render({ payload }, {}, version)).toThrow(refused);
  });
});
