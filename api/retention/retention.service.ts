import { Injectable } from '@nestjs/common';
import type { Retention, RetentionView } from '../../contracts/retention.js';
import { RetentionStore } from '../../store/retention.store.js';
import { Operator } from '../common/operator.js';
import { notFound } from '../common/registration.js';

const SEC_PER_DAY = 86_400;

@Injectable()
export class RetentionService {
  constructor(
    private readonly retention: RetentionStore,
    private readonly operator: Operator,
  ) {}

  async read(workspace: string): Promise<RetentionView> {
    const found = await this.retention.read(workspace);
    if (!found) throw notFound('workspace', workspace);
    return { ...found, graceDays: this.operator.deletionGraceSec / SEC_PER_DAY };
  }

  async set(workspace: string, retention: Retention): Promise<RetentionView> {
    await this.retention.set(workspace, retention);
    return this.read(workspace);
  }
}
