import fc from 'fast-check';
import type { AdmissionLimits, AdmissionMessage, Release, SessionAnswer, Ticket } from '../../contracts/admission.js';
import { AdmissionModel, isWithin } from '../../test/admission-model.js';
import { SEED } from '../../test/seeded.js';
import { carryLedger, resumeLedger } from './carry.js';
import { Ledger } from './ledger.js';
import { limitsAt } from './limits.js';

const SEQUENCES = 10_000;
const EPOCH = 1;
/** Two scorecards of one workspace, one of another, and single runs. */
const WORKSPACE_OF: Record<string, string> = {
  sc_a: 'one',
  sc_b: 'one',
  run_1: 'one',
  sc_c: 'two',
  run_2: 'two',
  run_3: 'three',
};
const HOLDERS = ['sc_a.0', 'sc_a.1', 'sc_a.2', 'sc_b.0', 'sc_b.1', 'run_1', 'sc_c.0', 'sc_c.1', 'run_2', 'run_3'].map(
  (run) => `case:${run}`,
);
/** A scorecard and a single run take sessions of one live pool. */
const NEEDS_SESSION = new Set(['case:sc_b.0', 'case:sc_b.1', 'case:run_1']);
const SESSION_POOL = 'one/browser';
const WORKSPACES = ['one', 'two', 'three'];
const workspaceOf = (holder: string): string => WORKSPACE_OF[holder.replace(/^case:|\.\d+$/g, '')] ?? '';
const nothing: AdmissionMessage = { acquire: [], release: [] };

/** Choices that one number stands for. */
class Choices {
  constructor(private left: number) {}

  upTo(most: number): number {
    const chosen = this.left % (most + 1);
    this.left = Math.floor(this.left / (most + 1));
    return chosen;
  }

  of<Value>(values: readonly [Value, ...Value[]] | readonly Value[]): Value {
    return values[this.upTo(values.length - 1)] as Value;
  }

  /** Absent one time in four. */
  maybe<Name extends string>(name: Name, most: number): { [Key in Name]?: number } {
    return this.upTo(3) === 0 ? {} : ({ [name]: 1 + this.upTo(most - 1) } as { [Key in Name]?: number });
  }
}

/** The ledger and its model, told the same. */
class Pair {
  private ledger: Ledger;
  private readonly model: AdmissionModel;
  private limits: AdmissionLimits = limitsOf({ slots: 3, memoryMb: 8, cpuMillicores: 8 });
  private now = 100_000;

  /** `passes`: how often each holder was passed before. */
  constructor(passes: number) {
    const passed = HOLDERS.map((holder) => [holder, passes] as const);
    this.ledger = new Ledger({ epoch: EPOCH, nextSeq: EPOCH, leases: [], tickets: [], passes: passed });
    this.model = new AdmissionModel(EPOCH, new Map(passed));
  }

  take(choices: Choices): void {
    const kind = choices.upTo(20);
    if (kind < 6) this.tell({ ...nothing, acquire: [this.ticketOf(choices)] });
    else if (kind < 11) this.tell({ ...nothing, release: [this.releaseOf(choices)] });
    else if (kind < 16) this.decide(choices.of([1, 2, 200]));
    else if (kind === 16) this.limits = someLimits(choices, this.now);
    else if (kind === 17) this.now += choices.upTo(70) * 1_000;
    else if (kind === 18) this.restart();
    else if (kind === 19)
      this.tell({ ...nothing, sessions: [{ pool: SESSION_POOL, at: this.now, answer: someAnswer(choices) }] });
    else this.tell({ ...nothing, ...this.wordOf(choices) });
    this.expectSame();
  }

  /** Everybody is let in, and every lease comes back. */
  drain(): void {
    this.limits = limitsOf({ slots: 4, memoryMb: 9, cpuMillicores: 9 });
    for (let round = 0; round < 2 * HOLDERS.length && this.ledger.waiting > 0; round += 1) {
      const release = [...this.ledger.leases.values()].map(({ holder, seq }) => ({ holder, seq }));
      const sessions = [{ pool: SESSION_POOL, at: this.now, answer: { total: 9, used: 0 } }];
      this.tell({ acquire: [], release, unpark: WORKSPACES, sessions });
      this.decide(200);
      this.expectSame();
    }
    expect(this.ledger.waiting).toBe(0);
  }

  private tell(message: AdmissionMessage): void {
    this.model.receive(message, this.now);
    this.ledger.receive([message], this.now);
  }

  private restart(): void {
    this.model.restart();
    this.ledger = resumeLedger(JSON.parse(JSON.stringify(carryLedger(this.ledger))));
  }

  private wordOf(choices: Choices): Partial<AdmissionMessage> {
    const { askedAt: _, class: __, ...found } = this.ticketOf(choices);
    return choices.of([
      { promote: [{ holder: found.holder, at: this.now }] },
      { unpark: [found.workspace] },
      { adopt: [{ ...found, seq: 900, grantedAt: this.now }] },
    ]);
  }

  private ticketOf(choices: Choices): Ticket {
    const holder = choices.of(HOLDERS);
    const { seconds } = choices.maybe('seconds', 60);
    return {
      ...{ holder, to: holder, workspace: workspaceOf(holder), class: choices.of(['batch', 'batch', 'interactive']) },
      demand: {
        ...choices.maybe('memoryMb', 8),
        ...choices.maybe('cpuMillicores', 8),
        ...(NEEDS_SESSION.has(holder) && { sessionPool: SESSION_POOL }),
      },
      askedAt: this.now - choices.of([0, 30, 60]) * 1_000,
      ...(seconds && { expectedMs: seconds * 1_000 }),
    };
  }

  private releaseOf(choices: Choices): Release {
    const holder = choices.of([...this.ledger.leases.keys(), choices.of(HOLDERS)]);
    const seq = this.ledger.leases.get(holder)?.seq ?? 0;
    const given: Release[] = [
      { holder, seq: 0 },
      { holder },
      { holder, isGone: true },
      { holder, seq, isOverQuota: true },
    ];
    return choices.upTo(1) === 0 ? { holder, seq } : choices.of(given);
  }

  private decide(max: number): void {
    const { envelope, isOpen } = limitsAt(this.limits, this.now);
    const want = this.model.decide(this.limits, envelope, isOpen, this.now, max);
    const { granted, refused } = this.ledger.decide(this.limits, this.now, max);
    expectEqual(
      granted.map(({ holder, seq }) => [holder, seq]),
      want.granted,
    );
    expectEqual(refused.map(({ holder }) => holder).sort(), want.refused);
    const room = this.model.roomIn(envelope);
    for (const { holder } of granted) {
      const { memoryMb, cpuMillicores } = this.ledger.leases.get(holder)?.demand ?? {};
      const isOver = room.slots < 0 || (memoryMb && room.memoryMb < 0) || (cpuMillicores && room.cpuMillicores < 0);
      if (isOver) throw new Error(`${holder} was granted more than there is`);
    }
    if (!isOpen || granted.length === max || this.ledger.reservation) return;
    const order = this.model.inOrder(this.limits, envelope, this.now);
    expectEqual(order.filter(({ demand }) => isWithin(demand, room)).length, 0);
  }

  private expectSame(): void {
    const { ledger, model } = this;
    expectEqual(
      [...ledger.leases.keys()],
      model.leases.map(({ holder }) => holder),
    );
    expectEqual(
      Array.from(ledger.state.tickets, ({ holder }) => holder),
      model.tickets.toSorted((one, other) => one.arrival - other.arrival).map(({ holder }) => holder),
    );
    expectEqual(ledger.parked.sort(), model.parked.sort());
    expectEqual(
      [ledger.reservation?.holder, ledger.reservation?.startBy],
      [model.reserved?.holder, model.reserved?.startBy],
    );
  }
}

const limitsOf = (envelope: AdmissionLimits['envelope']): AdmissionLimits => ({
  envelope,
  workspaces: {},
  pausedScorecards: [],
});

function someLimits(choices: Choices, now: number): AdmissionLimits {
  const dial = { mode: choices.of(['open', 'open', 'paused'] as const), limits: choices.maybe('slots', 3) };
  return {
    envelope: { slots: choices.upTo(5), ...choices.maybe('memoryMb', 12), ...choices.maybe('cpuMillicores', 12) },
    ...(choices.upTo(2) === 0 && { dial: { ...dial, ...(choices.upTo(1) && { until: now + 30_000 }) } }),
    workspaces: {
      [choices.of(WORKSPACES)]: { ...choices.maybe('weight', 3), ...(choices.upTo(2) === 0 && { maxRunning: 1 }) },
    },
    pausedScorecards: choices.of([[], [], ['sc_a'], ['sc_b', 'sc_c']]),
  };
}

function someAnswer(choices: Choices): SessionAnswer {
  const total = choices.upTo(3);
  return choices.of([{ failure: 'refused' }, { total }, { total, used: 0 }, { total, used: 1 }]);
}

/** Cheap where it holds. */
function expectEqual(found: unknown, want: unknown): void {
  if (JSON.stringify(found) !== JSON.stringify(want)) expect(found).toEqual(want);
}

test('whatever happens, the ledger grants and refuses what the rules say, and nobody waits for ever', () => {
  const steps = fc.array(fc.noBias(fc.nat()), { minLength: 5, maxLength: 40, size: 'max' });
  fc.assert(
    fc.property(fc.constantFrom(0, 13, 15), steps, (passes, taken) => {
      const pair = new Pair(passes);
      for (const number of taken) pair.take(new Choices(number));
      pair.drain();
    }),
    { seed: SEED, numRuns: SEQUENCES },
  );
}, 60_000);
