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
import type { AdmissionActivities, Holding, PoolLimits } from '../activities/admission.activities.js';
import type { AdmissionMessage, Lease } from '../contracts/admission.js';
import { admit, type Delivery, type Ledger, MAX_GRANTS, receive, waitingCount } from '../policy/admission.js';
import { carryLedger, resumeLedger } from '../policy/ledger-carry.js';
import { inBackground } from './background.js';
import { type AdmissionInput, admissionRequested, envelopeChanged, runIdOfHolder } from './messages.js';
import { CONTROL, SURVEY } from './proxies.js';
import { reclaimRun } from './reclaim-run.js';

const { rebuildLedger, readEnvelope, deliverGrants } = proxyActivities<AdmissionActivities>(CONTROL);
const { findDeadHolders } = proxyActivities<AdmissionActivities>(SURVEY);

const MAX_SIGNALS = 500;
const MAX_EVENTS = 1_000;
const RECONCILE_EVERY = '20 seconds';
const MAX_DESCRIBED = 200;

/**
 * The ledger of one pool: who holds a slot, who waits, who is next. It knows of the world only what messages say.
 *
 *   rebuild (nothing carried) → receive messages → admit → deliver → … → continue as new, before the history is long
 *
 * A grant is a lease before anyone is told of it. A lease ends by its release, or once its holder is proven gone and
 * what it left in the cluster is removed.
 */
export async function admissionWorkflow({ poolId, carried, again = [] }: AdmissionInput): Promise<void> {
  const inbox: AdmissionMessage[] = [];
  let signals = 0;
  let announced = 0;
  setHandler(admissionRequested, (...messages) => {
    signals += 1;
    inbox.push(...messages);
  });
  setHandler(envelopeChanged, (version) => {
    signals += 1;
    announced = Math.max(announced, version);
  });

  let ledger = resumeLedger(carried ?? (await rebuildLedger({ poolId })));
  let limits = await readEnvelope({ poolId });
  let deliveries = again;
  let isDirty = true;
  const leases = () => ledger.leases;
  const reconciler = startReconciler(
    () => limits,
    leases,
    ({ holder, seq }) => {
      inbox.push({ acquire: [], release: [{ holder, seq }] });
    },
  );

  for (;;) {
    await condition(() => isDirty || inbox.length > 0 || announced > limits.version);
    if (announced > limits.version) {
      limits = { ...(await readEnvelope({ poolId })), version: announced };
    }
    const received = receive(ledger, inbox.splice(0));
    const decision = admit(received.ledger, limits.envelope, Date.now());
    ledger = decision.ledger;
    isDirty = decision.granted.length === MAX_GRANTS;
    deliveries = [...deliveries, ...received.again, ...decision.granted];
    setCurrentDetails(describe(ledger, limits));
    if (mustContinueAsNew(signals)) break;
    if (deliveries.length > 0) {
      const { gone } = await deliverGrants({ grants: deliveries.splice(0) });
      reconciler.suspect(gone);
    }
  }
  await condition(allHandlersFinished);
  await continueAsNew<typeof admissionWorkflow>(handOver(poolId, ledger, inbox, deliveries));
}

/** What arrived while the last decision was made is not lost: it goes along, applied. */
function handOver(poolId: string, ledger: Ledger, inbox: AdmissionMessage[], deliveries: Delivery[]): AdmissionInput {
  const last = receive(ledger, inbox);
  return { poolId, carried: carryLedger(last.ledger), again: [...deliveries, ...last.again] };
}

function mustContinueAsNew(signals: number): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return signals >= MAX_SIGNALS || historyLength >= MAX_EVENTS || continueAsNewSuggested;
}

const describe = (ledger: Ledger, { envelope, version }: PoolLimits): string =>
  `${ledger.leases.size} of ${envelope.slots} slots in use, ${waitingCount(ledger)} waiting · epoch ${ledger.epoch}, limits ${version}`;

/** Looks, a part at a time, for holders that are gone. Cleans up after each first, then gives its slot back. */
function startReconciler(
  limits: () => PoolLimits,
  leases: () => ReadonlyMap<string, Lease>,
  free: (holding: Holding) => void,
) {
  const reclaiming = new Set<string>();
  let offset = 0;

  const reclaimThenFree = async (holding: Holding): Promise<void> => {
    const { holder } = holding;
    if (reclaiming.has(holder)) return;
    reclaiming.add(holder);
    try {
      await reclaimRun({ runId: runIdOfHolder(holder), kind: limits().kind, seq: holding.seq });
      free(holding);
    } finally {
      reclaiming.delete(holder);
    }
  };

  const survey = async (suspects: Lease[]): Promise<void> => {
    if (suspects.length === 0) return;
    const asked = suspects.map(({ holder, to, seq }) => ({ holder, to, seq }));
    const { dead } = await findDeadHolders({ leases: asked });
    for (const holding of dead) inBackground(() => reclaimThenFree(holding));
  };

  inBackground(async () => {
    for (;;) {
      await condition(() => leases().size > 0);
      await sleep(RECONCILE_EVERY);
      const all = [...leases().values()];
      if (offset >= all.length) offset = 0;
      await survey(all.slice(offset, offset + MAX_DESCRIBED));
      offset += MAX_DESCRIBED;
    }
  });

  return {
    /** Holders nobody could be told about. */
    suspect(gone: string[]): void {
      const holders = new Set(gone);
      inBackground(() =>
        survey([...leases().values()].filter(({ holder }) => holders.has(holder)).slice(0, MAX_DESCRIBED)),
      );
    },
  };
}
