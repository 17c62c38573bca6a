import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { SpecId } from '../../contracts/ids.js';
import { InspectionReport, ProbeReport } from '../../contracts/inspection.js';
import { RuntimeSpec } from '../../contracts/runtime.js';
import { Validation } from '../../contracts/runtime-check.js';
import { Caller, type Principal } from '../common/caller.js';
import { Requires } from '../common/requires.js';
import { AskedVersion } from '../common/spec-params.js';
import { Takes } from '../common/takes.js';
import { Tool } from '../common/tool.js';
import { NOMAD_RUNTIME } from '../openapi/examples.js';
import { Operation } from '../openapi/operation.js';
import { RuntimeChecksService } from './runtime-checks.service.js';

@Controller('runtimes')
export class RuntimeChecksController {
  constructor(private readonly checks: RuntimeChecksService) {}

  @Post('validate')
  @HttpCode(200)
  @Takes('junk')
  @Requires('register')
  @Tool({ name: 'validate_runtime', effect: 'read', isContent: true, body: 'spec' })
  @Operation({
    summary: 'Says whether a runtime could be registered',
    description:
      'Answers 200 whatever the body is: `ok` with what is known, or `errors` by place. Asks no cluster and stores nothing. ' +
      'Secrets that are not there yet are `missingSecrets` and no error.',
    answer: { status: 200, schema: Validation },
    body: RuntimeSpec,
    bodyExample: NOMAD_RUNTIME,
  })
  validate(@Caller() { workspace }: Principal, @Body() body: unknown): Promise<Validation> {
    return this.checks.validate(workspace, body);
  }

  @Post('probe')
  @HttpCode(200)
  @Requires('register')
  @Tool({ name: 'probe_runtime', effect: 'read', isContent: true, body: 'spec' })
  @Operation({
    summary: 'Says whether the cluster of a runtime answers and accepts us',
    description:
      'Takes the whole spec, registered or not, and at most 10 s. `reason` is absent on success: `auth` it does not accept ' +
      'the credential, `unreachable` nothing answers in time, `error` something else answers, `refused` it is not asked. ' +
      'A workspace may have 4 probes and inspections under way.',
    answer: { status: 200, schema: ProbeReport },
    bodyExample: NOMAD_RUNTIME,
    refuses: ['TOO_MANY_REQUESTS'],
  })
  probe(@Caller() principal: Principal, @Body({ schema: RuntimeSpec }) spec: RuntimeSpec): Promise<ProbeReport> {
    return this.checks.probe(principal, spec);
  }

  @Get(':id/versions/:version/inspect')
  @Requires('register')
  @Tool({ name: 'inspect_runtime', effect: 'read', isContent: true })
  @Operation({
    summary: 'What the cluster of a registered runtime has, and what of it is in use',
    description:
      'Takes at most 15 s. What cannot be read after the first answer is left out, and a warning says so. ' +
      'A version that nobody confirmed is looked at without its secret.',
    answer: { status: 200, schema: InspectionReport },
    refuses: ['NOT_FOUND', 'TOO_MANY_REQUESTS', 'SECRET_MISSING', 'CLUSTER_UNREACHABLE'],
    isAudited: true,
  })
  inspect(
    @Caller() { workspace }: Principal,
    @Param('id', { schema: SpecId }) id: string,
    @Param('version', { schema: AskedVersion }) version: string,
  ): Promise<InspectionReport> {
    return this.checks.inspect(workspace, id, version);
  }
}
