import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { AuditEvent } from '../../contracts/audit.js';
import { AuditStore } from '../../store/audit.store.js';
import { decodeCursor, type Page, toPage } from '../common/cursor.js';
import type { TrailQuery } from './trail.schema.js';

@Injectable()
export class TrailService {
  constructor(private readonly store: AuditStore) {}

  async list(workspace: string, { cursor, limit, since, until, ...filter }: TrailQuery): Promise<Page<AuditEvent>> {
    const events = await this.store.page(workspace, {
      ...filter,
      ...(since !== undefined && { since: Date.parse(since) }),
      ...(until !== undefined && { until: Date.parse(until) }),
      after: decodeCursor(z.string(), cursor),
      limit: limit + 1,
    });
    return toPage(
      events,
      limit,
      (event) => event,
      ({ id }) => id,
    );
  }
}
