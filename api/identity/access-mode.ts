import type { Env } from '../../config/env.js';
import { isLoopback } from '../../config/loopback.js';
import type { KeyStore } from '../../store/key.store.js';

const LOOK_EVERY_MS = 1_000;

/**
 * Whether everybody is asked who they are. What the operator does not say follows from what there is: with a key or an
 * issuer they are. It is never taken back while the process lives.
 */
export class AccessMode {
  private timer: NodeJS.Timeout | undefined;

  private constructor(
    private isAsked: boolean,
    private readonly keys: Pick<KeyStore, 'hasAny'>,
  ) {}

  static async of(env: Env, keys: Pick<KeyStore, 'hasAny'>): Promise<AccessMode> {
    const { EVERDICT_AUTH: said } = env;
    if (said !== undefined) return new AccessMode(said === 'on', keys);
    const mode = new AccessMode(hasCredentials(env) || (await keys.hasAny()), keys);
    if (!mode.isOn) mode.watch();
    return mode;
  }

  get isOn(): boolean {
    return this.isAsked;
  }

  /** The first key may be made by another process. A database that is away changes nothing. */
  private watch(): void {
    this.timer = setInterval(() => {
      this.keys.hasAny().then(
        (hasAny) => {
          if (hasAny) this.isAsked = true;
          if (hasAny) this.close();
        },
        () => undefined,
      );
    }, LOOK_EVERY_MS);
    this.timer.unref();
  }

  close(): void {
    clearInterval(this.timer);
  }
}

const hasCredentials = (env: Env): boolean =>
  [env.EVERDICT_OPERATOR_KEY, env.EVERDICT_BOOTSTRAP_KEY, env.EVERDICT_OIDC_ISSUER, env.EVERDICT_GITHUB_AUDIENCE].some(
    (credential) => credential !== undefined,
  );

/** Without authentication nobody but this machine may reach it. */
export function refuseOpenBind(host: string, { isOn }: Pick<AccessMode, 'isOn'>): void {
  if (isOn || isLoopback(host)) return;
  throw new Error(
    `EVERDICT_HOST is ${host}, but authentication is off, and without it the API binds to loopback only: make a key with ` +
      '`everdict bootstrap` or set EVERDICT_OPERATOR_KEY, and do not set EVERDICT_AUTH=off; or use 127.0.0.1, ::1 or ' +
      'localhost',
  );
}
