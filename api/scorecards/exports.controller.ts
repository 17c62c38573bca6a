import { Readable } from 'node:stream';
import { Controller, Get, Param, Query, StreamableFile } from '@nestjs/common';
import { ScorecardId } from '../../contracts/ids.js';
import { Caller, type Principal } from '../common/caller.js';
import { Requires } from '../common/requires.js';
import { Tool } from '../common/tool.js';
import { Operation } from '../openapi/operation.js';
import { ExportsService } from './exports.service.js';
import { ExportQuery } from './scorecards.schema.js';

@Controller('scorecards')
export class ExportsController {
  constructor(private readonly exports: ExportsService) {}

  @Get(':id/export')
  @Requires('read')
  @Tool({ name: 'export_scorecard', effect: 'read' })
  @Operation({
    summary: 'All results of a scorecard, as a file',
    description:
      'JSONL: one ExportedScorecard, with the rates and the re-roll ledger, then one ExportedRun a line. CSV: one run a ' +
      'row (RFC 4180; what a spreadsheet would take for a formula begins with an apostrophe), with the numbers of the ' +
      'scorecard before its first re-roll and now in the last columns. Runs come in the order of the scorecard. An answer ' +
      'that is broken off ends without the last chunk.',
    answer: { status: 200, type: 'application/x-ndjson', orType: 'text/csv' },
    refuses: ['NOT_FOUND'],
  })
  async export(
    @Caller() { workspace }: Principal,
    @Param('id', { schema: ScorecardId }) id: ScorecardId,
    @Query({ schema: ExportQuery }) query: ExportQuery,
  ): Promise<StreamableFile> {
    const { name, type, pieces } = await this.exports.open(workspace, id, query);
    // One piece at a time, and none is made before the one before it was taken.
    const body = Readable.from(pieces, { objectMode: false, highWaterMark: 1 });
    return new StreamableFile(body, { type, disposition: `attachment; filename="${name}"` });
  }
}
