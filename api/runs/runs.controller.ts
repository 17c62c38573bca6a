import { Readable } from 'node:stream';
import { Body, Controller, Get, Headers, HttpCode, Param, Post, Query, Res, StreamableFile } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { RunId } from '../../contracts/ids.js';
import { LogPositionId } from '../../contracts/log-events.js';
import { RunView } from '../../contracts/run.js';
import { ListedRun, ShownRun } from '../../contracts/run-waiting.js';
import { RunRequest } from '../../contracts/scorecard.js';
import { Caller, type Principal } from '../common/caller.js';
import { type Page, pageOf } from '../common/cursor.js';
import { EVENT_STREAM, EventStreams } from '../common/event-streams.js';
import { Requires } from '../common/requires.js';
import { RunQuery } from '../common/run-query.js';
import { parseInput } from '../common/schema.pipe.js';
import { Tool } from '../common/tool.js';
import { IDEMPOTENCY_HEADER, LAST_EVENT_ID, RUN_REQUEST } from '../openapi/examples.js';
import { Operation, SUBMIT_REFUSALS } from '../openapi/operation.js';
import { bytesOf } from './log-bytes.js';
import { Attempts, LogQuery, SubmittedRun } from './runs.schema.js';
import { RunsService } from './runs.service.js';

@Controller('runs')
export class RunsController {
  constructor(
    private readonly runs: RunsService,
    private readonly streams: EventStreams,
  ) {}

  @Post()
  @Requires('run')
  @HttpCode(202)
  @Tool({ name: 'run_case', effect: 'write' })
  @Operation({
    summary: 'Submits one case, of a dataset or its own',
    description: '`runtime`: `auto` takes the runtime that satisfies it and has most room, and the answer names it.',
    headers: IDEMPOTENCY_HEADER,
    bodyExample: RUN_REQUEST,
    answer: { status: 202, schema: SubmittedRun },
    refuses: SUBMIT_REFUSALS,
  })
  async submit(
    @Caller() principal: Principal,
    @Body({ schema: RunRequest }) request: RunRequest,
    @Headers('idempotency-key') key: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SubmittedRun> {
    const { view, warnings } = await this.runs.submit(principal, request, key);
    const { id, state, runtime } = view;
    const self = `/runs/${id}`;
    reply.header('location', self);
    const links = { self, attempts: `${self}/attempts`, logs: `${self}/logs`, cancel: `${self}/cancel` };
    return { id, state, runtime, links, warnings };
  }

  @Get()
  @Requires('read')
  @Tool({ name: 'list_runs', effect: 'read' })
  @Operation({
    summary: 'Single runs, newest first',
    description: 'Those that are in no scorecard: the runs of a scorecard are its `/cases`.',
    answer: { status: 200, schema: pageOf(ListedRun) },
  })
  list(@Caller() { workspace }: Principal, @Query({ schema: RunQuery }) query: RunQuery): Promise<Page<ListedRun>> {
    return this.runs.list(workspace, query);
  }

  @Get(':id')
  @Requires('read')
  @Tool({ name: 'get_run', effect: 'read' })
  @Operation({ summary: 'A run', answer: { status: 200, schema: ShownRun }, refuses: ['NOT_FOUND'] })
  read(@Caller() { workspace }: Principal, @Param('id', { schema: RunId }) id: RunId): Promise<ShownRun> {
    return this.runs.show(workspace, id);
  }

  @Get(':id/attempts')
  @Requires('read')
  @Tool({ name: 'list_run_attempts', effect: 'read' })
  @Operation({
    summary: 'The attempts of a run, in their order',
    answer: { status: 200, schema: Attempts },
    refuses: ['NOT_FOUND'],
  })
  async attempts(@Caller() { workspace }: Principal, @Param('id', { schema: RunId }) id: RunId): Promise<Attempts> {
    return { items: await this.runs.listAttempts(workspace, id), next: null };
  }

  @Get(':id/logs')
  @Requires('read')
  @Tool({ name: 'get_run_logs', effect: 'read', omit: ['follow', 'from'] })
  @Operation({
    summary: 'What the job printed',
    description:
      'The result record is left out. As text, every line is of one stream, and a line marks a cut; with ' +
      '`Accept: application/octet-stream` the bytes come alone. With `stream`, the header `X-Next-Offset` says where a later request goes on.\n\n' +
      'With `follow` the answer is Server-Sent Events: `attempt` (AttemptEvent) before each attempt after the first, ' +
      '`log` (PieceEvent) for what it prints, `cut` (CutEvent) where bytes were not kept, and at last `end` (EndEvent). ' +
      'Whoever comes back with the id of the last event goes on after it: nothing is missing and nothing comes twice. ' +
      'An answer that ends without `end` was interrupted.',
    headers: { Accept: '`text/plain` or `application/octet-stream`', ...LAST_EVENT_ID },
    answer: { status: 200, type: 'text/plain', orType: EVENT_STREAM },
    refuses: ['NOT_FOUND'],
  })
  async logs(
    @Caller() { workspace }: Principal,
    @Param('id', { schema: RunId }) id: RunId,
    @Query({ schema: LogQuery }) query: LogQuery,
    @Headers('accept') accept: string | undefined,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    if (query.follow !== undefined) {
      const known = lastEventId === undefined ? query.from : parseInput(LogPositionId, lastEventId, 'Last-Event-ID');
      const events = await this.runs.followLog(workspace, id, { ...query, from: known });
      return new StreamableFile(this.streams.open(reply.raw, events), { type: EVENT_STREAM });
    }
    const { chunks, from, end } = await this.runs.readLog(workspace, id, query);
    if (end !== undefined) reply.header('x-next-offset', String(end));
    const isRaw = accept?.startsWith('application/octet-stream') ?? false;
    const type = isRaw ? 'application/octet-stream' : 'text/plain; charset=utf-8';
    return new StreamableFile(Readable.from(bytesOf(chunks, from, !isRaw), { objectMode: false }), { type });
  }

  @Post(':id/cancel')
  @Requires('stop')
  @HttpCode(200)
  @Tool({ name: 'cancel_run', effect: 'destroy', isIdempotent: true, confirm: 'id' })
  @Operation({
    summary: 'Cancels a run that has no outcome yet',
    answer: { status: 200, schema: RunView },
    refuses: ['NOT_FOUND'],
  })
  cancel(@Caller() caller: Principal, @Param('id', { schema: RunId }) id: RunId): Promise<RunView> {
    return this.runs.cancel(caller, id);
  }
}
