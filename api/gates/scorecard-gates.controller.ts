import { Body, Controller, Headers, HttpCode, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { GateRequest, GateResult } from '../../contracts/gate.js';
import { Caller, type Principal } from '../common/caller.js';
import { Requires } from '../common/requires.js';
import { Tool } from '../common/tool.js';
import { GATE_REQUEST, IDEMPOTENCY_HEADER } from '../openapi/examples.js';
import { Operation } from '../openapi/operation.js';
import { GatesService } from './gates.service.js';

@Controller('scorecards')
export class ScorecardGatesController {
  constructor(private readonly gates: GatesService) {}

  @Post('gate')
  @Requires('run')
  @HttpCode(200)
  @Tool({ name: 'gate_scorecard', effect: 'write' })
  @Operation({
    summary: 'Judges a finished scorecard by a policy, against a baseline if that is given',
    description:
      '`pass`: every rule holds. `block`: one does not, however what is unknown turns out. `inconclusive`: that decides, ' +
      'and `evidence.wouldDecide` says how to find out. `blocked_missing`: cases are absent, cancelled or not finished. ' +
      '`not_comparable`: the two differ in more than their results. The verdict is stored, and `GET /gates/{id}` gives it ' +
      'again. A candidate that is not finished is refused, or waited for with `waitSec`.',
    bodyExample: GATE_REQUEST,
    headers: IDEMPOTENCY_HEADER,
    answer: { status: 200, schema: GateResult },
    refuses: ['NOT_FOUND', 'CONFLICT'],
  })
  judge(
    @Caller() caller: Principal,
    @Body({ schema: GateRequest }) request: GateRequest,
    @Headers('idempotency-key') key: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<GateResult> {
    const left = new AbortController();
    reply.raw.once('close', () => left.abort());
    return this.gates.judge(caller, request, key, left.signal);
  }
}
