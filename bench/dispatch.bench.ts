import { availableParallelism } from 'node:os';
import { BareCases } from './bare.js';
import { type Figures, rounded, sum, type Table } from './figures.js';
import { benchLatency } from './latency.js';
import type { BenchPlatform } from './platform.js';
import { type CpuMs, cpuOf, peakMb, postgresMb } from './usage.js';

const CASES = 250;
const WARM_UP = 60;
/** Each kind takes its turn, so that what changes on the machine meets them all. */
const ROUNDS = 2;
const SLOTS = 40;
/** Histories that stand for all. */
const SAMPLE = Array.from({ length: 20 }, (_, i) => Math.floor((i * CASES) / 20));

/** Cases of the platform, by what their command is. */
const KINDS = { 'no-op': 'true', '20 ms': 'sleep 0.02' };
type Kind = 'bare' | keyof typeof KINDS;

interface Block {
  wallMs: number;
  cpu: CpuMs;
  eventsPerCase: number;
}

/**
 * Cases through the whole platform against as many bare Temporal workflows on the same server, in turns. The jobs' own
 * time is the CPU time of their process trees, wrapper included, divided by the cores.
 */
export async function benchDispatch(platform: BenchPlatform): Promise<Figures> {
  const bare = await BareCases.start(platform);

  const parts = { ...platform.pids, bareWorker: bare.pid };
  /** `work` returns the workflow id of the case with a number. */
  const measure = async (work: () => Promise<(index: number) => string>): Promise<Block> => {
    const before = cpuOf(parts);
    const began = performance.now();
    const caseId = await work();
    const wallMs = performance.now() - began;
    const after = cpuOf(parts);
    const names = Object.keys(before) as (keyof CpuMs)[];
    const cpu = Object.fromEntries(names.map((name) => [name, after[name] - before[name]])) as CpuMs;
    return { wallMs, cpu, eventsPerCase: await platform.meanEvents(SAMPLE.map(caseId)) };
  };
  const runBare = async () => {
    const window = await bare.run(CASES);
    return (index: number) => `${window}.${index + 1}`;
  };
  const runCases = async (kind: string) => {
    const scorecard = await platform.complete(idOf(kind));
    return (index: number) => `case:${scorecard}.${index}`;
  };
  try {
    await bare.run(WARM_UP);
    await platform.register('warm-up', SLOTS, WARM_UP, 'true');
    await platform.complete('warm-up');
    for (const [kind, command] of Object.entries(KINDS)) await platform.register(idOf(kind), SLOTS, CASES, command);

    const blocks: Record<Kind, Block[]> = { bare: [], 'no-op': [], '20 ms': [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      blocks.bare.push(await measure(runBare));
      blocks['no-op'].push(await measure(() => runCases('no-op')));
      blocks['20 ms'].push(await measure(() => runCases('20 ms')));
    }
    const memory: Table = { 'MB at most': { ...peaks(parts), postgres: postgresMb(parts.postgres) } };
    return {
      ...tables(blocks),
      memory,
      latency: await benchLatency(platform),
    };
  } finally {
    await bare.stop();
  }
}

const idOf = (kind: string): string => kind.replaceAll(' ', '-');

const peaks = ({ api, worker, temporal }: Record<'api' | 'worker' | 'temporal', number>) => ({
  api: peakMb(api),
  worker: peakMb(worker),
  temporal: peakMb(temporal),
});

function tables(blocks: Record<Kind, Block[]>): Figures {
  const throughput: Table = {};
  const cpuMsPerCase: Table = {};
  const bareMs = sum(blocks.bare.map(({ wallMs }) => wallMs));
  for (const [kind, done] of Object.entries(blocks) as [Kind, Block[]][]) {
    const cases = done.length * CASES;
    const wallMs = sum(done.map((block) => block.wallMs));
    const jobsMs = sum(done.map(({ cpu }) => cpu.jobs)) / availableParallelism();
    throughput[kind] = {
      cases,
      'cases/s': rounded((cases / wallMs) * 1_000, 1),
      'of which rounds': done.map((block) => rounded((CASES / block.wallMs) * 1_000, 1)).join(' '),
      ratio: rounded(wallMs / bareMs, 2),
      'ratio without jobs': rounded((wallMs - jobsMs) / bareMs, 2),
      'events/case': rounded(sum(done.map(({ eventsPerCase }) => eventsPerCase)) / done.length, 1),
    };
    const names = Object.keys(done[0]?.cpu ?? {}) as (keyof CpuMs)[];
    cpuMsPerCase[kind] = Object.fromEntries(
      names.map((name) => [name, rounded(sum(done.map(({ cpu }) => cpu[name])) / cases, 1)]),
    );
  }
  return { throughput, 'CPU ms per case': cpuMsPerCase };
}
