import type { DataSource } from 'typeorm';
import { type Invitation, isEmail, type MemberView } from '../contracts/access.js';
import type { Role, Scope } from '../contracts/identity.js';
import { asAdmin, isLiveKey, keepingAnAdmin } from './admins.js';
import { type Queryable, row, rows } from './sql.js';

/** What somebody is in a workspace. */
export interface Membership {
  workspace: string;
  role: Role;
  /** Absent: it is nobody else's word. */
  isAccepted?: boolean;
}

interface MemberRow {
  subject: string;
  role: Role;
  email: string | null;
  invited_by: string;
  created_at: Date;
}

/** What is done to a member, and to the keys the member made. */
export interface MemberChange {
  /** What the member was. */
  formerRole: Role;
  member: MemberView;
  revokedKeys: string[];
}

const COLUMNS = 'subject, role, email, invited_by, created_at';

const toMember = (stored: MemberRow): MemberView => ({
  subject: stored.subject,
  role: stored.role,
  email: stored.email,
  invitedBy: stored.invited_by,
  createdAt: stored.created_at.toISOString(),
});

/** Members are named by their subject, or by the address they were invited by. */
export class MemberStore {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * The workspaces of somebody, the oldest first. Whoever comes with a proven e-mail address takes the invitations to it:
   * they are that subject's from then on, whoever has the address later.
   */
  async membershipsOf(subject: string, email?: string): Promise<Membership[]> {
    const found = await rows<Membership & { isEmail: boolean }>(
      this.dataSource,
      `SELECT workspace_id AS workspace, role, accepted_at IS NOT NULL AS "isAccepted", subject <> $1 AS "isEmail"
       FROM members WHERE subject = $1 OR subject = $2 ORDER BY created_at, workspace_id`,
      [subject, email ?? null],
    );
    const own = found.filter((membership) => !membership.isEmail);
    const isTaken = ({ workspace }: Membership) => own.some((membership) => membership.workspace === workspace);
    const fresh = found.filter((membership) => membership.isEmail && !isTaken(membership));
    if (fresh.length === 0) return own;
    await rows(
      this.dataSource,
      `UPDATE members m SET subject = $1 WHERE subject = $2
       AND NOT EXISTS (SELECT FROM members o WHERE o.workspace_id = m.workspace_id AND o.subject = $1)`,
      [subject, email],
    );
    return [...own, ...fresh];
  }

  /** Notes that a member acts in a workspace. */
  async accept(workspaceId: string, subject: string): Promise<void> {
    await rows(
      this.dataSource,
      'UPDATE members SET accepted_at = now() WHERE workspace_id = $1 AND subject = $2 AND accepted_at IS NULL',
      [workspaceId, subject],
    );
  }

  /** `unchanged`: a member with this role already. `conflict`: with another. */
  async invite(
    workspaceId: string,
    { subject, role }: Invitation,
    invitedBy: string,
  ): Promise<{ kind: 'inserted' | 'unchanged' | 'conflict'; member: MemberView }> {
    const inserted = await asAdmin(this.dataSource, workspaceId, invitedBy, (db) =>
      row<MemberRow>(
        db,
        `INSERT INTO members (workspace_id, subject, role, invited_by, email) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
        [workspaceId, subject, role, invitedBy, isEmail(subject) ? subject : null],
      ),
    );
    if (inserted) return { kind: 'inserted', member: toMember(inserted) };
    const member = await findMember(this.dataSource, workspaceId, subject);
    if (!member) return this.invite(workspaceId, { subject, role }, invitedBy);
    return { kind: member.role === role ? 'unchanged' : 'conflict', member };
  }

  /** By subject; `after` is the last one of the page before. */
  async list(workspaceId: string, { after = '', limit }: { after?: string; limit: number }): Promise<MemberView[]> {
    const found = await rows<MemberRow>(
      this.dataSource,
      `SELECT ${COLUMNS} FROM members
       WHERE workspace_id = $1 AND subject COLLATE "C" > $2 ORDER BY subject COLLATE "C" LIMIT $3`,
      [workspaceId, after, limit],
    );
    return found.map(toMember);
  }

  /** `mayKeep` tells of a key the member made whether it is no stronger than the new role. */
  changeRole(
    workspaceId: string,
    subject: string,
    role: Role,
    mayKeep: (key: { role: Role; scope: Scope }) => boolean,
    isForced: boolean,
  ): Promise<MemberChange | undefined> {
    return keepingAnAdmin(this.dataSource, workspaceId, isForced, async (db) => {
      const former = await findMember(db, workspaceId, subject);
      const changed = await row<MemberRow>(
        db,
        `UPDATE members SET role = $3 WHERE workspace_id = $1 AND $2 IN (subject, email) RETURNING ${COLUMNS}`,
        [workspaceId, subject, role],
      );
      return changed && { ...(await withRevoked(db, workspaceId, changed, mayKeep)), formerRole: former?.role ?? role };
    });
  }

  remove(workspaceId: string, subject: string, isForced: boolean): Promise<MemberChange | undefined> {
    return keepingAnAdmin(this.dataSource, workspaceId, isForced, async (db) => {
      const removed = await row<MemberRow>(
        db,
        `DELETE FROM members WHERE workspace_id = $1 AND $2 IN (subject, email) RETURNING ${COLUMNS}`,
        [workspaceId, subject],
      );
      return removed && withRevoked(db, workspaceId, removed, () => false);
    });
  }
}

async function findMember(db: Queryable, workspaceId: string, subject: string): Promise<MemberView | undefined> {
  const found = await row<MemberRow>(
    db,
    `SELECT ${COLUMNS} FROM members WHERE workspace_id = $1 AND $2 IN (subject, email)`,
    [workspaceId, subject],
  );
  return found && toMember(found);
}

/** Revokes what somebody made, and what was made with that, unless it may be kept. */
async function withRevoked(
  db: Queryable,
  workspaceId: string,
  stored: MemberRow,
  mayKeep: (key: { role: Role; scope: Scope }) => boolean,
): Promise<MemberChange> {
  const made = await rows<{ id: string; role: Role; scope: Scope }>(
    db,
    `WITH RECURSIVE made AS (
       SELECT id FROM api_keys WHERE workspace_id = $1 AND created_by = $2
       UNION
       SELECT k.id FROM api_keys k JOIN made ON k.created_by = 'key:' || made.id WHERE k.workspace_id = $1
     ) SELECT k.id, k.role, k.scope FROM api_keys k JOIN made USING (id) WHERE ${isLiveKey('k')} ORDER BY k.seq`,
    [workspaceId, stored.subject],
  );
  const revokedKeys = made.filter((key) => !mayKeep(key)).map(({ id }) => id);
  await rows(db, 'UPDATE api_keys SET revoked_at = now() WHERE id = ANY ($1)', [revokedKeys]);
  return { member: toMember(stored), formerRole: stored.role, revokedKeys };
}
