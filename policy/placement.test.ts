import fc from 'fast-check';
import type { Envelope } from '../contracts/runtime.js';
import { aCase, aHarness, aK8sRuntime, aNomadRuntime, aRuntime } from '../test/builders.js';
import { siteFaults } from './capabilities.js';
import { type Candidate, Placement } from './placement.js';

const FLAGS = { allowLocalRuntimes: true, allowUnisolatedDrivers: true, allowAmbientKubeconfig: false };

interface Parts {
  capabilities?: string[];
  envelope?: Envelope;
  limits?: Partial<Envelope>;
  load?: Partial<Candidate['load']>;
  isOpen?: boolean;
}

const site = (id: string, { capabilities, envelope = { slots: 4 }, limits, load, isOpen = true }: Parts = {}) => ({
  spec: aRuntime({ id, ...(capabilities && { capabilities }) }),
  envelope,
  inForce: { envelope: { ...envelope, ...limits }, isOpen },
  load: { slots: 0, memoryMb: 0, cpuMillicores: 0, ...load },
});

function place(sites: readonly Candidate[], cases = [aCase()], harness = aHarness()) {
  const placement = new Placement(sites, harness, FLAGS);
  for (const each of cases) placement.add(each);
  const choice = placement.choose();
  return 'site' in choice ? choice.site.spec.id : choice.refusals;
}

const browser = (id: string) => aCase({ id, env: { kind: 'browser' } });
const heavy = (id: string, memoryMb: number) => aCase({ id, resources: { memoryMb } });

describe('the runtime is', () => {
  const half = { slots: 5 };
  test.each<[string, Candidate[], string]>([
    ['the first by id of equal ones', [site('b'), site('a')], 'a'],
    ['that with the larger free part', [site('a', { load: { slots: 2 } }), site('b', { load: { slots: 1 } })], 'b'],
    [
      'relative to its size, not the one with more free slots',
      [site('a', { envelope: { slots: 100 }, load: { slots: 60 } }), site('b', { load: { slots: 1 } })],
      'b',
    ],
    ['of idle ones the larger', [site('a'), site('b', { envelope: { slots: 9 } })], 'b'],
    [
      'of overrun ones that which is overrun less',
      [site('a', { load: { slots: 90 } }), site('b', { load: { slots: 80 } })],
      'b',
    ],
    ['none that is paused, while another is open', [site('a', { isOpen: false }), site('b', { load: half })], 'b'],
    ['one that is paused, if there is no other', [site('a', { isOpen: false })], 'a'],
    ['measured by lower limits for now', [site('a', { limits: { slots: 1 }, load: { slots: 1 } }), site('b')], 'b'],
    [
      'not the one whose memory is used up, as no case declares memory',
      [site('b'), site('a', { envelope: { slots: 4, memoryMb: 10 }, load: { memoryMb: 10 } })],
      'a',
    ],
  ])('%s', (_title, sites, want) => {
    expect(place(sites)).toBe(want);
  });

  test('measured by what is scarcest of what cases declare', () => {
    const envelope = { slots: 10, memoryMb: 1_000, cpuMillicores: 1_000 };
    const sites = [
      site('a', { envelope, load: { slots: 1, memoryMb: 900 } }),
      site('b', { envelope, load: { slots: 5, cpuMillicores: 1_000 } }),
    ];
    expect(place(sites, [heavy('x', 100)])).toBe('b');
    expect(place(sites)).toBe('a');
  });

  test('only one that satisfies every case', () => {
    const sites = [
      site('a', { capabilities: ['browser'] }),
      site('b', { envelope: { slots: 4, memoryMb: 4_000 }, load: { slots: 4 }, capabilities: ['browser'] }),
      site('c'),
    ];
    expect(place(sites, [aCase(), browser('x')])).toBe('a');
    const capped = [site('a', { envelope: { slots: 4, memoryMb: 100 } }), site('b', { load: { slots: 9 } })];
    expect(place(capped, [heavy('x', 100)])).toBe('a');
    expect(place(capped, [heavy('x', 101), aCase()])).toBe('b');
    expect(place(capped, [aCase()], aHarness({ resources: { memoryMb: 101 } }))).toBe('b');
  });
});

describe('where none satisfies every case', () => {
  test('it is said what none meets, and how many lack the rest', () => {
    const sites = [
      site('a', { capabilities: ['browser'], envelope: { slots: 4, memoryMb: 100 } }),
      site('b', { capabilities: ['browser'], envelope: { slots: 4, memoryMb: 200 } }),
      site('c'),
    ];
    const cases = [
      browser('web'),
      heavy('small', 50),
      heavy('big', 150),
      aCase({ id: 'net', network: { mode: 'none' } }),
    ];
    expect(place(sites, cases)).toEqual([
      expect.stringMatching(/^none of 3 runtimes meets `network.mode` none \(case "net": /),
      expect.stringMatching(/^1 of 3 runtimes do not meet `env.kind` browser \(case "web": .*capability browser/),
      expect.stringMatching(
        /^1 of 3 runtimes do not meet `resources.memoryMb` \(case "big": declares 150; .* a admits 100 /,
      ),
    ]);
  });

  test('needs that different runtimes meet are told apart', () => {
    const sites = [site('a', { capabilities: ['computer-use', 'os-windows'] }), site('b')];
    const os = (id: string, name: string) => aCase({ id, env: { kind: 'os-use', os: name } });
    expect(place(sites, [os('w', 'windows'), os('m', 'macos')])).toEqual([
      expect.stringContaining('none of 2 runtimes meets `env.os` macos'),
      expect.stringContaining('1 of 2 runtimes do not meet `env.kind` os-use'),
      expect.stringContaining('1 of 2 runtimes do not meet `env.os` windows'),
    ]);
  });
});

test('chooses exactly what satisfies each case by itself', () => {
  const capability = fc.subarray(['browser', 'computer-use', 'os-windows', 'sandbox', 'gpu', 'git']);
  const specs = fc.oneof(
    capability.map((capabilities) => aRuntime({ capabilities })),
    fc
      .tuple(capability, fc.boolean())
      .map(([capabilities, hasClock]) =>
        aNomadRuntime({ capabilities, driver: 'docker', ...(hasClock && { cpuMhzPerCore: 2_000 }) }),
      ),
    capability.map((capabilities) => aK8sRuntime({ capabilities })),
  );
  const maybe = (values: unknown[]) => fc.constantFrom(undefined, ...values);
  const cases = fc.array(
    fc
      .record({
        env: maybe([{ kind: 'browser' }, { kind: 'os-use', os: 'windows' }, { kind: 'os-use', os: 'linux' }]),
        image: maybe(['a:1', 'a:.b']),
        resources: maybe([
          { cpu: 100 },
          { memoryMb: 7 },
          { memoryMb: 5 },
          { memoryMb: 300 },
          { gpu: 1 },
          { cpu: 900, memoryMb: 100 },
        ]),
        network: maybe([{ mode: 'none' }, { mode: 'public' }]),
        placement: maybe([{ isolation: 'sandbox' }, { os: 'windows' }, { os: 'linux' }]),
      })
      .map((parts) => aCase(JSON.parse(JSON.stringify(parts)))),
    { maxLength: 6 },
  );
  const envelope = fc.constantFrom<Envelope>(
    { slots: 4 },
    { slots: 4, memoryMb: 200 },
    { slots: 4, cpuMillicores: 500 },
  );
  fc.assert(
    fc.property(specs, envelope, cases, (spec, limits, all) => {
      const harness = aHarness();
      const candidate = { ...site('x', { envelope: limits }), spec };
      const fitsAll = all.every(
        (each) =>
          siteFaults(each, harness, spec, FLAGS).length === 0 &&
          (each.resources?.memoryMb ?? 0) <= (limits.memoryMb ?? 1e9) &&
          (each.resources?.cpu ?? 0) <= (limits.cpuMillicores ?? 1e9),
      );
      expect(place([candidate], all, harness)).toEqual(fitsAll ? spec.id : expect.any(Array));
    }),
  );
});
