import type { Answer } from './fake-answer.js';

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

const UUID = /^[0-9a-f-]{36}$/;
/** Answered to anyone; the token route and policies decide for themselves. */
const OPEN = ['/v1/agent/health', '/v1/status/leader', '/v1/regions', '/v1/acl/token/self'];
const NEEDS: Readonly<Record<string, 'Agent' | 'Node'>> = { '/v1/agent/self': 'Agent', '/v1/nodes': 'Node' };

/** Why a request is not answered, in the words of 1.6. */
export function whyRefused(acl: Acl, path: string, secret: string | undefined): Answer | undefined {
  if (OPEN.includes(path)) return undefined;
  const denied = { status: 403, body: 'Permission denied' };
  if (secret === undefined) return denied;
  const isAgent = path === '/v1/agent/self';
  const unresolved = (why: string): Answer =>
    isAgent ? { status: 500, body: `failed to resolve ACL token: ${why}` } : denied;
  if (!UUID.test(secret)) return unresolved('acl token lookup failed: index error: UUID must be 36 characters');
  const token = acl.tokens[secret];
  if (!token) return isAgent ? { status: 403, body: 'ACL token not found' } : denied;
  if (token.expires !== undefined && Date.parse(token.expires) < Date.now()) return unresolved('ACL token expired');
  if (token.type === 'management') return undefined;
  const needed = NEEDS[path];
  const rules = (token.policies ?? []).map((name) => needed && acl.policies?.[name]?.[needed]?.Policy);
  return needed && !rules.some((rule) => rule === 'read' || rule === 'write') ? denied : undefined;
}
