import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { WhoAmI, WorkspaceView } from '../../contracts/access.js';
import type { WorkspaceLimits, WorkspaceLimitsChange } from '../../contracts/workspace-limits.js';
import { noteAudit } from '../../store/audit-draft.js';
import { WorkspaceStore } from '../../store/workspace.store.js';
import type { Identity, Visitor } from '../common/caller.js';
import { decodeCursor, type ListQuery, type Page, toPage } from '../common/cursor.js';
import { notFound } from '../common/registration.js';
import { WorkflowClient } from '../common/workflow.client.js';
import { AccessMode } from './access-mode.js';

@Injectable()
export class WorkspacesService {
  constructor(
    private readonly workspaces: WorkspaceStore,
    private readonly mode: AccessMode,
    private readonly workflows: WorkflowClient,
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

  async limits(id: string): Promise<WorkspaceLimits> {
    const share = await this.workspaces.share(id);
    if (!share) throw notFound('workspace', id);
    return { id, ...share };
  }

  /** Reaches work that waits already, on its own runtimes and on the shared ones. */
  async setLimits(id: string, change: WorkspaceLimitsChange): Promise<WorkspaceLimits> {
    const changed = await this.workspaces.changeShare(id, change);
    if (!changed) throw notFound('workspace', id);
    this.workflows.signalLimits(changed);
    return this.limits(id);
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
      temporalUi: this.workflows.uiUrl ?? null,
    };
  }
}

const viewOf = ({ memberships }: Identity, id: string): WorkspaceView => ({
  id,
  role: memberships.find(({ workspace }) => workspace === id)?.role ?? 'operator',
});
