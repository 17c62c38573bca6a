import { Injectable } from '@nestjs/common';
import { PlatformError } from '../../contracts/errors.js';
import { contentHash } from '../../store/content-hash.js';
import { type Creation, type IdempotencyKey, IdempotencyStore } from '../../store/idempotency.store.js';

/** Printable ASCII. */
const KEY = /^[\x21-\x7e]{1,255}$/;

@Injectable()
export class IdempotencyService {
  constructor(private readonly keys: IdempotencyStore) {}

  /** The key of a request, if it names one. The order of the body's keys does not count. */
  keyOf(route: string, header: string | undefined, body: unknown): IdempotencyKey | undefined {
    if (header === undefined) return undefined;
    if (KEY.test(header)) return { route, key: header, bodyHash: contentHash(body) };
    const message = 'is not 1 to 255 printable ASCII characters without spaces';
    const errors = [{ path: 'Idempotency-Key', message }];
    throw new PlatformError('BAD_REQUEST', `the header Idempotency-Key ${message}`, { errors });
  }

  /** What an earlier request with this key made. */
  async find(workspace: string, key: IdempotencyKey | undefined): Promise<string | undefined> {
    const earlier = key && (await this.keys.find(workspace, key));
    return earlier && resolve(earlier);
  }
}

/** The id a create call came to, also by an earlier request with the same key and body. */
export function resolve({ kind, id }: Creation): string {
  if (kind !== 'conflict') return id;
  const message = `the Idempotency-Key was used within 24 hours with another body, which made ${id}`;
  throw new PlatformError('CONFLICT', message);
}
