import { Body, Controller, Get, Headers, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { SpecId } from '../../contracts/ids.js';
import { RuntimeSpec } from '../../contracts/runtime.js';
import { Caller, type Principal } from '../common/caller.js';
import { addWarnings, answerRegistration } from '../common/registration.js';
import { Requires } from '../common/requires.js';
import { AskedVersion } from '../common/spec-params.js';
import { Tool } from '../common/tool.js';
import { RUNTIME } from '../openapi/examples.js';
import { Operation } from '../openapi/operation.js';
import { CHECK_HEADER } from './check-tokens.js';
import { RuntimesService } from './runtimes.service.js';

@Controller('runtimes')
export class RuntimesController {
  constructor(private readonly runtimes: RuntimesService) {}

  @Post()
  @Requires('register')
  @Tool({ name: 'create_runtime', effect: 'write', isIdempotent: true, body: 'spec' })
  @Operation({
    summary: 'Registers a version of a runtime',
    description:
      'Versions are immutable: the same content again answers 200, other content 409. What is stored also names the ' +
      'capabilities that follow from the spec. A version of somebody who may not run it is unconfirmed, which ' +
      '`X-Everdict-Warning` says; it also names other runtimes at the same cluster address.',
    answer: { status: 201, schema: RuntimeSpec, example: RUNTIME },
    bodyExample: RUNTIME,
    headers: { 'X-Everdict-Check': 'The `checkToken` of a probe or a validation: takes no other spec than that one' },
    refuses: ['BAD_SPEC', 'CONFLICT'],
  })
  async register(
    @Caller() principal: Principal,
    @Body({ schema: RuntimeSpec }) spec: RuntimeSpec,
    @Headers(CHECK_HEADER) checkToken: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RuntimeSpec> {
    const { outcome, stored, warnings } = await this.runtimes.register(principal, spec, checkToken);
    answerRegistration(reply, outcome, 'runtimes', spec);
    addWarnings(reply, warnings);
    return stored;
  }

  @Get(':id/versions/:version')
  @Requires('read')
  @Tool({ name: 'get_runtime', effect: 'read' })
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
