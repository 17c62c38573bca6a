import { Body, Controller, Delete, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CiBindingId, CiBindingRequest, CiBindingView } from '../../contracts/access.js';
import { Caller, type Principal } from '../common/caller.js';
import { ListQuery, type Page, pageOf } from '../common/cursor.js';
import { Requires } from '../common/requires.js';
import { Tool } from '../common/tool.js';
import { Operation } from '../openapi/operation.js';
import { CiBindingsService } from './ci-bindings.service.js';

@Controller('ci-bindings')
export class CiBindingsController {
  constructor(private readonly bindings: CiBindingsService) {}

  @Post()
  @Requires('administer')
  @Tool({ name: 'create_ci_binding', effect: 'write', isIdempotent: true })
  @Operation({
    summary: 'Makes the workflows of a GitHub repository the CI of the workspace',
    description:
      'They come with the OIDC token GitHub gives them, and need no key. The same binding again answers 200.',
    answer: { status: 201, schema: CiBindingView },
    bodyExample: { repository: 'acme/agent', ref: 'refs/heads/main' },
  })
  async create(
    @Caller() caller: Principal,
    @Body({ schema: CiBindingRequest }) request: CiBindingRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CiBindingView> {
    const { kind, binding } = await this.bindings.create(caller, request);
    reply.status(kind === 'inserted' ? 201 : 200);
    return binding;
  }

  @Get()
  @Requires('administer')
  @Tool({ name: 'list_ci_bindings', effect: 'read' })
  @Operation({ summary: 'Every binding, newest first', answer: { status: 200, schema: pageOf(CiBindingView) } })
  list(
    @Caller() { workspace }: Principal,
    @Query({ schema: ListQuery }) query: ListQuery,
  ): Promise<Page<CiBindingView>> {
    return this.bindings.list(workspace, query);
  }

  @Delete(':id')
  @Requires('administer')
  @Tool({ name: 'delete_ci_binding', effect: 'destroy', isIdempotent: true, confirm: 'id' })
  @Operation({
    summary: 'Takes a binding back',
    answer: { status: 200, schema: CiBindingView },
    refuses: ['NOT_FOUND'],
  })
  remove(
    @Caller() { workspace }: Principal,
    @Param('id', { schema: CiBindingId }) id: CiBindingId,
  ): Promise<CiBindingView> {
    return this.bindings.remove(workspace, id);
  }
}
