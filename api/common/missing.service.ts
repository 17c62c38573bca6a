import { Injectable } from '@nestjs/common';
import { PlatformError } from '../../contracts/errors.js';
import { DeletionStore } from '../../store/deletion.store.js';
import { notFound } from './registration.js';

/** What is said of scorecards and runs that are not there: of those that were deleted, until when they can come back. */
@Injectable()
export class MissingService {
  constructor(private readonly deletions: DeletionStore) {}

  scorecard(workspace: string, id: string): Promise<PlatformError> {
    return this.missing(workspace, id, notFound('scorecard', id));
  }

  /** A run of a scorecard is named after it. */
  run(workspace: string, id: string): Promise<PlatformError> {
    const [scorecard = ''] = id.split('.');
    return this.missing(workspace, scorecard, notFound('run', id));
  }

  private async missing(workspace: string, id: string, otherwise: PlatformError): Promise<PlatformError> {
    const deleted = await this.deletions.find(workspace, id);
    if (!deleted) return otherwise;
    const { deletedBy, purgeAt } = deleted;
    const message = `scorecard ${id} was deleted by ${deletedBy}: until ${purgeAt} POST /scorecards/${id}/restore brings it back`;
    return new PlatformError('NOT_FOUND', message);
  }
}
