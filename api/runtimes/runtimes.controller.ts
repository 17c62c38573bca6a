import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { SpecId } from '../../contracts/ids.js';
import { RuntimeSpec } from '../../contracts/runtime.js';
import { Caller, type Principal } from '../common/caller.js';
import { ListQuery, type Page, pageOf } from '../common/cursor.js';
import { answerRegistration } from '../common/registration.js';
import { Requires } from '../common/requires.js';
import { AskedVersion } from '../common/spec-params.js';
import { RUNTIME } from '../openapi/examples.js';
import { Operation } from '../openapi/operation.js';
import { RuntimesService } from './runtimes.service.js';

@Controller('runtimes')
export class RuntimesController {
  constructor(private readonly runtimes: RuntimesService) {}

  @Post()
  @Requires('register')
  @Operation({
    summary: 'Registers a version of a runtime',
    description:
      'Versions are immutable: the same content again answers 200, other content 409. What is stored also names the capabilities that follow from the spec.',
    answer: { status: 201, schema: RuntimeSpec, example: RUNTIME },
    bodyExample: RUNTIME,
    refuses: ['BAD_SPEC', 'CONFLICT'],
  })
  async register(
    @Caller() { workspace }: Principal,
    @Body({ schema: RuntimeSpec }) spec: RuntimeSpec,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RuntimeSpec> {
    const { outcome, stored } = await this.runtimes.register(workspace, spec);
    answerRegistration(reply, outcome, 'runtimes', spec);
    return stored;
  }

  @Get()
  @Requires('read')
  @Operation({
    summary: 'Every registered version of every runtime',
    answer: { status: 200, schema: pageOf(RuntimeSpec) },
  })
  list(@Caller() { workspace }: Principal, @Query({ schema: ListQuery }) query: ListQuery): Promise<Page<RuntimeSpec>> {
    return this.runtimes.list(workspace, query);
  }

  @Get(':id/versions/:version')
  @Requires('read')
  @Operation({
    summary: 'One version of a runtime; `latest` is the highest',
    answer: { status: 200, schema: RuntimeSpec, example: RUNTIME },
    refuses: ['NOT_FOUND'],
  })
  read(
    @Caller() { workspace }: Principal,
    @Param('id', { schema: SpecId }) id: string,
    @Param('version', { schema: AskedVersion }) version: string,
  ): Promise<RuntimeSpec> {
    return this.runtimes.read(workspace, id, version);
  }
}
