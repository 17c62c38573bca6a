import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { WhoAmI, WorkspaceView } from '../../contracts/access.js';
import { noteAudit } from '../../store/audit-draft.js';
import { WorkspaceStore } from '../../store/workspace.store.js';
import type { Identity, Visitor } from '../common/caller.js';
import { decodeCursor, type ListQuery, type Page, toPage } from '../common/cursor.js';
import { AccessMode } from './access-mode.js';

@Injectable()
export class WorkspacesService {
  constructor(
    private readonly workspaces: WorkspaceStore,
    private readonly mode: AccessMode,
  ) {}

  create(id: string): Promise<'inserted' | 'unchanged'> {
    noteAudit({ object: id });
    return this.workspaces.create(id);
  }

  async list({ identity }: Visitor, { cursor, limit }: ListQuery): Promise<Page<WorkspaceView>> {
    const after = decodeCursor(z.string(), cursor);
    const found = identity.isOperator
      ? await this.workspaces.list({ after, limit: limit + 1 })
      : identity.memberships
          .map(({ workspace }) => workspace)
          .sort()
          .filter((id) => after === undefined || id > after);
    return toPage(
      found,
      limit,
      (id) => viewOf(identity, id),
      (id) => id,
    );
  }

  describe({ identity, principal }: Visitor): WhoAmI {
    const { subject, scope, isOperator, expiresAt } = identity;
    return {
      subject,
      mode: this.mode.isOn ? 'authenticated' : 'dev',
      scope,
      isOperator,
      workspace: principal?.workspace ?? null,
      role: principal?.role ?? null,
      workspaces: identity.memberships.map(({ workspace }) => viewOf(identity, workspace)),
      expiresAt: expiresAt?.toISOString() ?? null,
    };
  }
}

const viewOf = ({ memberships }: Identity, id: string): WorkspaceView => ({
  id,
  role: memberships.find(({ workspace }) => workspace === id)?.role ?? 'operator',
});
