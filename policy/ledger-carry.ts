import type { Demand, Lease, Ticket } from '../contracts/admission.js';
import type { Ledger } from './admission.js';
import { OrderedMap } from './ordered-map.js';

/** Memory and CPU as declared; null where nothing is. */
type CarriedDemand = [memoryMb: number | null, cpuMillicores: number | null];

/** A ledger as JSON, small: 5,000 tickets stay below 1 MB. `to` is an index into `tos`. */
export interface CarriedLedger {
  epoch: number;
  nextSeq: number;
  tos: string[];
  leases: [holder: string, to: number, seq: number, grantedAt: number, ...CarriedDemand][];
  interactive: CarriedTicket[];
  batch: CarriedTicket[];
}
type CarriedTicket = [holder: string, to: number, askedAt: number, ...CarriedDemand];

export function carryLedger({ epoch, nextSeq, leases, waiters }: Ledger): CarriedLedger {
  const indexes = new Map<string, number>();
  const indexOf = (to: string): number => {
    const index = indexes.get(to) ?? indexes.size;
    indexes.set(to, index);
    return index;
  };
  const carryTicket = ({ holder, to, askedAt, demand }: Ticket): CarriedTicket => [
    holder,
    indexOf(to),
    askedAt,
    ...carryDemand(demand),
  ];
  return {
    epoch,
    nextSeq,
    leases: [...leases.values()].map(({ holder, to, seq, grantedAt, demand }) => [
      holder,
      indexOf(to),
      seq,
      grantedAt,
      ...carryDemand(demand),
    ]),
    interactive: [...waiters.interactive.values()].map(carryTicket),
    batch: [...waiters.batch.values()].map(carryTicket),
    tos: [...indexes.keys()],
  };
}

export function resumeLedger({ epoch, nextSeq, tos, leases, interactive, batch }: CarriedLedger): Ledger {
  const toOf = (index: number, holder: string): string => tos[index] ?? holder;
  const resumed = leases.map(([holder, to, seq, grantedAt, ...demand]): Lease => {
    return { holder, to: toOf(to, holder), seq, demand: resumeDemand(demand), grantedAt };
  });
  const queue = (tickets: CarriedTicket[], workClass: Ticket['class']) =>
    OrderedMap.from(
      tickets.map(([holder, to, askedAt, ...demand]): [string, Ticket] => [
        holder,
        { holder, to: toOf(to, holder), class: workClass, demand: resumeDemand(demand), askedAt },
      ]),
    );
  return {
    epoch,
    nextSeq,
    leases: OrderedMap.from(resumed.map((lease) => [lease.holder, lease])),
    waiters: { interactive: queue(interactive, 'interactive'), batch: queue(batch, 'batch') },
  };
}

const carryDemand = ({ memoryMb, cpuMillicores }: Demand): CarriedDemand => [memoryMb ?? null, cpuMillicores ?? null];
const resumeDemand = ([memoryMb, cpuMillicores]: CarriedDemand): Demand => ({
  ...(memoryMb === null ? {} : { memoryMb }),
  ...(cpuMillicores === null ? {} : { cpuMillicores }),
});
