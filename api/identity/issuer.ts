import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { z } from 'zod';
import { PlatformError } from '../../contracts/errors.js';
import { unauthenticated } from './refusals.js';

/** Signatures that the issuer alone can make. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
/** How far its clock may be off. */
const SKEW_SEC = 60;
const ANSWER_MS = 5_000;
const KEYS_FOR_MS = 600_000;
/** A key it does not name is asked for no more often. */
const REST_MS = 30_000;
const RETRY_AFTER_SEC = 5;

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

interface Found {
  issuer: string;
  keys: JWTVerifyGetKey;
}

/** Errors of jose that are not the token's fault. */
const OF_THE_ISSUER = [errors.JWKSTimeout, errors.JWKSInvalid];

export const withoutSlash = (url: string): string => url.replace(/\/+$/, '');

/** Somebody whose tokens are believed, and who is asked for its keys when the first one comes. */
export class Issuer {
  private found: Promise<Found> | undefined;

  constructor(
    private readonly url: string,
    private readonly audience: string,
  ) {}

  isOf(token: JWTPayload): boolean {
    return withoutSlash(token.iss ?? '') === withoutSlash(this.url);
  }

  /** What a token says, once it is proven. */
  async verify(token: string): Promise<JWTPayload> {
    try {
      const { issuer, keys } = await this.discover();
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience: this.audience,
        algorithms: ALGORITHMS,
        clockTolerance: SKEW_SEC,
        requiredClaims: ['exp', 'sub'],
      });
      return payload;
    } catch (error) {
      throw this.blamed(error);
    }
  }

  private discover(): Promise<Found> {
    this.found ??= this.ask().catch((error: unknown) => {
      this.found = undefined;
      throw error;
    });
    return this.found;
  }

  private async ask(): Promise<Found> {
    const url = `${withoutSlash(this.url)}/.well-known/openid-configuration`;
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS) });
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    const { issuer, jwks_uri } = Discovery.parse(await response.json());
    if (withoutSlash(issuer) !== withoutSlash(this.url)) throw new Error(`${url} is of ${issuer}`);
    const keysAt = new URL(jwks_uri);
    if (keysAt.protocol === 'http:' && this.url.startsWith('https:')) throw new Error(`${jwks_uri} is not https`);
    const options = { timeoutDuration: ANSWER_MS, cacheMaxAge: KEYS_FOR_MS, cooldownDuration: REST_MS };
    return { issuer, keys: createRemoteJWKSet(keysAt, options) };
  }

  private blamed(error: unknown): PlatformError {
    const isOfToken =
      error instanceof errors.JOSEError &&
      error.code !== errors.JOSEError.code &&
      !OF_THE_ISSUER.some((Kind) => error instanceof Kind);
    if (isOfToken) return unauthenticated(`the token is not accepted: ${error.message}`);
    const message = `the token cannot be checked, since its issuer ${this.url} does not answer as it should`;
    return new PlatformError('ISSUER_UNREACHABLE', message, { retryAfterSec: RETRY_AFTER_SEC }, { cause: error });
  }
}
