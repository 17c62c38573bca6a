import { Body, Controller, Get, Headers, HttpCode, Param, Post, Query, Res, StreamableFile } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CaseId, ScorecardId } from '../../contracts/ids.js';
import { RunView } from '../../contracts/run.js';
import { ListedRun } from '../../contracts/run-waiting.js';
import { ScorecardRequest, ScorecardView, Settlement } from '../../contracts/scorecard.js';
import { Stragglers } from '../../contracts/straggler.js';
import { Caller, type Principal } from '../common/caller.js';
import { type Page, pageOf } from '../common/cursor.js';
import { EVENT_STREAM, EventStreams } from '../common/event-streams.js';
import { Requires } from '../common/requires.js';
import { RunQuery } from '../common/run-query.js';
import { parseInput } from '../common/schema.pipe.js';
import { Tool } from '../common/tool.js';
import { IDEMPOTENCY_HEADER, LAST_EVENT_ID, SCORECARD_REQUEST, SETTLEMENT, SUBMITTED } from '../openapi/examples.js';
import { Operation, SUBMIT_REFUSALS } from '../openapi/operation.js';
import { EventPositionId } from './event-position.js';
import { EventQuery, linksOf, ScorecardQuery, StragglerQuery, Submitted } from './scorecards.schema.js';
import { ScorecardsService } from './scorecards.service.js';

@Controller('scorecards')
export class ScorecardsController {
  constructor(
    private readonly scorecards: ScorecardsService,
    private readonly streams: EventStreams,
  ) {}

  @Post()
  @Requires('run')
  @HttpCode(202)
  @Tool({ name: 'run_scorecard', effect: 'write' })
  @Operation({
    summary: 'Submits a dataset × harness on a runtime',
    description:
      'Everything is checked before anything is stored. `Location` names where to follow it. `runtime`: `auto` takes the ' +
      'runtime that satisfies every case and has most room, and the answer names it.',
    headers: IDEMPOTENCY_HEADER,
    bodyExample: SCORECARD_REQUEST,
    answer: { status: 202, schema: Submitted, example: SUBMITTED },
    refuses: ['NO_CASES', ...SUBMIT_REFUSALS],
  })
  async submit(
    @Caller() principal: Principal,
    @Body({ schema: ScorecardRequest }) request: ScorecardRequest,
    @Headers('idempotency-key') key: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Submitted> {
    const { view, warnings } = await this.scorecards.submit(principal, request, key);
    const { id, status, runtime, counts } = view;
    const links = linksOf(id);
    reply.header('location', links.self);
    return { id, status, runtime, cases: counts.submitted, links, warnings };
  }

  @Get()
  @Requires('read')
  @Tool({ name: 'list_scorecards', effect: 'read' })
  @Operation({
    summary: 'Scorecards, newest first',
    description:
      'The newest that a branch can be compared with: `status=completed`, `stoppedEarly=false`, `metadata=branch=main`, ' +
      'its `dataset` and `harness`, `limit=1`.',
    answer: { status: 200, schema: pageOf(ScorecardView) },
  })
  list(
    @Caller() { workspace }: Principal,
    @Query({ schema: ScorecardQuery }) query: ScorecardQuery,
  ): Promise<Page<ScorecardView>> {
    return this.scorecards.list(workspace, query);
  }

  @Get(':id')
  @Requires('read')
  @Tool({ name: 'get_scorecard', effect: 'read' })
  @Operation({
    summary: 'A scorecard with its runs by state and its pass rate three ways',
    answer: { status: 200, schema: ScorecardView },
    refuses: ['NOT_FOUND'],
  })
  read(
    @Caller() { workspace }: Principal,
    @Param('id', { schema: ScorecardId }) id: ScorecardId,
  ): Promise<ScorecardView> {
    return this.scorecards.read(workspace, id);
  }

  @Get(':id/cases')
  @Requires('read')
  @Tool({ name: 'list_cases', effect: 'read' })
  @Operation({
    summary: 'The runs of a scorecard, in the order of its dataset',
    answer: { status: 200, schema: pageOf(ListedRun) },
    refuses: ['NOT_FOUND'],
  })
  cases(
    @Caller() { workspace }: Principal,
    @Param('id', { schema: ScorecardId }) id: ScorecardId,
    @Query({ schema: RunQuery }) query: RunQuery,
  ): Promise<Page<ListedRun>> {
    return this.scorecards.cases(workspace, id, query);
  }

  @Post(':id/cases/:caseId/settle')
  @Requires('curate')
  @HttpCode(200)
  @Tool({ name: 'settle_case', effect: 'destroy', isIdempotent: true, confirm: 'caseId' })
  @Operation({
    summary: 'Settles a run by an operator’s decision',
    description:
      'For a run that has no outcome: its job is stopped and removed, its slot is given back. The run shows who decided, ' +
      'and is in no pass rate. The same outcome again changes nothing. The case id is URL-encoded.',
    bodyExample: SETTLEMENT,
    answer: { status: 200, schema: RunView },
    refuses: ['NOT_FOUND', 'CONFLICT'],
  })
  settle(
    @Caller() caller: Principal,
    @Param('id', { schema: ScorecardId }) id: ScorecardId,
    @Param('caseId', { schema: CaseId }) caseId: CaseId,
    @Body({ schema: Settlement }) settlement: Settlement,
  ): Promise<RunView> {
    return this.scorecards.settle(caller, id, caseId, settlement);
  }

  @Get(':id/stragglers')
  @Requires('read')
  @Tool({ name: 'list_stragglers', effect: 'read' })
  @Operation({
    summary: 'Runs of a scorecard that run or wait: since when, and how they compare with the finished ones',
    answer: { status: 200, schema: Stragglers },
    refuses: ['NOT_FOUND'],
  })
  stragglers(
    @Caller() { workspace }: Principal,
    @Param('id', { schema: ScorecardId }) id: ScorecardId,
    @Query({ schema: StragglerQuery }) query: StragglerQuery,
  ): Promise<Stragglers> {
    return this.scorecards.stragglers(workspace, id, query);
  }

  @Get(':id/events')
  @Requires('read')
  @Operation({
    summary: 'What happens to a scorecard, as it happens, until it is finished',
    description:
      'Server-Sent Events: a `run` (RunEvent) for each settled run, `progress` (ProgressEvent) whenever the totals ' +
      'change, and at last `end` (FinishEvent). Whoever comes back with the id of the last event goes on after it: ' +
      'every run is told, and none twice. An answer that ends without `end` was interrupted.',
    headers: LAST_EVENT_ID,
    answer: { status: 200, type: EVENT_STREAM },
    refuses: ['NOT_FOUND'],
  })
  async events(
    @Caller() { workspace }: Principal,
    @Param('id', { schema: ScorecardId }) id: ScorecardId,
    @Query({ schema: EventQuery }) { runs }: EventQuery,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    const from = lastEventId === undefined ? {} : parseInput(EventPositionId, lastEventId, 'Last-Event-ID');
    const events = await this.scorecards.watch(workspace, id, from, runs === 'true');
    return new StreamableFile(this.streams.open(reply.raw, events), { type: EVENT_STREAM });
  }

  @Post(':id/cancel')
  @Requires('stop')
  @HttpCode(200)
  @Tool({ name: 'cancel_scorecard', effect: 'destroy', isIdempotent: true, confirm: 'id' })
  @Operation({
    summary: 'Cancels what has not ended',
    description: 'Finished runs keep their result. `cancelled` is reached once no job of it is left anywhere.',
    answer: { status: 200, schema: ScorecardView },
    refuses: ['NOT_FOUND'],
  })
  cancel(@Caller() caller: Principal, @Param('id', { schema: ScorecardId }) id: ScorecardId): Promise<ScorecardView> {
    return this.scorecards.cancel(caller, id);
  }
}
