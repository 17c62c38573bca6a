import { Body, Controller, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { DialChange, RuntimeDial } from '../../contracts/dial.js';
import { SpecId } from '../../contracts/ids.js';
import { CircuitReset, RuntimeAdmission } from '../../contracts/runtime-admission.js';
import { Caller, type Principal, Visiting, type Visitor } from '../common/caller.js';
import { Requires } from '../common/requires.js';
import { Tool } from '../common/tool.js';
import { Operation } from '../openapi/operation.js';
import { DialService } from './dial.service.js';
import { RuntimeAdmissionService } from './runtime-admission.service.js';

@Controller('runtimes')
export class RuntimeAdmissionController {
  constructor(
    private readonly dials: DialService,
    private readonly admissions: RuntimeAdmissionService,
  ) {}

  @Get(':id/admission')
  @Requires('read')
  @Tool({ name: 'get_runtime_admission', effect: 'read' })
  @Operation({
    summary: 'Limits, use, holders of slots, waiting runs and last decisions of a runtime, as its ledger has them',
    description: 'Of a shared runtime, runs of other workspaces are counted, and shown to the operator only.',
    answer: { status: 200, schema: RuntimeAdmission },
    refuses: ['NOT_FOUND', 'ADMISSION_UNREACHABLE'],
  })
  admission(
    @Caller() principal: Principal,
    @Visiting() { identity }: Visitor,
    @Param('id', { schema: SpecId }) id: string,
  ): Promise<RuntimeAdmission> {
    return this.admissions.read(principal, identity, id);
  }

  @Patch(':id/admission')
  @Requires('administer')
  @Tool({ name: 'set_runtime_admission', effect: 'destroy', isIdempotent: true, confirm: 'id' })
  @Operation({
    summary: 'Pauses, drains or limits a runtime, for a while or until it is taken back',
    description:
      'Reaches work that waits within 2 s; what runs is left alone. `{"mode": "open"}` takes everything back. Whatever is ' +
      'set holds for all versions of the runtime, and lowers its limits only. The operator steers shared runtimes.',
    answer: { status: 200, schema: RuntimeDial },
    bodyExample: { mode: 'paused', forSec: 1_800, reason: 'nodes are being replaced' },
    refuses: ['NOT_FOUND'],
  })
  turn(
    @Caller() principal: Principal,
    @Visiting() { identity }: Visitor,
    @Param('id', { schema: SpecId }) id: string,
    @Body({ schema: DialChange }) change: DialChange,
  ): Promise<RuntimeDial> {
    return this.dials.turn(principal, identity, id, change);
  }

  @Post(':id/admission/reset-circuit')
  @Requires('administer')
  @HttpCode(202)
  @Tool({ name: 'reset_runtime_circuit', effect: 'write', isIdempotent: true })
  @Operation({
    summary: 'Closes the circuit of a runtime that failed too often',
    description:
      'After three failures in a row of the runtime itself, of at least two runs, it gets no work for 30 s, and then one ' +
      'run to try. Whoever knows that it works again need not wait. The operator does so for shared runtimes.',
    answer: { status: 202, schema: CircuitReset },
    refuses: ['NOT_FOUND'],
  })
  resetCircuit(
    @Caller() principal: Principal,
    @Visiting() { identity }: Visitor,
    @Param('id', { schema: SpecId }) id: string,
  ): Promise<CircuitReset> {
    return this.dials.resetCircuit(principal, identity, id);
  }
}
