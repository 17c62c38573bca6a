import type { SpreadSec } from '../contracts/simulation.js';
import type { SimulationReply } from './simulate.command.js';
import { clock, plain, table } from './text.js';

type Future = SimulationReply['before'];

const UNKNOWN = 'nobody can say';

const timeOf = (seconds: number | null): string => (seconds === null ? UNKNOWN : clock(seconds * 1_000));

function spreadText({ p50, p90 }: SpreadSec): string {
  if (p50 === null || p50 === p90) return timeOf(p50);
  return `${timeOf(p50)}, 9 of 10 within ${p90 === null ? '?' : timeOf(p90)}`;
}

/** For people: what would become of the scorecard, both futures side by side, and what that rests on. */
export function simulationText(reply: SimulationReply, columns: number): string {
  const { runtime, limits, before, after, scorecard, assumptions, seed } = reply;
  const caps = [
    `${limits.slots} ${limits.slots === 1 ? 'slot' : 'slots'}`,
    ...(limits.memoryMb === null ? [] : [`${limits.memoryMb} MB`]),
    ...(limits.cpuMillicores === null ? [] : [`${limits.cpuMillicores} millicores`]),
  ];
  const lines = [
    `${plain(runtime)} with ${caps.join(', ')}`,
    ...(scorecard ? scorecardLines(scorecard) : []),
    '',
    futures(before, after, columns).trimEnd(),
    '',
    `${assumptions.replications} futures of seed ${seed} over these durations:`,
    durations(reply, columns).trimEnd(),
    ...assumptions.notes.map((note) => `note: ${plain(note)}`),
  ];
  return `${lines.join('\n')}\n`;
}

const scorecardLines = ({
  cases,
  firstStartSec,
  doneSec,
}: NonNullable<SimulationReply['scorecard']>): readonly string[] => [
  `${cases} cases, submitted now: the first starts in ${spreadText(firstStartSec)}`,
  `done in ${spreadText(doneSec)}`,
];

function futures(before: Future, after: Future, columns: number): string {
  const waits = (future: Future, name: string): string => {
    const found = future.waits.find(({ workspace }) => workspace === name);
    return found ? spreadText(found.wait) : '-';
  };
  const names = [...new Set([...before.waits, ...after.waits].map(({ workspace }) => workspace))];
  const row = (title: string, read: (future: Future) => string): string[] => [title, read(before), read(after)];
  const rows = [
    row('cases that start', ({ cases }) => String(cases)),
    row('all done in', ({ wallSec }) => spreadText(wallSec)),
    ...names.map((name) => [`wait of ${name}`, waits(before, name), waits(after, name)]),
    row('most slots in use', ({ peak }) => String(peak.slots)),
    row('most memory declared, MB', ({ peak }) => String(peak.memoryMb)),
    row('most CPU declared, millicores', ({ peak }) => String(peak.cpuMillicores)),
    ...(before.refused + after.refused > 0 ? [row('refused', ({ refused }) => String(refused))] : []),
  ];
  return table([{ title: '' }, { title: 'as it stands' }, { title: 'then' }], rows, columns);
}

function durations({ assumptions }: SimulationReply, columns: number): string {
  if (assumptions.durations.length === 0) return '  none: nothing of yours runs or waits there';
  const heads = [{ title: 'harness' }, { title: 'dataset' }, { title: 'cases' }, { title: 'hold a slot for' }] as const;
  const rows = assumptions.durations.map(({ harness, dataset, cases, basis, attempts, held }) => [
    ...[harness, dataset ?? '-', String(cases)],
    basis === null ? UNKNOWN : `${spreadText(held)}, by ${attempts} attempts of the same ${basis}`,
  ]);
  return table(heads, rows, columns);
}
