import { Injectable } from '@nestjs/common';
import { PlatformError } from '../../contracts/errors.js';
import type { DeletedScorecard } from '../../contracts/retention.js';
import type { ScorecardView } from '../../contracts/scorecard.js';
import { DeletionStore, type Kept } from '../../store/deletion.store.js';
import type { Principal } from '../common/caller.js';
import { MissingService } from '../common/missing.service.js';
import { Operator } from '../common/operator.js';
import { ScorecardsService } from './scorecards.service.js';

/** Takes scorecards away, and brings them back while they are not gone. */
@Injectable()
export class DeletionsService {
  constructor(
    private readonly scorecards: ScorecardsService,
    private readonly deletions: DeletionStore,
    private readonly missing: MissingService,
    private readonly operator: Operator,
  ) {}

  async delete({ workspace, subject: by }: Principal, id: string): Promise<DeletedScorecard> {
    const { deletionGraceSec: graceSec } = this.operator;
    const deleted = await this.deletions.delete(workspace, id, { by, graceSec });
    if (!deleted) throw await this.missing.scorecard(workspace, id);
    if ('kind' in deleted) throw new PlatformError('CONFLICT', `${id} ${whyKept(id, deleted)}`);
    return deleted;
  }

  async restore({ workspace }: Principal, id: string): Promise<ScorecardView> {
    const not = await this.deletions.restore(workspace, id);
    if (not?.kind === 'missing') throw await this.missing.scorecard(workspace, id);
    if (not) {
      const [first = ''] = not.origins;
      const message = `${id} carries results of ${not.origins.join(', ')}, deleted as well: restore that first (POST /scorecards/${first}/restore)`;
      throw new PlatformError('CONFLICT', message);
    }
    return this.scorecards.read(workspace, id);
  }
}

function whyKept(id: string, kept: Kept): string {
  switch (kept.kind) {
    case 'unfinished':
      return `has not ended: cancel it (POST /scorecards/${id}/cancel), wait for its end, and delete it then`;
    case 'pinned':
      return `is pinned as ${kept.names.join(', ')}: unpin it first (DELETE /baselines/${kept.names[0]})`;
    case 'carried':
      return `has results that ${kept.by.join(', ')} carries on: delete that first (DELETE /scorecards/${kept.by[0]})`;
  }
}
