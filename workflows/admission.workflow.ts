import {
  allHandlersFinished,
  condition,
  continueAsNew,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { AdmissionActivities, PoolLimits } from '../activities/admission.activities.js';
import type { AdmissionMessage, Lease } from '../contracts/admission.js';
import { carryLedger, resumeLedger } from '../policy/admission/carry.js';
import type { Ledger } from '../policy/admission/ledger.js';
import { limitsAt } from '../policy/admission/limits.js';
import { TracedLedger } from '../policy/admission/trace.js';
import { explainWaiting, pageQueue, type Seen, viewPool } from '../policy/admission/view.js';
import { inBackground } from './background.js';
import {
  type AdmissionInput,
  admissionRequested,
  decisionTrace,
  envelopeChanged,
  type HeldLease,
  heldLeases,
  poolView,
  queuePage,
  runtimeOfPool,
  waitingOf,
} from './messages.js';
import { OwnChanges } from './own-changes.js';
import { CONTROL } from './proxies.js';
import { Reconciler } from './reconciler.js';
import { Refusals } from './refusals.js';
import { SessionWatcher } from './session-watcher.js';

const { rebuildLedger, readEnvelope, deliverGrants, isSubmitted } = proxyActivities<AdmissionActivities>(CONTROL);

const MAX_SIGNALS = 500;
const MAX_EVENTS = 1_000;

/**
 * The ledger of one pool: who holds a slot, who waits, who is next. It knows of the world only what messages say.
 *
 *   rebuild (nothing carried) → receive messages → admit → deliver → … → continue as new, before the history is long
 *
 * A grant is a lease before anyone is told of it. A lease ends by its release, or once its holder is proven gone and
 * what it left in the cluster is removed.
 */
export async function admissionWorkflow({ poolId, carried, again = [], ...earlier }: AdmissionInput): Promise<void> {
  const inbox = new Inbox();
  let isDirty = true;
  let isDue = false;

  let traced = new TracedLedger(resumeLedger(carried ?? (await rebuildLedger({ poolId }))));
  setHandler(heldLeases, () => heldBy(traced.ledger));
  const changes = new OwnChanges(poolId, () => {
    isDirty = true;
  });
  let limits = await readEnvelope({ poolId });
  // Somebody opened a newer epoch: what this ledger grants is void.
  const follow = async (): Promise<void> => {
    if (limits.epoch !== traced.ledger.epoch) traced = new TracedLedger(resumeLedger(await rebuildLedger({ poolId })));
    changes.follow(traced.ledger, limits);
  };
  await follow();
  answerQueries(() => ({ runtime: runtimeOfPool(poolId), traced, limits, now: Date.now() }));
  let deliveries = again;
  const refusals = new Refusals(earlier.refused ?? []);
  const reconciler = new Reconciler(
    () => ({ poolId, ledger: traced.ledger, kind: limits.kind }),
    (found) => inbox.messages.push({ acquire: [], release: [], ...found }),
  );
  const watcher = new SessionWatcher(poolId, (sessions) => inbox.messages.push({ acquire: [], release: [], sessions }));
  inBackground(() =>
    reconciler.keepSurveying(earlier.surveyAt, () => {
      isDue = true;
    }),
  );

  for (;;) {
    await condition(() => isDirty || isDue || inbox.messages.length > 0 || inbox.announced > limits.version);
    if (isDue || inbox.announced > limits.version) {
      isDue = false;
      limits = await readEnvelope({ poolId });
      // In case nobody said so: whoever has no room is over its quota again.
      inbox.messages.push({ acquire: [], release: [], unpark: traced.ledger.guesses });
      inbox.announced = Math.min(inbox.announced, limits.version);
      await follow();
    }
    if (inbox.takeWake() && traced.ledger.isIdle && patched('survey-attempts'))
      inBackground(() => reconciler.surveyNext());
    const probe = silentProbe(traced.ledger);
    if (probe) inbox.messages.push(await lookAt(poolId, probe));
    const due = traced.receive(inbox.messages.splice(0), Date.now());
    const { granted, refused, isCut } = traced.decide(limits, Date.now());
    changes.follow(traced.ledger, limits);
    isDirty = isCut;
    deliveries = [...deliveries, ...due, ...granted];
    refusals.refuse(refused);
    setCurrentDetails(describe(traced.ledger, limits));
    if (mustContinueAsNew(inbox.signals)) break;
    watcher.follow(traced.ledger.sessions.due(Date.now()));
    if (deliveries.length > 0) {
      // Never a local activity: what is told must be in the history first, as a repeated task may decide otherwise.
      const { gone } = await deliverGrants({ grants: deliveries.splice(0) });
      reconciler.suspect(gone);
    }
  }
  await condition(allHandlersFinished);
  // What arrived while the last decision was made is not lost: it goes along, applied.
  const due = traced.receive(inbox.messages, Date.now());
  await continueAsNew<typeof admissionWorkflow>({
    ...{ poolId, carried: carryLedger(traced.ledger), again: [...deliveries, ...due] },
    ...{ refused: refusals.left, surveyAt: reconciler.surveyAt },
  });
}

const silentProbe = ({ circuit, leases }: Ledger): Lease | undefined => leases.get(circuit.silent(Date.now()) ?? '');

/** A runtime is known to work once the job of a probe runs there. */
async function lookAt(poolId: string, { holder, seq }: Lease): Promise<AdmissionMessage> {
  return { acquire: [], release: [], probe: { holder, isRunning: await isSubmitted({ poolId, seq }) } };
}

/** What signals brought since it was last emptied. */
class Inbox {
  readonly messages: AdmissionMessage[] = [];
  /** In this history. */
  signals = 0;
  /** The version of the limits that somebody announced last. */
  announced = 0;
  private isWoken = false;

  constructor() {
    setHandler(admissionRequested, (...requested) => {
      this.signals += 1;
      this.messages.push(...requested);
      this.isWoken ||= requested.some(isWake);
    });
    setHandler(envelopeChanged, (version) => {
      this.signals += 1;
      this.announced = Math.max(this.announced, version);
    });
  }

  /** Whether somebody saw work for this pool in the database since this was asked last. */
  takeWake(): boolean {
    const { isWoken } = this;
    this.isWoken = false;
    return isWoken;
  }
}

/** A message that says nothing. */
const isWake = ({ acquire, release, ...rest }: AdmissionMessage): boolean =>
  acquire.length + release.length + Object.keys(rest).length === 0;

/** What queries are answered from. */
interface Answering extends Omit<Seen, 'ledger'> {
  traced: TracedLedger;
}

function answerQueries(now: () => Answering): void {
  const seen = (): Seen => ({ ...now(), ledger: now().traced.ledger });
  setHandler(poolView, () => viewPool(seen()));
  setHandler(queuePage, (request) => pageQueue(seen(), request));
  setHandler(waitingOf, (runs) => explainWaiting(seen(), runs));
  setHandler(decisionTrace, () => now().traced.trace);
}

function mustContinueAsNew(signals: number): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return signals >= MAX_SIGNALS || historyLength >= MAX_EVENTS || continueAsNewSuggested;
}

const heldBy = ({ leases }: Ledger): HeldLease[] =>
  [...leases.values()].map(({ holder, seq, grantedAt, demand }) => ({ holder, seq, grantedAt, demand }));

const describe = (ledger: Ledger, limits: PoolLimits): string => {
  const { slots } = limitsAt(limits, Date.now()).envelope;
  return `${ledger.leases.size} of ${slots} slots in use, ${ledger.waiting} waiting · epoch ${ledger.epoch}, limits ${limits.version}`;
};
