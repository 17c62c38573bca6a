import { setTimeout as sleep } from 'node:timers/promises';
import { type WorkflowClient, WorkflowNotFoundError } from '@temporalio/client';
import type { AdmissionMessage } from '../contracts/admission.js';
import {
  type AdmissionInput,
  admissionRequested,
  admissionWorkflowId,
  envelopeChanged,
  ownerOfPool,
  SEARCH_ATTRIBUTES,
  TASK_QUEUES,
} from '../workflows/messages.js';

/** Of JSON in one signal: less than 32 KB of it travels. */
const SIGNAL_CHARS = 30_000;

interface Pending {
  messages: AdmissionMessage[];
  sent: Promise<void>;
}

/** After a signal to a pool: each costs its ledger a workflow task, and the server advises at most five a second. */
const REST_MS = 200;

/**
 * Sends messages to admission workflows, starting those that do not run. One signal is in flight per pool, and a short
 * rest follows it; what arrives meanwhile goes with the next, so bursts cost few signals. Resolves once the server
 * has the message.
 */
export class AdmissionSender {
  /** By pool: ends, and never fails, when the next may be sent. */
  private readonly inFlight = new Map<string, Promise<void>>();
  private readonly pending = new Map<string, Pending>();

  constructor(
    private readonly client: Pick<WorkflowClient, 'signalWithStart' | 'getHandle'>,
    private readonly workflowTaskMs: number,
  ) {}

  send(poolId: string, message: AdmissionMessage): Promise<void> {
    const open = this.pending.get(poolId);
    if (open) {
      open.messages.push(message);
      return open.sent;
    }
    const next: Pending = { messages: [message], sent: Promise.resolve() };
    next.sent = this.sendAfter(this.inFlight.get(poolId), poolId, next);
    this.pending.set(poolId, next);
    return next.sent;
  }

  private async sendAfter(previous: Promise<void> | undefined, poolId: string, next: Pending): Promise<void> {
    await previous;
    await Promise.resolve();
    this.pending.delete(poolId);
    const sent = this.signal(poolId, next.messages);
    const over = sent.catch(() => undefined).then(() => sleep(REST_MS));
    this.inFlight.set(poolId, over);
    void over.then(() => this.inFlight.get(poolId) === over && this.inFlight.delete(poolId));
    await sent;
  }

  private async signal(poolId: string, messages: AdmissionMessage[]): Promise<void> {
    const input: AdmissionInput = { poolId };
    for (const signalArgs of inSignals(messages)) {
      await this.client.signalWithStart('admissionWorkflow', {
        workflowId: admissionWorkflowId(poolId),
        taskQueue: TASK_QUEUES.control,
        workflowTaskTimeout: this.workflowTaskMs,
        args: [input],
        signal: admissionRequested,
        signalArgs,
        staticSummary: `slots of ${poolId}`,
        typedSearchAttributes: [
          { key: SEARCH_ATTRIBUTES.workspace, value: ownerOfPool(poolId) },
          { key: SEARCH_ATTRIBUTES.runtime, value: poolId },
          { key: SEARCH_ATTRIBUTES.phase, value: 'running' },
        ],
      });
    }
  }

  /** Tells the ledger of a pool, if it runs, that its limits changed. */
  async announce(poolId: string, envelopeVersion: number): Promise<void> {
    try {
      await this.client.getHandle(admissionWorkflowId(poolId)).signal(envelopeChanged, envelopeVersion);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }

  /** Starts the ledger of a pool if it does not run: it rebuilds itself. */
  wake(poolId: string): Promise<void> {
    return this.send(poolId, { acquire: [], release: [] });
  }
}

/** Requests, or releases, that surely go into one signal. */
const MOST_AT_ONCE = 50;

/** A message with many of them as several, releases first. */
function inParts({ acquire, release, ...rest }: AdmissionMessage): AdmissionMessage[] {
  if (acquire.length + release.length <= MOST_AT_ONCE) return [{ acquire, release, ...rest }];
  const parts: AdmissionMessage[] = [];
  for (let start = 0; start < release.length; start += MOST_AT_ONCE) {
    parts.push({ acquire: [], release: release.slice(start, start + MOST_AT_ONCE) });
  }
  for (let start = 0; start < acquire.length; start += MOST_AT_ONCE) {
    parts.push({ acquire: acquire.slice(start, start + MOST_AT_ONCE), release: [] });
  }
  return Object.keys(rest).length > 0 ? [...parts, { acquire: [], release: [], ...rest }] : parts;
}

/** The messages in their order, as many in one signal as its size allows, and at least one. */
function inSignals(messages: readonly AdmissionMessage[]): AdmissionMessage[][] {
  const signals: AdmissionMessage[][] = [];
  let room = 0;
  for (const message of messages.flatMap(inParts)) {
    const { length } = JSON.stringify(message);
    const last = signals.at(-1);
    if (last && length <= room) last.push(message);
    else signals.push([message]);
    room = last && length <= room ? room - length : SIGNAL_CHARS - length;
  }
  return signals;
}
