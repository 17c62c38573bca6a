import { Body, Controller, Delete, Get, Param, Put, Query } from '@nestjs/common';
import { z } from 'zod';
import { BaselineName, BaselinePin, BaselineView } from '../../contracts/baseline.js';
import { Caller, type Principal } from '../common/caller.js';
import { ListQuery, type Page, pageOf } from '../common/cursor.js';
import { Requires } from '../common/requires.js';
import { parseInput } from '../common/schema.pipe.js';
import { Tool } from '../common/tool.js';
import { Operation } from '../openapi/operation.js';
import { BaselinesService } from './baselines.service.js';

const AskedName = z.string().describe('1 to 63 characters of a-z 0-9 . _ -, of which the first is a letter or digit');
const PinnedName = z.strictObject({ name: BaselineName });

@Controller('baselines')
export class BaselinesController {
  constructor(private readonly baselines: BaselinesService) {}

  @Put(':name')
  @Requires('curate')
  @Tool({ name: 'pin_baseline', effect: 'destroy', isIdempotent: true, confirm: 'name' })
  @Operation({
    summary: 'Pins a scorecard under a name, or moves the name to it',
    description:
      'Whoever compares with a name compares with the scorecard that it is pinned to. What is pinned is not deleted, ' +
      'by nobody and by no retention.',
    bodyExample: { scorecard: 'sc_01k5q8zj3v0000000000000000' },
    answer: { status: 200, schema: BaselineView },
    refuses: ['NOT_FOUND', 'CONFLICT'],
  })
  pin(
    @Caller() caller: Principal,
    // What is pinned under a bad name is a bad request; what is looked for under one is not there.
    @Param('name', { schema: AskedName }) asked: string,
    @Body({ schema: BaselinePin }) pin: BaselinePin,
  ): Promise<BaselineView> {
    const { name } = parseInput(PinnedName, { name: asked }, 'the path');
    return this.baselines.pin(caller, name, pin);
  }

  @Get()
  @Requires('read')
  @Tool({ name: 'list_baselines', effect: 'read' })
  @Operation({ summary: 'Pinned scorecards, by name', answer: { status: 200, schema: pageOf(BaselineView) } })
  list(
    @Caller() { workspace }: Principal,
    @Query({ schema: ListQuery }) query: ListQuery,
  ): Promise<Page<BaselineView>> {
    return this.baselines.list(workspace, query);
  }

  @Get(':name')
  @Requires('read')
  @Tool({ name: 'get_baseline', effect: 'read' })
  @Operation({
    summary: 'Which scorecard a name is pinned to',
    answer: { status: 200, schema: BaselineView },
    refuses: ['NOT_FOUND'],
  })
  read(
    @Caller() { workspace }: Principal,
    @Param('name', { schema: BaselineName }) name: BaselineName,
  ): Promise<BaselineView> {
    return this.baselines.read(workspace, name);
  }

  @Delete(':name')
  @Requires('curate')
  @Tool({ name: 'unpin_baseline', effect: 'destroy', isIdempotent: true, confirm: 'name' })
  @Operation({
    summary: 'Takes a name back; the scorecard stays',
    answer: { status: 200, schema: BaselineView },
    refuses: ['NOT_FOUND'],
  })
  unpin(
    @Caller() { workspace }: Principal,
    @Param('name', { schema: BaselineName }) name: BaselineName,
  ): Promise<BaselineView> {
    return this.baselines.unpin(workspace, name);
  }
}
