import { Controller, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ScorecardId } from '../../contracts/ids.js';
import { Caller, type Principal } from '../common/caller.js';
import { Requires } from '../common/requires.js';
import { Tool } from '../common/tool.js';
import { IDEMPOTENCY_HEADER } from '../openapi/examples.js';
import { Operation, SUBMIT_REFUSALS } from '../openapi/operation.js';
import { Retried, RetryQuery } from './rerolls.schema.js';
import { RetriesService } from './retries.service.js';
import { linksOf } from './scorecards.schema.js';

@Controller('scorecards')
export class RerollsController {
  constructor(private readonly retries: RetriesService) {}

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
}
