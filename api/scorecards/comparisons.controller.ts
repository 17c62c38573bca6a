import { Controller, Get, Param, Query } from '@nestjs/common';
import { Comparison, TrialReport } from '../../contracts/comparison.js';
import { ScorecardId } from '../../contracts/ids.js';
import { Caller, type Principal } from '../common/caller.js';
import { Requires } from '../common/requires.js';
import { Tool } from '../common/tool.js';
import { Operation } from '../openapi/operation.js';
import { ComparisonQuery } from './comparisons.schema.js';
import { ComparisonsService } from './comparisons.service.js';

@Controller('scorecards')
export class ComparisonsController {
  constructor(private readonly comparisons: ComparisonsService) {}

  @Get('diff')
  @Requires('read')
  @Tool({ name: 'diff_scorecards', effect: 'read' })
  @Operation({
    summary: 'What changed from one finished scorecard to another',
    description:
      'Case by case, the worst first; by grader; in tokens, cost, steps and time; and a paired test of the whole. Two ' +
      'that differ in the content of their dataset, in graders or in trials are refused (`NOT_COMPARABLE`), which names ' +
      'what differs, unless `on=intersection` asks for the cases that are the same. Cases that only one of them ran are ' +
      '`new` or `missing`.',
    answer: { status: 200, schema: Comparison },
    refuses: ['NOT_FOUND', 'CONFLICT', 'NOT_COMPARABLE'],
  })
  diff(
    @Caller() { workspace }: Principal,
    @Query({ schema: ComparisonQuery }) query: ComparisonQuery,
  ): Promise<Comparison> {
    return this.comparisons.diff(workspace, query);
  }

  @Get(':id/trials')
  @Requires('read')
  @Tool({ name: 'get_trials', effect: 'read' })
  @Operation({
    summary: 'How often the harness passes a case once, and how often every time',
    description:
      'pass@1 and pass^k over the cases of which every trial is known, and the flaky ones. While the scorecard runs, that ' +
      'is of the cases whose trials have all ended.',
    answer: { status: 200, schema: TrialReport },
    refuses: ['NOT_FOUND'],
  })
  trials(
    @Caller() { workspace }: Principal,
    @Param('id', { schema: ScorecardId }) id: ScorecardId,
  ): Promise<TrialReport> {
    return this.comparisons.trials(workspace, id);
  }
}
