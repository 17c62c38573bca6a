import { randomBytes } from 'node:crypto';
import { readEnv } from '../config/env.js';
import { VERSION } from '../config/version.js';
import { migrate, openDatabase } from '../store/data-source.js';
import { KeyStore } from '../store/key.store.js';

/** The first admin key of the deployment with this database; undefined if there is one. */
export async function makeFirstKey(): Promise<{ id: string; value: string } | undefined> {
  const db = await openDatabase({ url: readEnv().DATABASE_URL, poolSize: 2, applicationName: 'everdict-bootstrap' });
  try {
    await migrate(db, VERSION);
    const value = `ak_${randomBytes(32).toString('base64url')}`;
    const first = await new KeyStore(db).bootstrap(value);
    return first && { id: first.id, value };
  } finally {
    await db.destroy();
  }
}
