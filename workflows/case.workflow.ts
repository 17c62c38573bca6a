import {
  CancellationScope,
  isCancellation,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { ScorecardActivities } from '../activities/scorecard.activities.js';
import type { ErrorClass, FenceRefusal } from '../contracts/attempt.js';
import type { Outcome } from '../contracts/run.js';
import { finishAttempt, place } from './attempt-calls.js';
import { type CaseInput, type CasePhase, casePhase, phaseAtStart, SEARCH_ATTRIBUTES } from './messages.js';
import { Pace } from './pace.js';
import { CONTROL } from './proxies.js';
import { Slot } from './slot.js';

const { settleUnplaced } = proxyActivities<ScorecardActivities>(CONTROL);

/** Between an attempt that the workspace's quota forbade and the next request for a slot. */
const quotaPace = (): Pace => new Pace(5_000, 60_000);
/** The same for a grant of a replaced ledger: asking again usually helps at once. */
const stalePace = (): Pace => new Pace(100, 30_000);

/** What became of the run; `settled` where it had its outcome before. */
export type CaseEnd = Outcome | 'settled';

interface Ended {
  end: CaseEnd;
  /** Of an error, whose fault it is. */
  errorClass?: ErrorClass;
}

const QUEUED_TOO_LONG: Ended = { end: 'errored', errorClass: 'infra' };

/** As it can be searched for: `passed`, `errored-infra`. */
const searchable = ({ end, errorClass }: Ended): string => (errorClass ? `${end}-${errorClass}` : end);

/**
 * One case from its slot to its outcome. Starts with a grant, or asks for one itself.
 *
 *   waiting → running (place) → settling (finish) → done
 *      ↑         └ refused ┘          │ infra failure, slot given back
 *      └────────── backing-off ←──────┘
 *
 * Cancelled while waiting or backing off: nothing of it is anywhere, so it only withdraws. Later: `finish` removes it.
 */
export async function caseWorkflow(input: CaseInput): Promise<CaseEnd> {
  let phase: CasePhase = 'waiting';
  setHandler(casePhase, () => phase);
  const slot = new Slot(input);
  let told = phaseAtStart(input);
  const enter = (next: CasePhase, attempt: number): void => {
    phase = next;
    setCurrentDetails(`${next}, attempt ${attempt} on ${input.poolId}`);
    // Of the happy path, the end alone is worth an event.
    if (next === 'settling' || next === told || !patched('tell-phases')) return;
    told = next;
    upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.phase, value: next }]);
  };

  let ended: Ended = { end: 'cancelled' };
  try {
    ended = await runToEnd(input, slot, enter);
    return ended.end;
  } catch (error) {
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => withdraw(input, slot));
    else ended = { end: 'errored' };
    throw error;
  } finally {
    await CancellationScope.nonCancellable(() => slot.settleMessages());
    phase = 'done';
    setCurrentDetails(`${searchable(ended)} on ${input.poolId}`);
    upsertSearchAttributes([
      { key: SEARCH_ATTRIBUTES.phase, value: 'done' },
      { key: SEARCH_ATTRIBUTES.outcome, value: searchable(ended) },
    ]);
  }
}

async function runToEnd(
  input: CaseInput,
  slot: Slot,
  enter: (phase: CasePhase, attempt: number) => void,
): Promise<Ended> {
  const { runId, poolId, kind } = input;
  const { holder } = slot;
  let { attempt, isOpen = false } = input;
  const waits = { quota: quotaPace(), 'stale-grant': stalePace() };
  for (;;) {
    if (!slot.grant && !isOpen) {
      enter('waiting', attempt);
      const ended = await waitForSlot(input, slot);
      if (ended) return ended;
    }
    enter('running', attempt);
    // An attempt that is open goes on under the lease it was opened with, whatever is given here.
    const { seq = 0, epoch = 0 } = slot.grant ?? {};
    const mustStop = isOpen && input.isCancelRequested === true;
    const placed = mustStop
      ? ({ kind: 'cancelled' } as const)
      : await place({ runId, attempt, poolId, kind, holder, seq, epoch });
    if (placed.kind === 'refused') {
      const { refusal } = placed;
      if (refusal.reason === 'renumber') {
        ({ attempt, isOpen } = refusal);
        continue;
      }
      isOpen = false;
      if (refusal.reason === 'quota' && patched('quota-parks')) {
        slot.returnOverQuota();
        continue;
      }
      const ended = await giveBack(input, slot, refusal);
      if (ended) return ended;
      if (refusal.reason === 'quota' || refusal.reason === 'stale-grant') await sleep(waits[refusal.reason].nextMs());
      continue;
    }
    enter('settling', attempt);
    const finished =
      placed.kind === 'finished'
        ? placed.result
        : await CancellationScope.nonCancellable(() =>
            finishAttempt({ runId, attempt, poolId, kind, holder, seq, end: placed }),
          );
    if (finished.kind === 'settled') return { end: finished.outcome, errorClass: finished.errorClass };
    slot.forget();
    attempt += 1;
    isOpen = false;
    enter('backing-off', attempt);
    await sleep(finished.delayMs);
  }
}

/** Undefined: the slot is held. */
async function waitForSlot({ runId }: CaseInput, slot: Slot): Promise<Ended | undefined> {
  const awaited = await slot.acquire();
  switch (awaited.kind) {
    case 'granted':
      return undefined;
    case 'settled':
      await slot.release();
      return { end: 'settled' };
    case 'expired': {
      const reason = `waited ${Math.round(awaited.waitedMs / 1_000)} s for a slot`;
      await settleUnplaced({ runId, end: { kind: 'errored', code: 'QUEUE_TIMEOUT', reason } });
      await slot.release();
      return QUEUED_TOO_LONG;
    }
  }
}

/** The fence opened nothing under this grant. Undefined: ask again. */
async function giveBack(
  { runId }: CaseInput,
  slot: Slot,
  { reason }: Exclude<FenceRefusal, { reason: 'renumber' }>,
): Promise<Ended | undefined> {
  await CancellationScope.nonCancellable(() => slot.release());
  switch (reason) {
    case 'stale-grant':
    case 'quota':
      return undefined;
    case 'cancelled':
      await settleUnplaced({ runId, end: { kind: 'cancelled' } });
      return { end: 'cancelled' };
    case 'settled':
      return { end: 'settled' };
  }
}

async function withdraw({ runId }: CaseInput, slot: Slot): Promise<void> {
  await settleUnplaced({ runId, end: { kind: 'cancelled' } });
  slot.forget();
  await slot.release();
}
