import type { DataSource } from 'typeorm';
import { AuditEvent } from '../contracts/audit.js';
import { GroupWriter } from './group-writer.js';
import { idAt } from './ids.js';
import { affected, type Queryable, rows } from './sql.js';

export type WorkspaceEvent = AuditEvent & { workspace: string };

export interface AuditFilter {
  subject?: string;
  /** An action, or the resource of several: `runtimes`. */
  action?: string;
  /** An object, or the id of all its versions. */
  object?: string;
  /** Epoch ms; the first belongs to what is found, the second does not. */
  since?: number;
  until?: number;
  /** The last id of the page before. */
  after?: string;
  limit: number;
}

const COLUMNS =
  'id, at, subject, role, key_id AS "keyId", action, kind, object, source, request_id AS "requestId", status, code, ' +
  'before_hash AS before, after_hash AS after';
const PURGE_BATCH = 10_000;
const DAY_MS = 86_400_000;

/** Rows that are there already stay as they are. */
export async function insertAudit(db: Queryable, events: readonly WorkspaceEvent[]): Promise<void> {
  await rows(
    db,
    `INSERT INTO audit_events (id, at, workspace_id, subject, role, key_id, action, kind, object, source, request_id,
       status, code, before_hash, after_hash)
     SELECT id, at, workspace, subject, role, "keyId", action, kind, object, source, "requestId", status, code, before, after
     FROM jsonb_to_recordset($1::jsonb) AS event (id text, at timestamptz, workspace text, subject text, role text,
       "keyId" text, action text, kind text, object text, source text, "requestId" text, status integer, code text,
       before text, after text)
     ON CONFLICT DO NOTHING`,
    [JSON.stringify(events)],
  );
}

/** Who did what. Rows are added and, once they are old, deleted; none is ever changed. */
export class AuditStore {
  private readonly writer: GroupWriter<WorkspaceEvent, void>;

  constructor(private readonly dataSource: DataSource) {
    this.writer = new GroupWriter<WorkspaceEvent, void>({
      write: async (events) => {
        await insertAudit(dataSource, events);
        return events.map(() => undefined);
      },
      keyOf: ({ id }) => id,
    });
  }

  /** Together with those that come at the same time. */
  record(event: WorkspaceEvent): Promise<void> {
    return this.writer.submit(event);
  }

  /** Newest first. */
  async page(workspaceId: string, filter: AuditFilter): Promise<AuditEvent[]> {
    const { subject, action, object, since, until, after, limit } = filter;
    const found = await rows<Omit<AuditEvent, 'at'> & { at: Date }>(
      this.dataSource,
      `SELECT ${COLUMNS} FROM audit_events
       WHERE workspace_id = $1 AND ($2::text IS NULL OR id < $2) AND ($3::text IS NULL OR id >= $3)
         AND ($4::text IS NULL OR id < $4) AND ($5::text IS NULL OR subject = $5)
         AND ($6::text IS NULL OR action = $6 OR split_part(action, '.', 1) = $6)
         AND ($7::text IS NULL OR object = $7 OR split_part(object, '@', 1) = $7)
       ORDER BY id DESC LIMIT $8`,
      [
        workspaceId,
        after ?? null,
        since === undefined ? null : idAt('aud', since),
        until === undefined ? null : idAt('aud', until),
        subject ?? null,
        action ?? null,
        object ?? null,
        limit,
      ],
    );
    return found.map((event) => AuditEvent.parse({ ...event, at: event.at.toISOString() }));
  }

  /** Deletes what is older, a batch at a time. */
  purge(days: number, now = Date.now()): Promise<number> {
    return affected(
      this.dataSource,
      'DELETE FROM audit_events WHERE id IN (SELECT id FROM audit_events WHERE id < $1 ORDER BY id LIMIT $2)',
      [idAt('aud', now - days * DAY_MS), PURGE_BATCH],
    );
  }
}
