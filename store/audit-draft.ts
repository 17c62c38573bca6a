import { AsyncLocalStorage } from 'node:async_hooks';
import type { AuditEvent } from '../contracts/audit.js';
import { insertAudit } from './audit.store.js';
import type { Queryable } from './sql.js';

/** What only the code at work knows of what it does. */
export interface AuditFacts {
  /** `id@version`, or what else names it; never a value. */
  object?: string;
  /** Hashes of the content that was replaced, and of what is there now. */
  before?: string;
  after?: string;
}

/** The row of a request that is still at work. */
export interface AuditDraft {
  facts: AuditFacts;
  /** The row as it is now; without an outcome it is the one that the route promises. */
  event(outcome?: { status: number; code?: string }): AuditEvent & { workspace: string };
  /** A transaction of this request holds the row of its success. */
  isStored: boolean;
}

const drafts = new AsyncLocalStorage<AuditDraft>();

export const withAuditDraft = <T>(draft: AuditDraft, work: () => T): T => drafts.run(draft, work);

/** Adds to the row of the request at work, if that gets one. */
export function noteAudit(facts: AuditFacts): void {
  const draft = drafts.getStore();
  if (draft) Object.assign(draft.facts, facts);
}

/**
 * Stores the row of the request in the transaction that does what it asks for, so that none is without the other. For
 * transactions after which the request can only succeed.
 */
export async function auditWithin(db: Queryable, facts: AuditFacts): Promise<void> {
  const draft = drafts.getStore();
  if (!draft) return;
  Object.assign(draft.facts, facts);
  await insertAudit(db, [draft.event()]);
  draft.isStored = true;
}
