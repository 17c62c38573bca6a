import { Body, Controller, Get, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { WhoAmI, WorkspaceRequest, WorkspaceView } from '../../contracts/access.js';
import { Visiting, type Visitor } from '../common/caller.js';
import { ListQuery, type Page, pageOf } from '../common/cursor.js';
import { Requires } from '../common/requires.js';
import { Operation } from '../openapi/operation.js';
import { WorkspacesService } from './workspaces.service.js';

@Controller()
export class WorkspacesController {
  constructor(private readonly workspaces: WorkspacesService) {}

  @Get('whoami')
  @Requires('read', { isAnywhere: true })
  @Operation({
    summary: 'Who the platform takes the caller for, and what the caller may',
    answer: { status: 200, schema: WhoAmI },
  })
  whoAmI(@Visiting() visitor: Visitor): WhoAmI {
    return this.workspaces.describe(visitor);
  }

  @Post('workspaces')
  @Requires('operate', { isAnywhere: true })
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
  @Operation({
    summary: 'The workspaces the caller is in; the operator sees all',
    answer: { status: 200, schema: pageOf(WorkspaceView) },
  })
  list(@Visiting() visitor: Visitor, @Query({ schema: ListQuery }) query: ListQuery): Promise<Page<WorkspaceView>> {
    return this.workspaces.list(visitor, query);
  }
}
