import { Body, Controller, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ScorecardId } from '../../contracts/ids.js';
import { RegradeRequest } from '../../contracts/regrade.js';
import { Caller, type Principal } from '../common/caller.js';
import { Requires } from '../common/requires.js';
import { Tool } from '../common/tool.js';
import { IDEMPOTENCY_HEADER } from '../openapi/examples.js';
import { Operation, SUBMIT_REFUSALS } from '../openapi/operation.js';
import { RegradesService } from './regrades.service.js';
import { Regraded, Retried, RetryQuery } from './rerolls.schema.js';
import { RetriesService } from './retries.service.js';
import { linksOf } from './scorecards.schema.js';

@Controller('scorecards')
export class RerollsController {
  constructor(
    private readonly retries: RetriesService,
    private readonly regrades: RegradesService,
  ) {}

  @Post(':id/retry')
  @Requires('stop')
  @HttpCode(202)
  @Tool({ name: 'retry_scorecard', effect: 'write' })
  @Operation({
    summary: 'Runs cases of a finished scorecard again, in a new one that carries the other results',
    description:
      'Same dataset, harness and runtimes. Without `class`: what ended as infrastructure errors. The new scorecard names ' +
      'the first in `retryOf`, and its `rerolls` keep the numbers as they stood before: a case that was run again until ' +
      'it passed is no first attempt. CI retries only what it submitted itself.',
    headers: IDEMPOTENCY_HEADER,
    answer: { status: 202, schema: Retried },
    refuses: ['NO_CASES', ...SUBMIT_REFUSALS],
  })
  async retry(
    @Caller() caller: Principal,
    @Param('id', { schema: ScorecardId }) id: ScorecardId,
    @Query({ schema: RetryQuery }) query: RetryQuery,
    @Headers('idempotency-key') key: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Retried> {
    const { view, warnings } = await this.retries.retry(caller, id, query.class, key);
    const { status, runtime, counts, rerolls } = view;
    const links = linksOf(view.id);
    reply.header('location', links.self);
    const retried = rerolls.at(-1)?.retried ?? 0;
    const carried = counts.submitted - retried;
    return { id: view.id, status, runtime, cases: counts.submitted, links, warnings, retryOf: id, carried, retried };
  }

  @Post(':id/regrade')
  @Requires('curate')
  @HttpCode(202)
  @Tool({ name: 'regrade_scorecard', effect: 'write' })
  @Operation({
    summary: 'Grades the stored answers of a finished scorecard anew, in a new one',
    description:
      'Nothing runs. Either these `graders` judge every case, or those that the case of the same id has in another ' +
      'dataset. What errored, was cancelled or was decided by an operator stays as it is. An answer that was cut passes no ' +
      'grader that needs all of it, and one that is no longer stored errs as RESULT_LOST. `command` graders need the job.',
    headers: IDEMPOTENCY_HEADER,
    bodyExample: { graders: [{ kind: 'regex', pattern: '^(yes|no)$' }] },
    answer: { status: 202, schema: Regraded },
    refuses: ['NO_CASES', 'NOT_FOUND', 'CONFLICT'],
  })
  async regrade(
    @Caller() caller: Principal,
    @Param('id', { schema: ScorecardId }) id: ScorecardId,
    @Body({ schema: RegradeRequest }) request: RegradeRequest,
    @Headers('idempotency-key') key: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Regraded> {
    const { view, warnings } = await this.regrades.regrade(caller, id, request, key);
    const { status, runtime, counts } = view;
    const links = linksOf(view.id);
    reply.header('location', links.self);
    return { id: view.id, status, runtime, cases: counts.submitted, links, warnings, regradeOf: id };
  }
}
