import type { AdmissionLimits, AdmissionMessage } from '../../contracts/admission.js';
import { type CarriedLedger, carryLedger, resumeLedger } from './carry.js';
import type { Decision, Delivery } from './decision.js';
import type { Ledger } from './ledger.js';

/** What a ledger was told, or what it was asked to decide by; `limits` are absent where they are those of the step before. */
export type TraceStep =
  | { did: 'receive'; at: number; messages: readonly AdmissionMessage[] }
  | { did: 'decide'; at: number; limits?: AdmissionLimits; granted: string[] };

/** All that a ledger did since a checkpoint. */
export interface Trace {
  checkpoint: CarriedLedger;
  steps: TraceStep[];
}

/** Requests and releases in one trace: with its checkpoint it stays below 2 MB. */
const MAX_ENTRIES = 2_000;

/** A ledger that remembers what it was told, so that its decisions can be made once more elsewhere. */
export class TracedLedger {
  private checkpoint: CarriedLedger;
  private steps: TraceStep[] = [];
  private entries = 0;
  private limits?: AdmissionLimits;

  constructor(readonly ledger: Ledger) {
    this.checkpoint = carryLedger(ledger);
  }

  get trace(): Trace {
    return { checkpoint: this.checkpoint, steps: this.steps };
  }

  receive(messages: readonly AdmissionMessage[], now: number): Delivery[] {
    if (messages.length === 0) return [];
    const due = this.ledger.receive(messages, now);
    for (const { acquire, release } of messages) this.entries += 1 + acquire.length + release.length;
    if (this.entries > MAX_ENTRIES) this.restart();
    else this.steps.push({ did: 'receive', at: now, messages });
    return due;
  }

  decide(limits: AdmissionLimits, now: number): Decision {
    const decision = this.ledger.decide(limits, now);
    const granted = decision.granted.map(({ holder }) => holder);
    this.steps.push({ did: 'decide', at: now, granted, ...(limits !== this.limits && { limits }) });
    this.limits = limits;
    this.entries += 1 + granted.length;
    return decision;
  }

  private restart(): void {
    this.checkpoint = carryLedger(this.ledger);
    this.steps = [];
    this.entries = 0;
    this.limits = undefined;
  }
}

/** Who is granted a slot at each decision of the trace, decided anew. */
export function replay({ checkpoint, steps }: Trace): string[][] {
  const ledger = resumeLedger(checkpoint);
  const granted: string[][] = [];
  let limits: AdmissionLimits | undefined;
  for (const step of steps) {
    if (step.did === 'receive') ledger.receive(step.messages, step.at);
    else {
      limits = step.limits ?? limits;
      if (limits) granted.push(ledger.decide(limits, step.at).granted.map(({ holder }) => holder));
    }
  }
  return granted;
}
