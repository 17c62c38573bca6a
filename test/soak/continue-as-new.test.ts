import type { Client } from '@temporalio/client';
import { AdmissionSender } from '../../activities/admission-sender.js';
import type { Grant, Ticket } from '../../contracts/admission.js';
import { admissionWorkflowId, envelopeChanged, heldLeases } from '../../workflows/messages.js';
import { aTicket } from '../builders.js';
import { Lab, MINUTE } from '../e2e/workflows/lab.js';
import { POOL } from '../integration/store/world.js';
import { randomFor, SEED } from '../seeded.js';
import { eventually } from '../temporal.js';
import { historyLengths } from '../workflow-tasks.js';

const NAME = 'continue as new';
const SLOTS = 40;
const TICKETS = 6_000;
const WORKSPACES = 25;
const SENDERS = 6;
/** Of one sender, in one message. */
const MOST_TICKETS = 12;
const MOST_EVENTS = 1_500;

const random = randomFor(NAME);

/** Holds every grant for a moment, and gives it back through any of the senders. */
class Crowd {
  readonly seqs = new Map<string, Set<number>>();
  readonly faults: string[] = [];
  /** By holder. */
  private readonly held = new Map<string, number>();
  private readonly senders: AdmissionSender[];

  constructor({ workflow }: Client) {
    this.senders = Array.from({ length: SENDERS }, () => new AdmissionSender(workflow, 10_000));
  }

  private get anySender(): AdmissionSender {
    const sender = this.senders[random(0, SENDERS - 1)];
    if (!sender) throw new Error('there is no sender');
    return sender;
  }

  /** Some twice, as one does that had no answer. */
  async ask(tickets: Ticket[]): Promise<void> {
    const sender = this.anySender;
    const message = { acquire: tickets, release: [] };
    const sent = [sender.send(POOL, message)];
    if (random(0, 4) === 0) sent.push(sender.send(POOL, message));
    await Promise.all(sent);
  }

  take(grants: readonly Grant[]): void {
    for (const { holder, seq } of grants) {
      const known = this.seqs.get(holder);
      if (known) known.add(seq);
      else {
        this.seqs.set(holder, new Set([seq]));
        this.held.set(holder, seq);
      }
    }
    if (this.held.size > SLOTS) this.faults.push(`${this.held.size} hold ${SLOTS} slots`);
    void this.giveBack().catch((error: unknown) => this.faults.push(String(error)));
  }

  /** Each twice, through two senders: one of them comes too late. */
  private async giveBack(): Promise<void> {
    const release = [...this.held].map(([holder, seq]) => ({ holder, seq }));
    this.held.clear();
    const message = { acquire: [], release };
    await Promise.all([this.anySender.send(POOL, message), this.anySender.send(POOL, message)]);
  }
}

let lab: Lab;
let crowd: Crowd;
beforeAll(async () => {
  lab = await Lab.open();
  crowd = new Crowd(lab.platform.client);
  await lab.platform.startWorker(({ control }) => ({
    control: {
      ...control,
      deliverGrants: async ({ grants }) => {
        crowd.take(grants);
        return { gone: [] };
      },
      // The tickets of this test belong to no workflow.
      findDeadHolders: async () => ({ dead: [] }),
    },
  }));
}, 2 * MINUTE);
afterAll(() => lab.close(), MINUTE);

test(
  `of ${TICKETS} tickets of ${WORKSPACES} workspaces none is lost and none granted twice, while their ledger continues as new again and again`,
  async () => {
    process.stderr.write(`${NAME}: EVERDICT_TEST_SEED=${SEED}\n`);
    const ledger = lab.platform.client.workflow.getHandle(admissionWorkflowId(POOL));
    const version = await lab.setSlots(SLOTS, '1.0.1');
    const tickets = Array.from({ length: TICKETS }, (_, i) =>
      aTicket({
        holder: `case:sc_${i % 90}.${i}`,
        to: 'nobody',
        workspace: `workspace-${random(0, WORKSPACES - 1)}`,
        class: random(0, 9) === 0 ? 'interactive' : 'batch',
        askedAt: Date.now(),
      }),
    );
    const begun = performance.now();
    await crowd.ask(tickets.splice(0, 1));
    await ledger.signal(envelopeChanged, version);
    const { runId } = await ledger.describe();
    while (tickets.length > 0) {
      const messages = Array.from({ length: SENDERS }, () => tickets.splice(0, random(1, MOST_TICKETS)));
      await Promise.all(messages.map((message) => crowd.ask(message)));
    }
    await eventually('each is granted', async () => crowd.seqs.size === TICKETS, 2 * MINUTE);
    await eventually('nothing is held', async () => (await ledger.query(heldLeases)).length === 0);

    const events = await historyLengths(lab.platform.client.workflow, admissionWorkflowId(POOL), runId);
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
    process.stderr.write(`${NAME}: ${seconds} s, histories of ${events.join(' ')} events\n`);
    expect([...crowd.seqs].filter(([, seqs]) => seqs.size > 1)).toEqual([]);
    expect(crowd.faults).toEqual([]);
    expect(events.length).toBeGreaterThan(3);
    expect(Math.max(...events)).toBeLessThan(MOST_EVENTS);
    expect(await lab.platform.failedWorkflowTasks()).toEqual([]);
  },
  6 * MINUTE,
);
