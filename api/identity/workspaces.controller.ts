import { Body, Controller, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { WhoAmI, WorkspaceRequest, WorkspaceView } from '../../contracts/access.js';
import { WorkspaceId } from '../../contracts/ids.js';
import { WorkspaceLimits, WorkspaceLimitsChange } from '../../contracts/workspace-limits.js';
import { Visiting, type Visitor } from '../common/caller.js';
import { ListQuery, type Page, pageOf } from '../common/cursor.js';
import { Requires } from '../common/requires.js';
import { Tool } from '../common/tool.js';
import { Operation } from '../openapi/operation.js';
import { WorkspacesService } from './workspaces.service.js';

@Controller()
export class WorkspacesController {
  constructor(private readonly workspaces: WorkspacesService) {}

  @Get('whoami')
  @Requires('read', { isAnywhere: true })
  @Tool({ name: 'whoami', effect: 'read' })
  @Operation({
    summary: 'Who the platform takes the caller for, and what the caller may',
    answer: { status: 200, schema: WhoAmI },
  })
  whoAmI(@Visiting() visitor: Visitor): WhoAmI {
    return this.workspaces.describe(visitor);
  }

  @Post('workspaces')
  @Requires('operate', { isAnywhere: true })
  @Tool({ name: 'create_workspace', effect: 'write', isIdempotent: true })
  @Operation({
    summary: 'Makes a workspace',
    description:
      'Then the operator makes a key for its first admin with POST /keys, or invites one with POST /members, with the ' +
      'header `x-everdict-workspace`. The same id again answers 200.',
    answer: { status: 201, schema: WorkspaceView },
    bodyExample: { id: 'research' },
  })
  async create(
    @Body({ schema: WorkspaceRequest }) { id }: WorkspaceRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WorkspaceView> {
    reply.status((await this.workspaces.create(id)) === 'inserted' ? 201 : 200);
    return { id, role: 'operator' };
  }

  @Get('workspaces')
  @Requires('read', { isAnywhere: true })
  @Tool({ name: 'list_workspaces', effect: 'read' })
  @Operation({
    summary: 'The workspaces the caller is in; the operator sees all',
    answer: { status: 200, schema: pageOf(WorkspaceView) },
  })
  list(@Visiting() visitor: Visitor, @Query({ schema: ListQuery }) query: ListQuery): Promise<Page<WorkspaceView>> {
    return this.workspaces.list(visitor, query);
  }

  @Get('workspaces/:id')
  @Requires('operate', { isAnywhere: true })
  @Tool({ name: 'get_workspace', effect: 'read' })
  @Operation({
    summary: 'Weight and quota of a workspace, and how many of its runs have a slot',
    answer: { status: 200, schema: WorkspaceLimits },
    refuses: ['NOT_FOUND'],
  })
  limits(@Param('id', { schema: WorkspaceId }) id: string): Promise<WorkspaceLimits> {
    return this.workspaces.limits(id);
  }

  @Patch('workspaces/:id')
  @Requires('operate', { isAnywhere: true })
  @Tool({ name: 'set_workspace_limits', effect: 'write', isIdempotent: true })
  @Operation({
    summary: 'Sets weight and quota of a workspace',
    description:
      'Reaches work that waits within 2 s. A quota counts over all runtimes, and stops nothing that runs: it grants no ' +
      'more until there is room.',
    answer: { status: 200, schema: WorkspaceLimits },
    bodyExample: { weight: 2, maxRunning: 50 },
    refuses: ['NOT_FOUND'],
  })
  setLimits(
    @Param('id', { schema: WorkspaceId }) id: string,
    @Body({ schema: WorkspaceLimitsChange }) change: WorkspaceLimitsChange,
  ): Promise<WorkspaceLimits> {
    return this.workspaces.setLimits(id, change);
  }
}
