import { Readable } from 'node:stream';
import { Body, Controller, Get, Param, Post, Query, Res, StreamableFile } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { EvalCase } from '../../contracts/case.js';
import { Dataset, DatasetSummary } from '../../contracts/dataset.js';
import { SpecId } from '../../contracts/ids.js';
import { JSON_LINES_TYPES, JsonLines } from '../common/body-parsers.js';
import { Caller, type Principal } from '../common/caller.js';
import { ListQuery, type Page, pageOf } from '../common/cursor.js';
import { answerRegistration } from '../common/registration.js';
import { Requires } from '../common/requires.js';
import { AskedVersion } from '../common/spec-params.js';
import { Takes } from '../common/takes.js';
import { Tool } from '../common/tool.js';
import { CASE, DATASET } from '../openapi/examples.js';
import { Operation } from '../openapi/operation.js';
import { DatasetsService } from './datasets.service.js';
import { JsonLinesQuery } from './upload.js';

@Controller('datasets')
export class DatasetsController {
  constructor(private readonly datasets: DatasetsService) {}

  @Post()
  @Takes('lines')
  @Requires('curate')
  @Tool({
    name: 'create_dataset',
    effect: 'write',
    isIdempotent: true,
    body: 'spec',
    omit: Object.keys(JsonLinesQuery.shape),
  })
  @Operation({
    summary: 'Registers a version of a dataset',
    description:
      'As JSON up to 10 MB, or streamed as JSONL up to 1 GB, with one case a line and what describes the dataset in the ' +
      'query. It is seen once it is complete; an upload that breaks off leaves nothing. ' +
      'Versions are immutable: the same content again answers 200, other content 409.',
    answer: { status: 201, schema: DatasetSummary },
    body: Dataset,
    bodyExample: DATASET,
    bodyTypes: JSON_LINES_TYPES,
    query: JsonLinesQuery.partial(),
    refuses: ['CONFLICT', 'UPLOAD_INCOMPLETE'],
  })
  async register(
    @Caller() principal: Principal,
    @Body() body: unknown,
    @Query() query: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DatasetSummary> {
    const { outcome, summary } = await (body instanceof JsonLines
      ? this.datasets.upload(principal, { body: body.body, bytes: body.body.headers['content-length'] }, query)
      : this.datasets.register(principal, body, query));
    answerRegistration(reply, outcome, 'datasets', summary);
    return summary;
  }

  @Get(':id/versions/:version')
  @Requires('read')
  @Tool({ name: 'get_dataset', effect: 'read' })
  @Operation({
    summary: 'One version of a dataset; `latest` is the highest',
    answer: { status: 200, schema: DatasetSummary },
    refuses: ['NOT_FOUND'],
  })
  read(
    @Caller() { workspace }: Principal,
    @Param('id', { schema: SpecId }) id: string,
    @Param('version', { schema: AskedVersion }) version: string,
  ): Promise<DatasetSummary> {
    return this.datasets.read(workspace, id, version);
  }

  @Get(':id/versions/:version/cases')
  @Requires('read')
  @Tool({ name: 'list_dataset_cases', effect: 'read' })
  @Operation({
    summary: 'The cases of a dataset, in their order',
    answer: { status: 200, schema: pageOf(EvalCase), example: { items: [CASE], next: null } },
    refuses: ['NOT_FOUND'],
  })
  cases(
    @Caller() { workspace }: Principal,
    @Param('id', { schema: SpecId }) id: string,
    @Param('version', { schema: AskedVersion }) version: string,
    @Query({ schema: ListQuery }) query: ListQuery,
  ): Promise<Page<EvalCase>> {
    return this.datasets.cases(workspace, id, version, query);
  }

  @Get(':id/versions/:version/cases.jsonl')
  @Requires('read')
  @Operation({
    summary: 'All cases of a dataset, one a line',
    answer: { status: 200, type: 'application/x-ndjson' },
    refuses: ['NOT_FOUND'],
  })
  async download(
    @Caller() { workspace }: Principal,
    @Param('id', { schema: SpecId }) id: string,
    @Param('version', { schema: AskedVersion }) version: string,
  ): Promise<StreamableFile> {
    const lines = await this.datasets.download(workspace, id, version);
    return new StreamableFile(Readable.from(lines, { objectMode: false }), { type: 'application/x-ndjson' });
  }
}
