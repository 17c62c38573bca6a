import { Controller, Delete, HttpCode, Param, Post } from '@nestjs/common';
import { ScorecardId } from '../../contracts/ids.js';
import { DeletedScorecard } from '../../contracts/retention.js';
import { ScorecardView } from '../../contracts/scorecard.js';
import { Caller, type Principal } from '../common/caller.js';
import { Requires } from '../common/requires.js';
import { Tool } from '../common/tool.js';
import { Operation } from '../openapi/operation.js';
import { DeletionsService } from './deletions.service.js';

@Controller('scorecards')
export class DeletionsController {
  constructor(private readonly deletions: DeletionsService) {}

  @Delete(':id')
  @Requires('curate')
  @Tool({ name: 'delete_scorecard', effect: 'destroy', isIdempotent: true, confirm: 'id' })
  @Operation({
    summary: 'Deletes a scorecard with its runs, answers and logs',
    description:
      'At once nobody sees it, nor what belongs to it; until `purgeAt` it can be restored, and then it is gone. One that ' +
      'has not ended, that is pinned, or whose results another carries is a 409. Verdicts of gates stay.',
    answer: { status: 200, schema: DeletedScorecard },
    refuses: ['NOT_FOUND', 'CONFLICT'],
  })
  delete(
    @Caller() caller: Principal,
    @Param('id', { schema: ScorecardId }) id: ScorecardId,
  ): Promise<DeletedScorecard> {
    return this.deletions.delete(caller, id);
  }

  @Post(':id/restore')
  @Requires('curate')
  @HttpCode(200)
  @Tool({ name: 'restore_scorecard', effect: 'write', isIdempotent: true })
  @Operation({
    summary: 'Brings a deleted scorecard back, as long as it is not gone',
    description: 'Retention counts its age anew from then on. One that was not deleted stays as it is.',
    answer: { status: 200, schema: ScorecardView },
    refuses: ['NOT_FOUND', 'CONFLICT'],
  })
  restore(@Caller() caller: Principal, @Param('id', { schema: ScorecardId }) id: ScorecardId): Promise<ScorecardView> {
    return this.deletions.restore(caller, id);
  }
}
