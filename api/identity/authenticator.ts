import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { decodeJwt, type JWTPayload } from 'jose';
import type { Env } from '../../config/env.js';
import type { JsonLog } from '../../config/log.js';
import { PlatformError } from '../../contracts/errors.js';
import type { CiBindingStore } from '../../store/ci-binding.store.js';
import { hashOfKey, type KeyStore, type KnownKey } from '../../store/key.store.js';
import type { MemberStore } from '../../store/member.store.js';
import type { Identity } from '../common/caller.js';
import { FailedLogins, sourceOf } from './failed-logins.js';
import { Issuer } from './issuer.js';
import { anonymous, unauthenticated } from './refusals.js';

const BEARER = /^bearer +([\x21-\x7e]+) *$/i;
/** Three parts of base64url, the first of which is a JSON object. */
const TOKEN = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/;
const SUB = /^[^\p{Cc}\p{Surrogate}]{1,255}$/u;
const USED_EVERY_MS = 60_000;

interface Stores {
  keys: KeyStore;
  members: MemberStore;
  bindings: CiBindingStore;
}

/** Finds out who sends a request, by what it comes with. */
export class Authenticator {
  private readonly failures = new FailedLogins();
  private readonly operatorHash: Buffer | undefined;
  private readonly people: Issuer | undefined;
  private readonly github: Issuer | undefined;
  /** Checks at work, by source and credential: whoever comes with the same waits for the same. */
  private readonly checking = new Map<string, Promise<Identity>>();
  /** Keys whose use is being noted. */
  private readonly noting = new Set<string>();

  constructor(
    env: Env,
    private readonly stores: Stores,
    private readonly log: JsonLog,
  ) {
    const { EVERDICT_OPERATOR_KEY: operatorKey, EVERDICT_OIDC_ISSUER: issuer } = env;
    this.operatorHash = operatorKey === undefined ? undefined : hashOfKey(operatorKey);
    this.people = issuer === undefined ? undefined : new Issuer(issuer, env.EVERDICT_OIDC_AUDIENCE ?? '');
    const audience = env.EVERDICT_GITHUB_AUDIENCE;
    this.github = audience === undefined ? undefined : new Issuer(env.EVERDICT_GITHUB_ISSUER, audience);
  }

  async identify(request: FastifyRequest): Promise<Identity> {
    const header = request.headers.authorization;
    if (header === undefined) throw anonymous();
    const credential = BEARER.exec(header)?.[1];
    if (credential === undefined) throw unauthenticated('the header Authorization is not `Bearer <API key or token>`');
    const source = sourceOf(request.ip);
    const digest = createHash('sha256').update(credential).digest('base64');
    const name = `${source} ${digest}`;
    let checking = this.checking.get(name);
    if (checking === undefined) {
      this.failures.begin(source, digest);
      checking = this.judged(credential, source, digest, request.id).finally(() => this.checking.delete(name));
      this.checking.set(name, checking);
    }
    return checking;
  }

  private async judged(credential: string, source: string, digest: string, requestId: string): Promise<Identity> {
    try {
      const identity = await this.check(credential);
      this.failures.accepted(source, digest);
      return identity;
    } catch (error) {
      if (error instanceof PlatformError && error.code === 'UNAUTHENTICATED') {
        this.log.warn('login failed', { requestId, source, reason: error.message });
      } else {
        this.failures.takeBack(source);
      }
      throw error;
    }
  }

  private async check(credential: string): Promise<Identity> {
    const isOperator = this.operatorHash && timingSafeEqual(hashOfKey(credential), this.operatorHash);
    if (isOperator) return { subject: 'operator', scope: 'admin', isOperator, memberships: [] };
    return TOKEN.test(credential) ? this.byToken(credential) : this.byKey(credential);
  }

  private async byKey(value: string): Promise<Identity> {
    const key = await this.stores.keys.byValue(value);
    if (!key || !timingSafeEqual(hashOfKey(value), key.hash)) throw unauthenticated('the API key is not known');
    if (key.isRevoked) throw unauthenticated(`the API key ${key.id} is revoked`);
    if (key.isExpired) throw unauthenticated(`the API key ${key.id} has expired`);
    this.noteUse(key);
    const subject = `key:${key.id}`;
    const home = { workspace: key.workspaceId, role: key.role };
    const others = await this.stores.members.membershipsOf(subject);
    return {
      subject,
      scope: key.scope,
      keyId: key.id,
      isOperator: false,
      home: home.workspace,
      memberships: [home, ...others.filter(({ workspace }) => workspace !== home.workspace)],
      ...(key.expiresAt && { expiresAt: key.expiresAt }),
    };
  }

  /** Nobody waits for it. */
  private noteUse({ id, lastUsedAt }: KnownKey): void {
    if (this.noting.has(id) || (lastUsedAt && Date.now() - lastUsedAt.getTime() < USED_EVERY_MS)) return;
    this.noting.add(id);
    void this.stores.keys
      .noteUse(id)
      .catch(() => undefined)
      .finally(() => this.noting.delete(id));
  }

  private byToken(token: string): Promise<Identity> {
    const claimed = claimsOf(token);
    if (this.people?.isOf(claimed)) return this.person(this.people, token);
    if (this.github?.isOf(claimed)) return this.workflow(this.github, token);
    throw unauthenticated('the token is of an issuer that this platform is not set up for');
  }

  private async person(issuer: Issuer, token: string): Promise<Identity> {
    const { sub = '', iss = '', exp, email, email_verified: isVerified } = await issuer.verify(token);
    if (!SUB.test(sub))
      throw unauthenticated('the token is not accepted: its `sub` is not 1 to 255 visible characters');
    const subject = `oidc:${new URL(iss).host}:${sub}`;
    const address = typeof email === 'string' && isVerified === true ? email.toLowerCase() : undefined;
    const memberships = await this.stores.members.membershipsOf(subject, address);
    return { subject, scope: 'admin', isOperator: false, memberships, ...expiring(exp) };
  }

  private async workflow(issuer: Issuer, token: string): Promise<Identity> {
    const { repository, ref, environment, exp } = await issuer.verify(token);
    if (typeof repository !== 'string') throw unauthenticated('the token is not accepted: it names no `repository`');
    const claims = { repository: repository.toLowerCase(), ref: textOf(ref), environment: textOf(environment) };
    const workspaces = await this.stores.bindings.workspacesOf(claims);
    return {
      subject: `github:${claims.repository}`,
      scope: 'write',
      isOperator: false,
      home: workspaces[0],
      memberships: workspaces.map((workspace) => ({ workspace, role: 'ci' })),
      ...expiring(exp),
    };
  }
}

const textOf = (claim: unknown): string | undefined => (typeof claim === 'string' ? claim : undefined);

const expiring = (exp: number | undefined) => (exp === undefined ? {} : { expiresAt: new Date(exp * 1_000) });

function claimsOf(token: string): JWTPayload {
  try {
    return decodeJwt(token);
  } catch {
    throw unauthenticated('the token is not accepted: it is no JWT');
  }
}
