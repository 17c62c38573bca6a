import fc from 'fast-check';
import { RuntimeSpec } from '../contracts/runtime.js';
import { demandOf, effectiveResources, envelopeOf, exceeds, imageOf } from './demand.js';

const local = RuntimeSpec.parse({ kind: 'local', id: 'desk', version: '1' });
const nomad = (parts: object = {}) =>
  RuntimeSpec.parse({
    kind: 'nomad',
    id: 'rack',
    version: '1',
    addr: 'http://nomad.example.test',
    image: 'runtime:1',
    ...parts,
  });

describe('effectiveResources', () => {
  test.each([
    [
      'the case over the harness, axis by axis',
      { cpu: 500 },
      { cpu: 900, memoryMb: 256 },
      {},
      { cpu: 500, memoryMb: 256 },
    ],
    ['the harness over the runtime', {}, { gpu: 4 }, { gpu: 1 }, { gpu: 4 }],
    ['the case over all', { gpu: 2 }, { gpu: 4 }, { gpu: 1 }, { gpu: 2 }],
    ['the runtime for gpu', {}, {}, { gpu: 1 }, { gpu: 1 }],
    ['nothing where nothing is declared', {}, {}, {}, {}],
  ])('takes %s', (_title, own, harness, runtime, want) => {
    expect(effectiveResources({ resources: own }, { resources: harness }, nomad(runtime))).toStrictEqual(want);
  });
});

describe('imageOf', () => {
  test.each([
    ['the case', { image: 'case:1' }, { image: 'harness:1' }, nomad(), 'case:1'],
    ['the harness', {}, { image: 'harness:1' }, nomad(), 'harness:1'],
    ['the runtime', {}, {}, nomad(), 'runtime:1'],
    ['nobody on local', {}, {}, local, undefined],
  ])('is that of %s', (_title, own, harness, runtime, want) => {
    expect(imageOf(own, harness, runtime)).toBe(want);
  });
});

describe('demandOf', () => {
  test('counts memory and CPU, and only what is declared', () => {
    expect(demandOf({ cpu: 500, memoryMb: 256, gpu: 1 })).toStrictEqual({ memoryMb: 256, cpuMillicores: 500 });
    expect(demandOf({ gpu: 1 })).toStrictEqual({});
  });
});

describe('exceeds', () => {
  const envelope = { slots: 4, memoryMb: 600, cpuMillicores: 2_000 };

  test.each([
    ['an exact fit', { memoryMb: 600, cpuMillicores: 2_000 }, undefined],
    ['nothing declared', {}, undefined],
    ['too much memory', { memoryMb: 1_024 }, { axis: 'memoryMb', asked: 1_024, limit: 600 }],
    ['too much CPU', { memoryMb: 1, cpuMillicores: 2_001 }, { axis: 'cpuMillicores', asked: 2_001, limit: 2_000 }],
  ])('of %s', (_title, demand, want) => {
    expect(exceeds(demand, envelope)).toEqual(want);
  });

  test('never holds where the envelope has no cap', () => {
    const demand = fc.record({ memoryMb: fc.nat(), cpuMillicores: fc.nat() }, { requiredKeys: [] });
    fc.assert(fc.property(demand, (asked) => exceeds(asked, { slots: 1 }) === undefined));
  });
});

describe('envelopeOf', () => {
  test.each([
    ['20 slots on a cluster', nomad(), { slots: 20 }],
    ['the CPU count on local', local, { slots: 8 }],
    [
      'what the spec says',
      nomad({ maxConcurrent: 3, memoryBudgetMb: 600, cpuBudgetMillicores: 2_000 }),
      { slots: 3, memoryMb: 600, cpuMillicores: 2_000 },
    ],
    ['what a local spec says', { ...local, maxConcurrent: 2 }, { slots: 2 }],
  ])('has %s', (_title, spec, want) => {
    expect(envelopeOf(spec, 8)).toStrictEqual(want);
  });
});
