import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { PlatformError } from '../../contracts/errors.js';
import type { GatePolicy, GateRules, RegisteredPolicy, UsedPolicy } from '../../contracts/gate.js';
import { nearest } from '../../contracts/nearest.js';
import { contentHash } from '../../store/content-hash.js';
import { GatePolicyStore } from '../../store/gate-policy.store.js';
import { parseRef } from '../../store/spec-ref.js';
import type { Principal } from '../common/caller.js';
import { decodeCursor, type Page, toPage } from '../common/cursor.js';
import { type Accepted, accepted, notFound, refOf } from '../common/registration.js';
import type { PolicyQuery } from './policies.schema.js';

@Injectable()
export class PoliciesService {
  constructor(private readonly policies: GatePolicyStore) {}

  async register({ workspace, subject }: Principal, policy: GatePolicy): Promise<Accepted> {
    return accepted(await this.policies.insert(workspace, policy, subject), 'policy', policy);
  }

  async list(workspace: string, { cursor, limit, id }: PolicyQuery): Promise<Page<RegisteredPolicy>> {
    const after = decodeCursor(z.tuple([z.string(), z.int()]), cursor);
    const found = await this.policies.list(workspace, { id, after, limit: limit + 1 });
    return toPage(
      found,
      limit,
      ({ policy }) => policy,
      ({ position }) => position,
    );
  }

  async read(workspace: string, id: string, version: string): Promise<GatePolicy> {
    return this.named(workspace, refOf(id, version));
  }

  /** The rules that are meant: those of a registered policy, or the given ones. */
  async resolve(workspace: string, policy: string | GateRules): Promise<UsedPolicy> {
    if (typeof policy !== 'string') return { ref: null, hash: contentHash(policy), rules: policy };
    const { id, version, description: _description, tags: _tags, ...rules } = await this.named(workspace, policy);
    return { ref: `${id}@${version}`, hash: contentHash(rules), rules };
  }

  private async named(workspace: string, ref: string): Promise<GatePolicy> {
    const found = await this.policies.find(workspace, ref);
    if (found) return found;
    throw await this.missing(workspace, ref);
  }

  private async missing(workspace: string, ref: string): Promise<PlatformError> {
    const { id } = parseRef(ref);
    const latest = await this.policies.find(workspace, id);
    if (latest) return notFound('policy', `${ref}; the latest version is ${latest.version}`);
    const meant = nearest(id, await this.policies.ids(workspace));
    return notFound('policy', `${ref}${meant === undefined ? '' : `; did you mean ${meant}?`}`);
  }
}
