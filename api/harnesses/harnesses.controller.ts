import { Body, Controller, Get, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { HarnessSpec } from '../../contracts/harness.js';
import { SpecId } from '../../contracts/ids.js';
import { Caller, type Principal } from '../common/caller.js';
import { answerRegistration } from '../common/registration.js';
import { Requires } from '../common/requires.js';
import { AskedVersion } from '../common/spec-params.js';
import { Tool } from '../common/tool.js';
import { HARNESS } from '../openapi/examples.js';
import { Operation } from '../openapi/operation.js';
import { HarnessesService } from './harnesses.service.js';

@Controller('harnesses')
export class HarnessesController {
  constructor(private readonly harnesses: HarnessesService) {}

  @Post()
  @Requires('register')
  @Tool({ name: 'create_harness', effect: 'write', isIdempotent: true, body: 'spec' })
  @Operation({
    summary: 'Registers a version of a harness',
    description:
      'Versions are immutable: the same content again answers 200, other content 409. ' +
      'A version of somebody who may not run it is unconfirmed, which `X-Everdict-Warning` says.',
    answer: { status: 201, schema: HarnessSpec, example: HARNESS },
    bodyExample: HARNESS,
    refuses: ['BAD_SPEC', 'CONFLICT'],
  })
  async register(
    @Caller() principal: Principal,
    @Body({ schema: HarnessSpec }) spec: HarnessSpec,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<HarnessSpec> {
    answerRegistration(reply, await this.harnesses.register(principal, spec), 'harnesses', spec);
    return spec;
  }

  @Get(':id/versions/:version')
  @Requires('read')
  @Tool({ name: 'get_harness', effect: 'read' })
  @Operation({
    summary: 'One version of a harness; `latest` is the highest',
    answer: { status: 200, schema: HarnessSpec, example: HARNESS },
    refuses: ['NOT_FOUND'],
  })
  read(
    @Caller() { workspace }: Principal,
    @Param('id', { schema: SpecId }) id: string,
    @Param('version', { schema: AskedVersion }) version: string,
  ): Promise<HarnessSpec> {
    return this.harnesses.read(workspace, id, version);
  }
}
