import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { GateOverride, GateResult, GateSummary } from '../../contracts/gate.js';
import { GateId } from '../../contracts/ids.js';
import { Caller, type Principal } from '../common/caller.js';
import { type Page, pageOf } from '../common/cursor.js';
import { Requires } from '../common/requires.js';
import { Tool } from '../common/tool.js';
import { GATE_OVERRIDE } from '../openapi/examples.js';
import { Operation } from '../openapi/operation.js';
import { GateQuery } from './gates.schema.js';
import { GatesService } from './gates.service.js';

@Controller('gates')
export class GatesController {
  constructor(private readonly gates: GatesService) {}

  @Get()
  @Requires('read')
  @Tool({ name: 'list_gates', effect: 'read' })
  @Operation({
    summary: 'Verdicts of gates in short, newest first',
    description: '`GET /gates/{id}` has the reasons in full, the evidence and the rules.',
    answer: { status: 200, schema: pageOf(GateSummary) },
  })
  list(@Caller() { workspace }: Principal, @Query({ schema: GateQuery }) query: GateQuery): Promise<Page<GateSummary>> {
    return this.gates.list(workspace, query);
  }

  @Get(':id')
  @Requires('read')
  @Tool({ name: 'get_gate', effect: 'read' })
  @Operation({
    summary: 'The verdict of a gate, with what was said against it',
    answer: { status: 200, schema: GateResult },
    refuses: ['NOT_FOUND'],
  })
  read(@Caller() { workspace }: Principal, @Param('id', { schema: GateId }) id: GateId): Promise<GateResult> {
    return this.gates.read(workspace, id);
  }

  @Post(':id/override')
  @Requires('curate')
  @HttpCode(200)
  @Tool({ name: 'override_gate', effect: 'destroy', isIdempotent: true, confirm: 'id' })
  @Operation({
    summary: 'Says `pass` or `block` against the verdict of a gate, and why',
    description:
      '`effective` is then what was said; `verdict` stays what the rules say. Who said it is kept, and so is what was said ' +
      'before. The same again by the same person changes nothing.',
    bodyExample: GATE_OVERRIDE,
    answer: { status: 200, schema: GateResult },
    refuses: ['NOT_FOUND'],
  })
  override(
    @Caller() caller: Principal,
    @Param('id', { schema: GateId }) id: GateId,
    @Body({ schema: GateOverride }) override: GateOverride,
  ): Promise<GateResult> {
    return this.gates.override(caller, id, override);
  }
}
