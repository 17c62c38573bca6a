import { Body, Controller, Get, Put } from '@nestjs/common';
import { Retention, RetentionView } from '../../contracts/retention.js';
import { Caller, type Principal } from '../common/caller.js';
import { Requires } from '../common/requires.js';
import { Tool } from '../common/tool.js';
import { Operation } from '../openapi/operation.js';
import { RetentionService } from './retention.service.js';

@Controller('retention')
export class RetentionController {
  constructor(private readonly retention: RetentionService) {}

  @Get()
  @Requires('read')
  @Tool({ name: 'get_retention', effect: 'read' })
  @Operation({
    summary: 'How long the workspace keeps results and logs',
    answer: { status: 200, schema: RetentionView },
  })
  read(@Caller() { workspace }: Principal): Promise<RetentionView> {
    return this.retention.read(workspace);
  }

  @Put()
  @Requires('administer')
  @Operation({
    summary: 'Sets how long the workspace keeps results and logs',
    description:
      'Counted from the end of each scorecard. Sweeps delete what is older as DELETE /scorecards/:id does, so that it can ' +
      'be restored for the grace period; logs go for good. What runs, is pinned, or has results that another carries stays.',
    bodyExample: { resultsDays: 365, logsDays: 30 },
    answer: { status: 200, schema: RetentionView },
  })
  set(@Caller() { workspace }: Principal, @Body({ schema: Retention }) retention: Retention): Promise<RetentionView> {
    return this.retention.set(workspace, retention);
  }
}
