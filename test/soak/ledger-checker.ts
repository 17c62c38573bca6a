import type { JobNote } from './job-ledger.js';

/** Limits of a pool that were announced at some time. */
export interface Era {
  pool: string;
  /** Seconds since boot. */
  at: number;
  /** The number of a lease: all with a higher one were granted under these limits, or later ones. */
  afterSeq: number;
  slots: number;
  memoryMb?: number;
}

/** What the jobs wrote, and what they are held to. */
export interface Ruled {
  notes: readonly JobNote[];
  /** In the order in which they were announced. */
  eras: readonly Era[];
  /** Jobs at once, by workspace, over all pools. */
  quotas: Readonly<Record<string, number>>;
  /** Number of the lease of an attempt, by `<run> <attempt>`. */
  seqs: ReadonlyMap<string, number>;
}

const nameOf = ({ runId, attempt }: Pick<JobNote, 'runId' | 'attempt'>): string => `${runId} ${attempt}`;

/**
 * What is wrong with what the jobs wrote, each job being looked at when it starts. Knows nothing of the product but what
 * a lease's number means: they rise in the order of grants.
 */
export function ledgerFaults(ruled: Ruled): string[] {
  const ended = new Set(ruled.notes.filter(({ what }) => what === 'end').map(nameOf));
  const started = new Set<string>();
  const running = new Map<string, JobNote>();
  const faults: string[] = [];
  for (const note of ruled.notes) {
    const name = nameOf(note);
    if (note.what === 'end') running.delete(name);
    else if (started.has(name)) faults.push(`${name} started twice`);
    else {
      started.add(name);
      const others = [...running.values()];
      faults.push(...startFaults(note, others, ruled));
      // One that was killed noted no end: nobody can tell how long it ran.
      if (ended.has(name)) running.set(name, note);
    }
  }
  return faults;
}

function startFaults(note: JobNote, others: readonly JobNote[], { eras, quotas, seqs }: Ruled): string[] {
  const { runId, workspace, pool } = note;
  const name = nameOf(note);
  const seq = seqs.get(name);
  if (seq === undefined) return [`${name} started, and no row knows of it`];
  const faults: string[] = [];
  const twin = others.find((other) => other.runId === runId);
  if (twin) faults.push(`${name} started while ${nameOf(twin)} ran`);
  const ofWorkspace = others.filter((other) => other.workspace === workspace).length + 1;
  const quota = quotas[workspace] ?? Number.POSITIVE_INFINITY;
  if (ofWorkspace > quota) faults.push(`${name} is number ${ofWorkspace} of ${workspace}, which may run ${quota}`);

  const here = others.filter((other) => other.pool === pool);
  const most = limitsOf(note, seq, eras);
  if (here.length + 1 > most.slots)
    faults.push(`${name} is number ${here.length + 1} on ${most.slots} slots of ${pool}`);
  const memoryMb = here.reduce((sum, other) => sum + other.memoryMb, note.memoryMb);
  if (note.memoryMb > 0 && memoryMb > most.memoryMb) {
    faults.push(`with ${name} ${memoryMb} of ${most.memoryMb} MB of ${pool} are in use`);
  }
  return faults;
}

/** The highest limits that were in force at any time between its grant and its start. */
function limitsOf({ pool, at }: JobNote, seq: number, eras: readonly Era[]): { slots: number; memoryMb: number } {
  const known = eras.filter((era) => era.pool === pool && era.at <= at);
  const grantedIn = known.findLastIndex(({ afterSeq }) => seq > afterSeq);
  const possible = known.slice(Math.max(0, grantedIn));
  return {
    slots: Math.max(...possible.map(({ slots }) => slots)),
    memoryMb: Math.max(...possible.map(({ memoryMb = Number.POSITIVE_INFINITY }) => memoryMb)),
  };
}
