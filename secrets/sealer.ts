import { createCipheriv, createDecipheriv, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { PlatformError } from '../contracts/errors.js';

export interface SealingKey {
  id: string;
  key: KeyObject;
}

/** What a sealed value belongs to. One that is moved to another place does not open there. */
export interface Place {
  workspaceId: string;
  name: string;
  use: string;
  /** Where it may be sent to. */
  bindings: readonly string[];
}

export interface Sealed {
  keyId: string;
  /** Nonce, authentication tag, ciphertext. */
  bytes: Buffer;
}

/** Why a value does not open, in words that follow "the secret NAME". */
export type Closed = { kind: 'closed'; reason: string };

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Seals values by AES-256-GCM: under the first key, and opens what any of them sealed. */
export class Sealer {
  private readonly byId: ReadonlyMap<string, KeyObject>;
  private readonly first: SealingKey | undefined;

  constructor(keys: readonly SealingKey[]) {
    this.byId = new Map(keys.map(({ id, key }) => [id, key]));
    this.first = keys[0];
  }

  /** The key that seals. Refuses where there is none. */
  get current(): SealingKey {
    if (this.first) return this.first;
    throw new PlatformError(
      'SECRETS_DISABLED',
      'this deployment keeps no secrets: its operator has not set EVERDICT_SECRETS_KEY',
    );
  }

  /** Ids of the keys that open, the one that seals first. */
  get keyIds(): string[] {
    return [...this.byId.keys()];
  }

  seal(place: Place, value: string): Sealed {
    const { id, key } = this.current;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(contextOf(place));
    const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
    return { keyId: id, bytes: Buffer.concat([nonce, cipher.getAuthTag(), text]) };
  }

  open(place: Place, { keyId, bytes }: Sealed): { kind: 'open'; value: string } | Closed {
    const key = this.byId.get(keyId);
    if (!key) {
      const reason = `is sealed with key ${keyId}, which EVERDICT_SECRETS_KEY does not have: add that key again, or set the secret anew`;
      return { kind: 'closed', reason };
    }
    try {
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(contextOf(place))
        .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
      return { kind: 'open', value: text.toString('utf8') };
    } catch {
      const reason = `does not open with key ${keyId}: its row was changed, or the key is another than the one that sealed it; set it anew`;
      return { kind: 'closed', reason };
    }
  }

  /** A key for something else than sealing, one for each label; without any key of ours, of this process alone. */
  derive(label: string): Buffer {
    const material = this.first?.key ?? PROCESS_KEY;
    return Buffer.from(hkdfSync('sha256', material, '', label, 32));
  }
}

const PROCESS_KEY = randomBytes(32);

const contextOf = ({ workspaceId, name, use, bindings }: Place): Buffer =>
  Buffer.from(JSON.stringify([workspaceId, name, use, bindings]));
