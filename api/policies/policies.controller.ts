import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { GatePolicy, RegisteredPolicy } from '../../contracts/gate.js';
import { SpecId } from '../../contracts/ids.js';
import { Caller, type Principal } from '../common/caller.js';
import { type Page, pageOf } from '../common/cursor.js';
import { Requires } from '../common/requires.js';
import { AskedVersion } from '../common/spec-params.js';
import { Tool } from '../common/tool.js';
import { POLICY } from '../openapi/examples.js';
import { Operation } from '../openapi/operation.js';
import { PolicyQuery } from './policies.schema.js';
import { PoliciesService } from './policies.service.js';

@Controller('policies')
export class PoliciesController {
  constructor(private readonly policies: PoliciesService) {}

  @Post()
  @Requires('curate')
  @Tool({ name: 'create_policy', effect: 'write', isIdempotent: true, body: 'spec' })
  @Operation({
    summary: 'Registers a version of a gate policy',
    description: 'Versions are immutable: the same content again answers 200, other content 409.',
    answer: { status: 201, schema: GatePolicy, example: POLICY },
    bodyExample: POLICY,
    refuses: ['CONFLICT'],
  })
  async register(
    @Caller() principal: Principal,
    @Body({ schema: GatePolicy }) policy: GatePolicy,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<GatePolicy> {
    const { isNew } = await this.policies.register(principal, policy);
    reply.status(isNew ? 201 : 200);
    reply.header('location', `/policies/${policy.id}/versions/${encodeURIComponent(policy.version)}`);
    return policy;
  }

  @Get()
  @Requires('read')
  @Tool({ name: 'list_policies', effect: 'read' })
  @Operation({
    summary: 'Every version of every gate policy of the workspace',
    description: '`GET /policies/{id}/versions/{version}` has the rules.',
    answer: { status: 200, schema: pageOf(RegisteredPolicy) },
  })
  list(
    @Caller() { workspace }: Principal,
    @Query({ schema: PolicyQuery }) query: PolicyQuery,
  ): Promise<Page<RegisteredPolicy>> {
    return this.policies.list(workspace, query);
  }

  @Get(':id/versions/:version')
  @Requires('read')
  @Tool({ name: 'get_policy', effect: 'read' })
  @Operation({
    summary: 'One version of a gate policy; `latest` is the highest',
    answer: { status: 200, schema: GatePolicy, example: POLICY },
    refuses: ['NOT_FOUND'],
  })
  read(
    @Caller() { workspace }: Principal,
    @Param('id', { schema: SpecId }) id: string,
    @Param('version', { schema: AskedVersion }) version: string,
  ): Promise<GatePolicy> {
    return this.policies.read(workspace, id, version);
  }
}
