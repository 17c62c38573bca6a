import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ScorecardId } from '../../contracts/ids.js';
import { ScorecardView } from '../../contracts/scorecard.js';
import { Caller, type Principal } from '../common/caller.js';
import { Requires } from '../common/requires.js';
import { Tool } from '../common/tool.js';
import { Operation } from '../openapi/operation.js';
import { ScorecardPausesService } from './scorecard-pauses.service.js';
import { Pause } from './scorecards.schema.js';

@Controller('scorecards')
export class ScorecardPausesController {
  constructor(private readonly pauses: ScorecardPausesService) {}

  @Post(':id/pause')
  @Requires('stop')
  @HttpCode(200)
  @Tool({ name: 'pause_scorecard', effect: 'destroy', isIdempotent: true, confirm: 'id' })
  @Operation({
    summary: 'Starts no further case of a scorecard, until it is resumed',
    description:
      'What runs goes on. The platform does the same by itself where more than half of the last attempts, of at most 20 ' +
      'and at least 10, ended as infrastructure errors. Pausing what is paused changes nothing.',
    bodyExample: { reason: 'the image is being rebuilt' },
    answer: { status: 200, schema: ScorecardView },
    refuses: ['NOT_FOUND', 'CONFLICT'],
  })
  pause(
    @Caller() caller: Principal,
    @Param('id', { schema: ScorecardId }) id: ScorecardId,
    @Body({ schema: Pause }) { reason }: Pause,
  ): Promise<ScorecardView> {
    return this.pauses.pause(caller, id, reason);
  }

  @Post(':id/resume')
  @Requires('stop')
  @HttpCode(200)
  @Tool({ name: 'resume_scorecard', effect: 'write', isIdempotent: true })
  @Operation({
    summary: 'Goes on with a scorecard that is paused',
    description:
      'Its attempts are judged anew from now on, and time it was paused does not count towards the queue deadline of its ' +
      'cases. What is not paused stays as it is.',
    answer: { status: 200, schema: ScorecardView },
    refuses: ['NOT_FOUND'],
  })
  resume(@Caller() caller: Principal, @Param('id', { schema: ScorecardId }) id: ScorecardId): Promise<ScorecardView> {
    return this.pauses.resume(caller, id);
  }
}
