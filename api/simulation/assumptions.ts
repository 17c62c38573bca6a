import type { Assumptions } from '../../contracts/simulation.js';
import type { Load } from '../../policy/admission/load.js';
import type { Simulated } from '../../policy/admission/simulate.js';
import type { SpecNames } from '../../store/pool-load.store.js';
import type { GroupDurations } from './loads.service.js';

interface Told {
  load: Load;
  durations: ReadonlyMap<string, GroupDurations>;
  names: SpecNames;
  simulated: Simulated;
  /** Whether who asks may see what is a workspace's. */
  isShown: (workspace: string) => boolean;
}

type Duration = Assumptions['durations'][number];

/** What a simulation took for granted. */
export function assumptionsOf({ load, durations, names, simulated, isShown }: Told): Assumptions {
  const cases = new Map<string, number>();
  let unknown = 0;
  for (const { group, workspace, count } of casesOf(load)) {
    if (!durations.get(group)?.known) unknown += count;
    if (isShown(workspace)) cases.set(group, (cases.get(group) ?? 0) + count);
  }
  return {
    replications: simulated.courses.length,
    durations: [...cases].flatMap(([group, count]) => {
      const found = durations.get(group);
      return found ? [durationView(found, count, names)] : [];
    }),
    notes: notesOn(load, simulated, unknown),
  };
}

const casesOf = ({ leases, tickets, backlogs }: Load) => [
  ...[...leases, ...tickets].map(({ group, workspace }) => ({ group, workspace, count: 1 })),
  ...backlogs,
];

function durationView({ key, known }: GroupDurations, cases: number, names: SpecNames): Duration {
  const seconds = (ms: number | undefined): number | null => (ms === undefined ? null : Math.round(ms / 100) / 10);
  return {
    harness: names.harnesses.get(key.harnessPk) ?? '',
    dataset: (key.datasetPk !== undefined && names.datasets.get(key.datasetPk)) || null,
    cases,
    basis: known?.source ?? null,
    attempts: known?.attempts ?? 0,
    held: { p50: seconds(known?.p50Ms), p90: seconds(known?.p90Ms) },
  };
}

function notesOn(load: Load, { together }: Simulated, unknown: number): string[] {
  const { dial, pausedScorecards } = load.limits;
  const isPartlySeen = load.backlogs.some(({ count, demands }) => demands.length < count);
  const hasSessions = [...load.tickets, ...load.leases].some(({ demand }) => demand.sessionPool !== undefined);
  return [
    'waits and times count from now on',
    ...(unknown > 0 ? [`nobody knows how long ${unknown} of the cases take: what depends on them has no time`] : []),
    ...(together > 1 ? [`queued cases go ${together} at a time, one after the other in one slot`] : []),
    ...(isPartlySeen ? ['queued cases declare what the first of their scorecard declare, over and over'] : []),
    ...(dial ? [`the dial of the runtime stays ${dial.mode}, with the limits it sets`] : []),
    ...(pausedScorecards.length > 0 ? ['paused scorecards stay paused'] : []),
    ...(hasSessions ? ['live session pools have room for every case'] : []),
  ];
}
