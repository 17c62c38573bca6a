import { Injectable } from '@nestjs/common';
import { PlatformError } from '../../contracts/errors.js';
import type { ScorecardView } from '../../contracts/scorecard.js';
import { ExportStore } from '../../store/export.store.js';
import { EXPORT_FORMATS, type ExportFormat } from './export-formats.js';
import type { ExportQuery } from './scorecards.schema.js';
import { ScorecardsService } from './scorecards.service.js';

/** A file of results to send, piece by piece. */
interface ExportFile {
  name: string;
  type: string;
  pieces: AsyncIterable<string>;
}

@Injectable()
export class ExportsService {
  constructor(
    private readonly scorecards: ScorecardsService,
    private readonly exports: ExportStore,
  ) {}

  /** One that has not ended is exported as far as it is. */
  async open(workspace: string, id: string, { format, answers }: ExportQuery): Promise<ExportFile> {
    const scorecard = await this.scorecards.read(workspace, id);
    const written = EXPORT_FORMATS[format];
    return { name: `${id}.${format}`, type: written.type, pieces: this.pieces(scorecard, written, answers === 'true') };
  }

  private async *pieces(scorecard: ScorecardView, format: ExportFormat, hasAnswers: boolean): AsyncGenerator<string> {
    const { id, counts } = scorecard;
    yield format.head(scorecard, hasAnswers);
    let sent = 0;
    for await (const page of this.exports.pages(id, hasAnswers)) {
      sent += page.length;
      yield format.runs(page, scorecard, hasAnswers);
    }
    // The connection is cut, so that nobody takes a part for the whole.
    if (sent < counts.submitted) throw new PlatformError('NOT_FOUND', `${id} was deleted while it was exported`);
  }
}
