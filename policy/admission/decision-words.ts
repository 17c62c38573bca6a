import type { DecisionView } from '../../contracts/admission-view.js';
import type { DecisionRecord } from '../../contracts/decisions.js';

type Granted = Extract<DecisionRecord, { what: 'granted' }>;

const WHY: Record<Granted['by'], string> = {
  order: 'first in order that fits',
  ageing: 'waited long: its turn among interactive ones',
  reservation: 'room was kept for it',
  'back-fill': 'ends before what room is kept for can start',
};
const UNITS = { memoryMb: 'MB', cpuMillicores: 'millicores' } as const;

/** A decision as people read it. */
export const decisionView = (record: DecisionRecord): DecisionView => ({
  at: new Date(record.at).toISOString(),
  run: record.holder.replace(/^case:/, ''),
  decision: record.what,
  reason: reasonOf(record),
});

function reasonOf(record: DecisionRecord): string {
  switch (record.what) {
    case 'granted':
      return `${WHY[record.by]}, with ${freeText(record.free)} free${passesText(record.passes)}`;
    case 'refused':
      return `asks for ${record.asked} ${UNITS[record.axis]}, and the runtime has ${record.limit} in all`;
    case 'reserved': {
      const by = record.startBy === undefined ? '' : `, until about ${new Date(record.startBy).toISOString()}`;
      return `room is kept for it${passesText(record.passes)}${by}`;
    }
    case 'evicted':
      return 'the queue was full, and a run of a workspace with fewer in it took its place';
  }
}

const freeText = ({ slots, memoryMb, cpuMillicores }: Granted['free']): string =>
  [
    `${slots} ${slots === 1 ? 'slot' : 'slots'}`,
    ...(memoryMb === undefined ? [] : [`${memoryMb} MB`]),
    ...(cpuMillicores === undefined ? [] : [`${cpuMillicores} millicores`]),
  ].join(', ');

const passesText = (passes: number): string =>
  passes === 0 ? '' : `, after ${passes} ${passes === 1 ? 'grant' : 'grants'} went past it`;
