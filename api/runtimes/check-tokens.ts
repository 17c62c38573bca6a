import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { PlatformError } from '../../contracts/errors.js';
import type { RuntimeSpec } from '../../contracts/runtime.js';
import { canonicalJson } from '../../policy/canonical.js';

export const CHECK_HEADER = 'x-everdict-check';

const LIFE_MS = 10 * 60_000;
/** What the key is derived for. */
export const CHECK_LABEL = 'everdict check token';
const FORM = /^(\d{13})\.([\w-]{43})\.([\w-]{43})$/;

/**
 * Says that a workspace had a spec checked, for ten minutes: `<expiry, epoch ms>.<hash of the spec>.<HMAC of both and the
 * workspace>`. The order of keys does not matter.
 */
export class CheckTokens {
  constructor(
    private readonly key: Uint8Array,
    private readonly now: () => number = Date.now,
  ) {}

  issue(workspace: string, spec: RuntimeSpec): string {
    const said = `${this.now() + LIFE_MS}.${hashOf(spec)}`;
    return `${said}.${this.sign(workspace, said).toString('base64url')}`;
  }

  /** Refuses a spec that is not the one which was checked. */
  require(workspace: string, spec: RuntimeSpec, token: string): void {
    const [, expiry = '', hash = '', mac = ''] = FORM.exec(token) ?? [];
    const given = Buffer.from(mac, 'base64url');
    const known = this.sign(workspace, `${expiry}.${hash}`);
    if (known.length !== given.length || !timingSafeEqual(known, given)) {
      throw refusal('BAD_REQUEST', 'is no check token of this workspace: take the one that validate or probe answers');
    }
    if (Number(expiry) < this.now()) {
      throw refusal('CONFLICT', `ended at ${new Date(Number(expiry)).toISOString()}: check the spec again`);
    }
    if (hash !== hashOf(spec)) {
      throw refusal(
        'CONFLICT',
        'is of another spec than this one: check this one, or register the one that was checked',
      );
    }
  }

  private sign(workspace: string, said: string): Buffer {
    return createHmac('sha256', this.key).update(`${workspace}\n${said}`).digest();
  }
}

const hashOf = (spec: RuntimeSpec): string => createHash('sha256').update(canonicalJson(spec)).digest('base64url');

function refusal(code: 'BAD_REQUEST' | 'CONFLICT', message: string): PlatformError {
  return new PlatformError(code, `the check token in X-Everdict-Check ${message}`, {
    errors: [{ path: 'X-Everdict-Check', message }],
  });
}
