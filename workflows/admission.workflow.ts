import {
  allHandlersFinished,
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { AdmissionActivities, PoolLimits } from '../activities/admission.activities.js';
import type { AdmissionMessage } from '../contracts/admission.js';
import { carryLedger, resumeLedger } from '../policy/admission/carry.js';
import type { Delivery, Ledger } from '../policy/admission/ledger.js';
import { limitsAt } from '../policy/admission/limits.js';
import { explainWaiting, pageQueue, type Seen, viewPool } from '../policy/admission/view.js';
import { inBackground } from './background.js';
import {
  type AdmissionInput,
  admissionRequested,
  envelopeChanged,
  type HeldLease,
  heldLeases,
  poolView,
  queuePage,
  runtimeOfPool,
  waitingOf,
} from './messages.js';
import { CONTROL } from './proxies.js';
import { Reconciler } from './reconciler.js';

const { rebuildLedger, readEnvelope, deliverGrants, refuseTickets } = proxyActivities<AdmissionActivities>(CONTROL);

const MAX_SIGNALS = 500;
const MAX_EVENTS = 1_000;
const RECONCILE_EVERY_MS = 20_000;

/**
 * The ledger of one pool: who holds a slot, who waits, who is next. It knows of the world only what messages say.
 *
 *   rebuild (nothing carried) → receive messages → admit → deliver → … → continue as new, before the history is long
 *
 * A grant is a lease before anyone is told of it. A lease ends by its release, or once its holder is proven gone and
 * what it left in the cluster is removed.
 */
export async function admissionWorkflow({ poolId, carried, again = [], surveyAt }: AdmissionInput): Promise<void> {
  const inbox: AdmissionMessage[] = [];
  let signals = 0;
  let announced = 0;
  setHandler(admissionRequested, (...requested) => {
    signals += 1;
    inbox.push(...requested);
  });
  setHandler(envelopeChanged, (version) => {
    signals += 1;
    announced = Math.max(announced, version);
  });

  let ledger = resumeLedger(carried ?? (await rebuildLedger({ poolId })));
  setHandler(heldLeases, () => heldBy(ledger));
  let limits = await readEnvelope({ poolId });
  // Somebody opened a newer epoch: what this ledger grants is void.
  const renewIfStale = async (): Promise<void> => {
    if (limits.epoch !== ledger.epoch) ledger = resumeLedger(await rebuildLedger({ poolId }));
  };
  await renewIfStale();
  answerQueries(() => ({ runtime: runtimeOfPool(poolId), ledger, limits, now: Date.now() }));
  let deliveries = again;
  let isDirty = true;
  let isDue = false;
  const reconciler = new Reconciler(
    () => ({ ledger, kind: limits.kind }),
    ({ holder, seq }) => inbox.push({ acquire: [], release: [{ holder, seq }] }),
  );
  // Carried along, or a busy pool would continue as new before it is ever due.
  let nextSurveyAt = surveyAt ?? Date.now() + RECONCILE_EVERY_MS;
  inBackground(async () => {
    for (;;) {
      if (ledger.isIdle) {
        await condition(() => !ledger.isIdle);
        nextSurveyAt = Date.now() + RECONCILE_EVERY_MS;
      }
      await sleep(Math.max(1, nextSurveyAt - Date.now()));
      nextSurveyAt = Date.now() + RECONCILE_EVERY_MS;
      isDue = true;
      inBackground(() => reconciler.surveyNext());
    }
  });

  for (;;) {
    await condition(() => isDirty || isDue || inbox.length > 0 || announced > limits.version);
    if (isDue || announced > limits.version) {
      isDue = false;
      limits = await readEnvelope({ poolId });
      announced = Math.min(announced, limits.version);
      await renewIfStale();
    }
    const due = ledger.receive(inbox.splice(0), Date.now());
    const { granted, refused, isCut } = ledger.decide(limits, Date.now());
    isDirty = isCut;
    deliveries = [...deliveries, ...due, ...granted];
    if (refused.length > 0) inBackground(() => refuseTickets({ refused }));
    setCurrentDetails(describe(ledger, limits));
    if (mustContinueAsNew(signals)) break;
    if (deliveries.length > 0) {
      // Never a local activity: what is told must be in the history first, as a repeated task may decide otherwise.
      const { gone } = await deliverGrants({ grants: deliveries.splice(0) });
      reconciler.suspect(gone);
    }
  }
  await condition(allHandlersFinished);
  await continueAsNew<typeof admissionWorkflow>({
    ...handOver(poolId, ledger, inbox, deliveries),
    surveyAt: nextSurveyAt,
  });
}

function answerQueries(seen: () => Seen): void {
  setHandler(poolView, () => viewPool(seen()));
  setHandler(queuePage, (request) => pageQueue(seen(), request));
  setHandler(waitingOf, (runs) => explainWaiting(seen(), runs));
}

/** What arrived while the last decision was made is not lost: it goes along, applied. */
function handOver(poolId: string, ledger: Ledger, inbox: AdmissionMessage[], deliveries: Delivery[]): AdmissionInput {
  const due = ledger.receive(inbox, Date.now());
  return { poolId, carried: carryLedger(ledger), again: [...deliveries, ...due] };
}

function mustContinueAsNew(signals: number): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return signals >= MAX_SIGNALS || historyLength >= MAX_EVENTS || continueAsNewSuggested;
}

const heldBy = ({ leases }: Ledger): HeldLease[] =>
  [...leases.values()].map(({ holder, seq, grantedAt }) => ({ holder, seq, grantedAt }));

const describe = (ledger: Ledger, limits: PoolLimits): string => {
  const { slots } = limitsAt(limits, Date.now()).envelope;
  return `${ledger.leases.size} of ${slots} slots in use, ${ledger.waiting} waiting · epoch ${ledger.epoch}, limits ${limits.version}`;
};
