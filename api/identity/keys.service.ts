import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { KeyRequest, KeyView, NewKey, RevokedKey } from '../../contracts/access.js';
import { PlatformError } from '../../contracts/errors.js';
import { isWithin } from '../../policy/permissions.js';
import { noteAudit } from '../../store/audit-draft.js';
import { contentHash } from '../../store/content-hash.js';
import { KeyStore } from '../../store/key.store.js';
import type { Principal } from '../common/caller.js';
import { decodeCursor, type ListQuery, type Page, toPage } from '../common/cursor.js';
import { notFound } from '../common/registration.js';

const SECRET_BYTES = 32;

@Injectable()
export class KeysService {
  constructor(private readonly keys: KeyStore) {}

  /** Nobody makes a key that may more, or lives longer, than what he holds himself. */
  async create(caller: Principal, { name, role, scope, expiresAt }: KeyRequest): Promise<NewKey> {
    if (!isWithin({ role, scope }, caller)) {
      throw new PlatformError('FORBIDDEN', `a key of ${role} and scope ${scope} may more than you`);
    }
    const until = expiresAt === undefined ? undefined : new Date(expiresAt);
    await this.refuseOutliving(caller, until);
    const value = `ak_${randomBytes(SECRET_BYTES).toString('base64url')}`;
    const key = { name, role, scope, createdBy: caller.subject, ...(until && { expiresAt: until }) };
    const made = await this.keys.create(caller.workspace, key, value);
    noteAudit({ object: made.id, after: hashOf(made) });
    return { ...made, value };
  }

  async list(workspace: string, { cursor, limit }: ListQuery): Promise<Page<KeyView>> {
    const after = decodeCursor(z.int(), cursor);
    const found = await this.keys.list(workspace, { after, limit: limit + 1 });
    return toPage(
      found,
      limit,
      ({ key }) => key,
      ({ seq }) => seq,
    );
  }

  async revoke(workspace: string, id: string, isForced: boolean): Promise<RevokedKey> {
    const revoked = await this.keys.revoke(workspace, id, isForced);
    if (!revoked) throw notFound('key', id);
    noteAudit({ before: hashOf(revoked.key) });
    return { ...revoked.key, stillValid: revoked.stillValid };
  }

  private async refuseOutliving({ subject }: Principal, until: Date | undefined): Promise<void> {
    const [, ownId] = /^key:(.+)$/.exec(subject) ?? [];
    const own = ownId === undefined ? undefined : (await this.keys.find(ownId))?.expiresAt;
    if (!own || (until && until <= own)) return;
    const message = `a key that is made with one that expires does not outlive it: at most until ${own.toISOString()}`;
    throw new PlatformError('FORBIDDEN', message, { errors: [{ path: 'expiresAt', message }] });
  }
}

/** Of what a key may; nothing of its value. */
const hashOf = ({ name, role, scope, expiresAt }: Pick<KeyView, 'name' | 'role' | 'scope' | 'expiresAt'>): string =>
  contentHash({ name, role, scope, expiresAt });
