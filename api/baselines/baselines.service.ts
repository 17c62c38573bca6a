import { Injectable } from '@nestjs/common';
import type { BaselinePin, BaselineView } from '../../contracts/baseline.js';
import { PlatformError } from '../../contracts/errors.js';
import { SpecId } from '../../contracts/ids.js';
import { BaselineStore } from '../../store/baseline.store.js';
import type { Principal } from '../common/caller.js';
import { decodeCursor, type ListQuery, type Page, toPage } from '../common/cursor.js';
import { notFound } from '../common/registration.js';

@Injectable()
export class BaselinesService {
  constructor(private readonly baselines: BaselineStore) {}

  async pin({ workspace, subject }: Principal, name: string, { scorecard }: BaselinePin): Promise<BaselineView> {
    const pinned = await this.baselines.pin(workspace, { name, scorecard, by: subject });
    if (pinned === 'missing') throw notFound('scorecard', scorecard);
    if (pinned !== 'unfinished') return pinned;
    const message = `${scorecard} is not completed, and others are compared with what is: wait for its end, or pin another`;
    throw new PlatformError('CONFLICT', message, { errors: [{ path: 'scorecard', message }] });
  }

  async list(workspace: string, { cursor, limit }: ListQuery): Promise<Page<BaselineView>> {
    const after = decodeCursor(SpecId, cursor);
    return toPage(
      await this.baselines.list(workspace, { after, limit: limit + 1 }),
      limit,
      (baseline) => baseline,
      ({ name }) => name,
    );
  }

  async read(workspace: string, name: string): Promise<BaselineView> {
    const found = await this.baselines.find(workspace, name);
    if (!found) throw notFound('baseline', name);
    return found;
  }

  async unpin(workspace: string, name: string): Promise<BaselineView> {
    const removed = await this.baselines.unpin(workspace, name);
    if (!removed) throw notFound('baseline', name);
    return removed;
  }
}
