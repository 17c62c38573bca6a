import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { CiBindingRequest, CiBindingView } from '../../contracts/access.js';
import { noteAudit } from '../../store/audit-draft.js';
import { CiBindingStore } from '../../store/ci-binding.store.js';
import { contentHash } from '../../store/content-hash.js';
import type { Principal } from '../common/caller.js';
import { decodeCursor, type ListQuery, type Page, toPage } from '../common/cursor.js';
import { notFound } from '../common/registration.js';

@Injectable()
export class CiBindingsService {
  constructor(private readonly bindings: CiBindingStore) {}

  async create({ workspace, subject }: Principal, request: CiBindingRequest) {
    const made = await this.bindings.create(workspace, request, subject);
    const hash = hashOf(made.binding);
    noteAudit({ object: made.binding.id, ...(made.kind === 'unchanged' && { before: hash }), after: hash });
    return made;
  }

  async list(workspace: string, { cursor, limit }: ListQuery): Promise<Page<CiBindingView>> {
    const after = decodeCursor(z.int(), cursor);
    const found = await this.bindings.list(workspace, { after, limit: limit + 1 });
    return toPage(
      found,
      limit,
      ({ binding }) => binding,
      ({ seq }) => seq,
    );
  }

  async remove(workspace: string, id: string): Promise<CiBindingView> {
    const removed = await this.bindings.remove(workspace, id);
    if (!removed) throw notFound('binding', id);
    noteAudit({ before: hashOf(removed) });
    return removed;
  }
}

const hashOf = ({ repository, ref, environment }: CiBindingView): string =>
  contentHash({ repository, ref, environment });
