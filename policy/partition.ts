import type { Demand, WorkClass } from '../contracts/admission.js';
import type { RuntimeKind } from '../contracts/runtime.js';

/** A run without outcome, as a window starts it. */
export interface OpenRun {
  runId: string;
  /** For people; cut. */
  caseId: string;
  poolId: string;
  kind: RuntimeKind;
  class: WorkClass;
  demand: Demand;
  infraRetries: number;
  /** When a slot was first asked for, epoch ms; absent: not yet. */
  askedAt?: number;
  /** The attempt to go on with. */
  attempt: number;
  /** That attempt is open, and holds its slot under this lease. */
  openSeq?: number;
  isCancelRequested: boolean;
  /** Somebody wants it before the others: those that are come first. */
  isPromoted?: true;
}

/** Runs of one window, small: 500 of them stay below 40 KB. Numbers are indexes into the lists beside. */
export interface Partition {
  class: WorkClass;
  infraRetries: number;
  /** How long a ticket may wait, seconds. */
  queueDeadlineSec: number;
  pools: [id: string, kind: RuntimeKind][];
  demands: Demand[];
  /** Times of asking count from here, epoch ms. */
  askedFrom: number;
  runs: PackedRun[];
}

/** `rest`: demand, attempt, lease of the open attempt, cancel requested, time of asking, promoted; defaults at its end are left out. */
type PackedRun = [ordinal: number, caseId: string, pool: number, ...rest: number[]];

/** The first demand, attempt 1, no lease, no cancel, not asked, not promoted. */
const DEFAULTS = [0, 1, 0, 0, 0, 0] as const;
const CASE_ID_BYTES = 32;

export function packPartition(runs: readonly OpenRun[], queueDeadlineSec: number): Partition {
  const pools = new Interned<[string, RuntimeKind]>(([id]) => id);
  const demands = new Interned<Demand>(({ memoryMb, cpuMillicores }) => `${memoryMb} ${cpuMillicores}`);
  // One less than the first, as 0 stands for none.
  const times = runs.flatMap(({ askedAt }) => askedAt ?? []);
  const askedFrom = times.length > 0 ? Math.min(...times) - 1 : 0;
  const packed = runs.map((run): PackedRun => {
    const pool = pools.indexOf([run.poolId, run.kind]);
    const asked = run.askedAt === undefined ? 0 : run.askedAt - askedFrom;
    const cancel = run.isCancelRequested ? 1 : 0;
    const promoted = run.isPromoted ? 1 : 0;
    const rest = [demands.indexOf(run.demand), run.attempt, run.openSeq ?? 0, cancel, asked, promoted] as const;
    const kept = rest.findLastIndex((value, i) => value !== DEFAULTS[i]) + 1;
    return [ordinalOf(run.runId), shortened(run.caseId), pool, ...rest.slice(0, kept)];
  });
  const { class: workClass = 'batch', infraRetries = 0 } = runs[0] ?? {};
  const shared = { class: workClass, infraRetries, queueDeadlineSec, pools: pools.items, demands: demands.items };
  return { ...shared, askedFrom, runs: packed };
}

export function unpackPartition(scorecardId: string, partition: Partition): OpenRun[] {
  const { class: workClass, infraRetries, pools, demands, askedFrom } = partition;
  return partition.runs.flatMap(
    ([ordinal, caseId, pool, demand = 0, attempt = 1, openSeq = 0, isCancelRequested = 0, asked = 0, promoted = 0]) => {
      const [poolId, kind] = pools[pool] ?? [];
      if (poolId === undefined || kind === undefined) return [];
      return {
        runId: `${scorecardId}.${ordinal}`,
        caseId,
        poolId,
        kind,
        class: workClass,
        demand: demands[demand] ?? {},
        infraRetries,
        attempt,
        ...(asked > 0 && { askedAt: askedFrom + asked }),
        ...(openSeq > 0 && { openSeq }),
        isCancelRequested: isCancelRequested === 1,
        ...(promoted === 1 && { isPromoted: true as const }),
      };
    },
  );
}

const ordinalOf = (runId: string): number => Number(runId.slice(runId.indexOf('.') + 1));

/** At most `CASE_ID_BYTES` of UTF-8, and never half a character. */
function shortened(caseId: string): string {
  let bytes = 0;
  let kept = '';
  for (const character of caseId) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes > CASE_ID_BYTES) return `${kept}…`;
    kept += character;
  }
  return kept;
}

/** Distinct items in order of appearance. */
class Interned<Item> {
  readonly items: Item[] = [];
  private readonly indexes = new Map<string, number>();

  constructor(private readonly keyOf: (item: Item) => string) {}

  indexOf(item: Item): number {
    const key = this.keyOf(item);
    const known = this.indexes.get(key);
    if (known !== undefined) return known;
    this.indexes.set(key, this.items.length);
    return this.items.push(item) - 1;
  }
}
