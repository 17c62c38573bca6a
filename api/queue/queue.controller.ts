import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { RunId } from '../../contracts/ids.js';
import { Promoted, RunWaiting } from '../../contracts/run-waiting.js';
import { Caller, type Principal, Visiting, type Visitor } from '../common/caller.js';
import { Requires } from '../common/requires.js';
import { Tool } from '../common/tool.js';
import { Operation } from '../openapi/operation.js';
import { QueuePage, QueueQuery } from './queue.schema.js';
import { QueueService } from './queue.service.js';
import { WaitingService } from './waiting.service.js';

@Controller()
export class QueueController {
  constructor(
    private readonly queue: QueueService,
    private readonly waiting: WaitingService,
  ) {}

  @Get('queue')
  @Requires('read')
  @Tool({ name: 'get_queue', effect: 'read' })
  @Operation({
    summary: 'Runs that have asked for a slot, in the order in which they are considered',
    description:
      'Runtime after runtime. Runs that are `queued` ask once it is their turn in their scorecard, and are not here. ' +
      'Of a shared runtime, others’ runs count in `position` and are shown to the operator only (`all`). A runtime that ' +
      'does not answer is `unread`, or refused where it is the one asked for.',
    answer: { status: 200, schema: QueuePage },
    refuses: ['NOT_FOUND', 'ADMISSION_UNREACHABLE'],
  })
  list(
    @Caller() principal: Principal,
    @Visiting() { identity }: Visitor,
    @Query({ schema: QueueQuery }) query: QueueQuery,
  ): Promise<QueuePage> {
    return this.queue.list(principal, identity, query);
  }

  @Post('queue/:runId/promote')
  @Requires('curate')
  @HttpCode(200)
  @Tool({ name: 'promote_run', effect: 'write', isIdempotent: true })
  @Operation({
    summary: 'Lets a run that waits start before everything else of its workspace',
    description:
      'Also one that has not asked for a slot yet: it is asked for next. Again changes nothing. Of a workspace 1,000 may wait ' +
      'promoted.',
    answer: { status: 200, schema: Promoted },
    refuses: ['NOT_FOUND', 'CONFLICT'],
  })
  promote(@Caller() principal: Principal, @Param('runId', { schema: RunId }) id: RunId): Promise<Promoted> {
    return this.queue.promote(principal, id);
  }

  @Get('runs/:id/waiting')
  @Requires('read')
  @Tool({ name: 'get_run_waiting', effect: 'read' })
  @Operation({
    summary: 'Why a run does not start yet, how many are before it, and when it is likely to start',
    description:
      '`limit` and `used` are in the unit of the reason: slots, MB, millicores, sessions, runs. A run that runs or is ' +
      'settled waits for nothing, and all but `run` and `state` is null.',
    answer: { status: 200, schema: RunWaiting },
    refuses: ['NOT_FOUND', 'ADMISSION_UNREACHABLE'],
  })
  why(@Caller() { workspace }: Principal, @Param('id', { schema: RunId }) id: RunId): Promise<RunWaiting> {
    return this.waiting.of(workspace, id);
  }
}
