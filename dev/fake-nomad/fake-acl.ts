import type { Answer } from '../fake-http/fake-answer.js';
import { isSince } from './fake-version.js';

export interface FakeToken {
  type?: 'client' | 'management';
  policies?: string[];
  /** RFC 3339. */
  expires?: string;
}

/** `RulesJSON` of a policy, as far as it is looked at. */
interface FakeRules {
  Namespaces?: { Name: string; Policy?: string; Capabilities: string[] }[] | null;
  Node?: { Policy: string } | null;
  Agent?: { Policy: string } | null;
}

/** Tokens by their secret, policies by their name. */
export interface Acl {
  tokens: Readonly<Record<string, FakeToken>>;
  policies?: Readonly<Record<string, FakeRules>>;
}

export type Capability = 'submit-job' | 'read-job' | 'list-jobs' | 'read-logs' | 'read-fs' | 'alloc-lifecycle';

/**
 * What a route asks of a token: nothing; that it be good where there is one; any that is good; a right of the agent or
 * its nodes; or a capability in the namespace of the query.
 */
export type Access = 'open' | 'good' | 'any' | 'Agent' | 'Node' | 'management' | Capability;

type Fault = 'none' | 'malformed' | 'unknown' | 'expired';

const UUID = /^[0-9a-f-]{36}$/;
const DENIED: Answer = { status: 403, body: 'Permission denied' };

/** What tokens may do. Without rules everyone may do everything. */
export class AclGate {
  /** Rights that something asked for. */
  readonly asked = new Set<Access>();
  private readonly agentAnswers: Readonly<Record<Fault, Answer>>;

  constructor(
    private readonly acl: Acl | undefined,
    version: string,
  ) {
    this.agentAnswers = isSince(version, [2]) ? NEW_AGENT_ANSWERS : AGENT_ANSWERS;
  }

  /** Why a request is not answered. Only the agent itself says what is wrong with a token. */
  refusal(access: Access, secret: string | undefined, namespace: string): Answer | undefined {
    this.asked.add(access);
    if (!this.acl || access === 'open') return undefined;
    const token = this.resolve(secret);
    if (access === 'good' && token === 'none') return undefined;
    if (access === 'Agent' && typeof token === 'string') return this.agentAnswers[token];
    return typeof token === 'object' && this.allows(token, access, namespace) ? undefined : DENIED;
  }

  may(secret: string | undefined, namespace: string, capability: Capability): boolean {
    this.asked.add(capability);
    if (!this.acl) return true;
    const token = this.resolve(secret);
    return typeof token === 'object' && this.allows(token, capability, namespace);
  }

  /** In the words of a client, which looks a token up for itself; that there is none is no fault. */
  clientRefusal(secret: string | undefined): string | undefined {
    const token = this.acl ? this.resolve(secret) : 'none';
    return typeof token === 'string' ? CLIENT_TEXTS[token] : undefined;
  }

  sees(secret: string | undefined, namespace: string): boolean {
    return SEEING.some((capability) => this.may(secret, namespace, capability));
  }

  private resolve(secret: string | undefined): FakeToken | Fault {
    if (secret === undefined) return 'none';
    if (!UUID.test(secret)) return 'malformed';
    const token = this.acl?.tokens[secret];
    if (!token) return 'unknown';
    return token.expires !== undefined && Date.parse(token.expires) < Date.now() ? 'expired' : token;
  }

  private allows({ type, policies = [] }: FakeToken, access: Access, namespace: string): boolean {
    if (type === 'management' || access === 'any' || access === 'good') return true;
    const rules = policies.map((name) => this.acl?.policies?.[name]);
    if (access === 'management') return false;
    if (access === 'Agent' || access === 'Node') {
      return rules.some((each) => each?.[access]?.Policy === 'read' || each?.[access]?.Policy === 'write');
    }
    // Of a list over all of them each item is looked at.
    if (namespace === '*') return true;
    return capabilities(
      rules.flatMap((each) => each?.Namespaces ?? []),
      namespace,
    ).has(access);
  }
}

const SEEING: readonly Capability[] = ['submit-job', 'read-job', 'list-jobs', 'read-logs', 'read-fs'];
const BAD_UUID = 'acl token lookup failed: index error: UUID must be 36 characters';
const AGENT_ANSWERS: Readonly<Record<Fault, Answer>> = {
  none: DENIED,
  unknown: { status: 403, body: 'ACL token not found' },
  malformed: { status: 500, body: `failed to resolve ACL token: ${BAD_UUID}` },
  expired: { status: 500, body: 'failed to resolve ACL token: ACL token expired' },
};
const UNTAKEN = 'ACL token not found or invalid workload identity';
const NEW_AGENT_ANSWERS: Readonly<Record<Fault, Answer>> = {
  none: DENIED,
  unknown: DENIED,
  malformed: { status: 500, body: `${UNTAKEN}: go-jose/go-jose: compact JWS format must have three parts` },
  expired: { status: 500, body: `${UNTAKEN}: ACL token expired` },
};
const CLIENT_TEXTS: Readonly<Record<Fault, string | undefined>> = {
  none: undefined,
  unknown: 'Permission denied',
  malformed: 'failed to verify token: token is malformed: token contains an invalid number of segments',
  expired: 'ACL token expired',
};

const READ = ['list-jobs', 'read-job'];
const BY_POLICY: Readonly<Record<string, readonly string[]>> = {
  read: READ,
  write: [...READ, 'submit-job', 'read-logs', 'read-fs', 'alloc-lifecycle'],
};

/** Of the rules that match a name, those with it win; else those with the longest pattern. */
function capabilities(rules: NonNullable<FakeRules['Namespaces']>, namespace: string): Set<string> {
  const matching = rules.filter(({ Name }) => isGlobOf(Name, namespace));
  const best = matching
    .map(({ Name }) => Name)
    .sort((a, b) => specificity(b, namespace) - specificity(a, namespace))[0];
  const granted = matching
    .filter(({ Name }) => Name === best)
    .flatMap(({ Policy = '', Capabilities }) => [...Capabilities, ...(BY_POLICY[Policy] ?? [Policy])]);
  return granted.includes('deny') ? new Set() : new Set(granted);
}

const specificity = (pattern: string, name: string): number =>
  pattern === name ? Number.POSITIVE_INFINITY : pattern.length;

const isGlobOf = (pattern: string, name: string): boolean =>
  new RegExp(`^${pattern.split('*').map(escaped).join('.*')}$`).test(name);
const escaped = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
