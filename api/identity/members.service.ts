import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { ChangedMember, Invitation, MemberView } from '../../contracts/access.js';
import { PlatformError } from '../../contracts/errors.js';
import type { Role } from '../../contracts/identity.js';
import { isWithin } from '../../policy/permissions.js';
import { noteAudit } from '../../store/audit-draft.js';
import { contentHash } from '../../store/content-hash.js';
import { KeyStore } from '../../store/key.store.js';
import { type MemberChange, MemberStore } from '../../store/member.store.js';
import type { Principal } from '../common/caller.js';
import { decodeCursor, type ListQuery, type Page, toPage } from '../common/cursor.js';
import { notFound } from '../common/registration.js';

@Injectable()
export class MembersService {
  constructor(
    private readonly members: MemberStore,
    private readonly keys: KeyStore,
  ) {}

  async invite({ workspace, subject: by }: Principal, invitation: Invitation) {
    const [, keyId] = /^key:(.+)$/.exec(invitation.subject) ?? [];
    if (keyId !== undefined) await this.refuseOwnKey(workspace, keyId);
    const invited = await this.members.invite(workspace, invitation, by);
    const isNew = invited.kind === 'inserted';
    noteAudit({
      object: invited.member.subject,
      ...(!isNew && { before: hashOf(invited.member) }),
      after: hashOf(invited.member),
    });
    if (invited.kind !== 'conflict') return { kind: invited.kind, member: invited.member };
    const { subject, role } = invited.member;
    const message = `${subject} is ${role} already: PATCH /members/${encodeURIComponent(subject)} gives it another role`;
    throw new PlatformError('CONFLICT', message);
  }

  async list(workspace: string, { cursor, limit }: ListQuery): Promise<Page<MemberView>> {
    const after = decodeCursor(z.string(), cursor);
    const found = await this.members.list(workspace, { after, limit: limit + 1 });
    return toPage(
      found,
      limit,
      (member) => member,
      ({ subject }) => subject,
    );
  }

  async changeRole(workspace: string, subject: string, role: Role, isForced: boolean): Promise<ChangedMember> {
    const mayKeep = (key: Parameters<typeof isWithin>[0]) => isWithin(key, { role, scope: 'admin' });
    const change = existing(subject, await this.members.changeRole(workspace, subject, role, mayKeep, isForced));
    const { member, formerRole } = change;
    noteAudit({ object: member.subject, before: hashOf({ ...member, role: formerRole }), after: hashOf(member) });
    return shown(change);
  }

  async remove(workspace: string, subject: string, isForced: boolean): Promise<ChangedMember> {
    const change = existing(subject, await this.members.remove(workspace, subject, isForced));
    noteAudit({ object: change.member.subject, before: hashOf(change.member) });
    return shown(change);
  }

  private async refuseOwnKey(workspace: string, id: string): Promise<void> {
    const key = await this.keys.find(id);
    if (!key) throw notFound('key', id);
    if (key.workspaceId !== workspace) return;
    const message = `key ${id} is of this workspace, with a role of its own: make another one with POST /keys`;
    throw new PlatformError('CONFLICT', message, { errors: [{ path: 'subject', message }] });
  }
}

const hashOf = ({ subject, role }: Pick<MemberView, 'subject' | 'role'>): string => contentHash({ subject, role });

function existing(subject: string, change: MemberChange | undefined): MemberChange {
  if (!change) throw notFound('member', subject);
  return change;
}

const shown = ({ member, revokedKeys }: MemberChange): ChangedMember => ({ ...member, revokedKeys });
