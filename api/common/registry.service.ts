import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { PlatformError } from '../../contracts/errors.js';
import { nearest } from '../../contracts/nearest.js';
import type { SpecFolder, VersionRecord } from '../../contracts/registration.js';
import { meantBy } from '../../policy/versions.js';
import { noteAudit } from '../../store/audit-draft.js';
import { contentHash } from '../../store/content-hash.js';
import { type Changed, type ListedVersion, RegistryStore } from '../../store/registry.store.js';
import { type KnownVersion, parseRef } from '../../store/spec-ref.js';
import type { Principal } from './caller.js';
import { decodeCursor, ListQuery, type Page, toPage } from './cursor.js';
import { KINDS, type Named, notFound, refOf } from './registration.js';
import { WorkflowClient } from './workflow.client.js';

export const VersionQuery = ListQuery.extend({
  id: z.string().max(63).optional().describe('Only the versions of this id'),
  tag: z.string().max(63).optional().describe('Only versions that have the tag'),
});
export type VersionQuery = z.infer<typeof VersionQuery>;

export type Listed = Named & VersionRecord & Record<string, unknown>;

/** Versions that a message names. */
const MOST_NAMED = 5;

/** What is the same for everything that is registered. */
@Injectable()
export class RegistryService {
  constructor(
    private readonly registry: RegistryStore,
    private readonly workflows: WorkflowClient,
  ) {}

  async list(folder: SpecFolder, workspace: string, { cursor, limit, id, tag }: VersionQuery): Promise<Page<Listed>> {
    const after = decodeCursor(z.tuple([z.string(), z.int()]), cursor);
    const versions = await this.registry.list(folder, workspace, { id, tag, after, limit: limit + 1 });
    return toPage(versions, limit, toItem, (last) => [last.id, last.pk]);
  }

  setTags(folder: SpecFolder, { workspace }: Principal, name: Named, tags: readonly string[]): Promise<Listed> {
    return this.changed(folder, workspace, name, this.registry.setTags(folder, workspace, name, tags));
  }

  deprecate(folder: SpecFolder, { workspace, subject }: Principal, name: Named, reason?: string): Promise<Listed> {
    return this.changed(folder, workspace, name, this.registry.deprecate(folder, workspace, name, subject, reason));
  }

  restore(folder: SpecFolder, { workspace }: Principal, name: Named): Promise<Listed> {
    return this.changed(folder, workspace, name, this.registry.restore(folder, workspace, name));
  }

  confirm(folder: SpecFolder, { workspace, subject }: Principal, name: Named): Promise<Listed> {
    return this.changed(folder, workspace, name, this.registry.confirm(folder, workspace, name, subject));
  }

  /** Why a reference means nothing, and what would. */
  async missing(folder: SpecFolder, workspace: string, ref: string): Promise<PlatformError> {
    const { id, version } = parseRef(ref);
    const kind = KINDS[folder];
    const versions = await this.registry.versions(folder, workspace, id);
    if (versions.length === 0) {
      const meant = nearest(id, await this.registry.ids(folder, workspace));
      return notFound(kind, `${ref}${meant === undefined ? '' : `; did you mean ${meant}?`}`);
    }
    const latest = meantBy(versions);
    if (latest) return notFound(kind, `${ref}; the latest version is ${latest.version}`);
    if (version !== undefined) return notFound(kind, `${ref}; there is ${namesOf(versions)}`);
    return new PlatformError('NOT_FOUND', whyNoLatest(`${kind} ${id}`, versions));
  }

  private async changed(
    folder: SpecFolder,
    workspace: string,
    { id, version }: Named,
    change: Promise<Changed | undefined>,
  ): Promise<Listed> {
    const changed = await change;
    if (!changed) throw await this.notOwn(folder, workspace, id, version);
    noteAudit({ after: contentHash(changed.version.record) });
    if (changed.limits) this.workflows.signalLimits([changed.limits]);
    return toItem(changed.version);
  }

  /** What a workspace says of versions, it says of its own. */
  private async notOwn(folder: SpecFolder, workspace: string, id: string, version: string): Promise<PlatformError> {
    const known = (await this.registry.versions(folder, workspace, id)).find((each) => each.version === version);
    if (!known) return this.missing(folder, workspace, refOf(id, version));
    return notFound(KINDS[folder], `${id}@${version} of this workspace: it is shared, and its operator's to change`);
  }
}

/** A version may be tagged otherwise than its content is. */
const toItem = ({ content, record }: ListedVersion): Listed => ({ ...content, ...record }) as Listed;

function whyNoLatest(name: string, versions: readonly KnownVersion[]): string {
  const confirmed = versions.filter(({ isConfirmed }) => isConfirmed);
  if (confirmed.length === 0) {
    return `no version of ${name} is confirmed yet: confirm ${namesOf(versions)}, or name it with its version`;
  }
  return `every version of ${name} is deprecated: restore ${namesOf(confirmed)}, or name it with its version`;
}

function namesOf(versions: readonly KnownVersion[]): string {
  const named = versions.slice(-MOST_NAMED).map(({ version }) => version);
  const more = versions.length > named.length ? ` (or one of ${versions.length - named.length} more)` : '';
  return `${named.join(' or ')}${more}`;
}
