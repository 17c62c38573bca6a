import type { Answer } from '../fake-http/fake-answer.js';
import type { Access, Acl, AclGate } from './fake-acl.js';
import type { Route } from './fake-routes.js';

interface Agent {
  version: string;
  acl?: Acl;
  gate: AclGate;
  namespaces: readonly string[];
}

/** What an agent says of itself, of tokens and of namespaces. */
export function agentRoutes({ version, acl, gate, namespaces }: Agent): Route[] {
  const page = (pattern: string, access: Access, body: unknown): Route => ({
    ...{ method: 'GET', pattern, access, handle: () => ({ status: 200, body }) },
  });
  return [
    page('/v1/agent/self', 'Agent', self(version, acl !== undefined)),
    page('/v1/agent/health', 'open', { server: { ok: true, message: 'ok' } }),
    page('/v1/status/leader', 'open', '127.0.0.1:4647'),
    page('/v1/regions', 'open', ['global']),
    {
      ...{ method: 'GET', pattern: '/v1/namespaces', access: 'good' },
      handle({ token }) {
        const seen = namespaces.filter((name) => gate.sees(token, name));
        return { status: 200, body: seen.map(namespaceOf) };
      },
    },
    {
      ...{ method: 'GET', pattern: '/v1/namespace/:id', access: 'any' },
      handle: ({ id }) =>
        namespaces.includes(id) ? { status: 200, body: namespaceOf(id) } : { status: 404, body: 'Namespace not found' },
    },
    { method: 'GET', pattern: '/v1/acl/token/self', access: 'open', handle: ({ token }) => tokenAnswer(acl, token) },
    { method: 'GET', pattern: '/v1/acl/policy/:id', access: 'any', handle: ({ id }) => policyAnswer(acl, id) },
  ];
}

const self = (version: string, hasAcl: boolean) => ({
  config: {
    Region: 'global',
    Datacenter: 'dc1',
    Version: { Version: version, VersionPrerelease: '' },
    ACL: { Enabled: hasAcl },
  },
  member: { Name: 'rack-1.global', Addr: '127.0.0.1', Status: 'alive', Tags: { build: version, role: 'nomad' } },
  stats: { nomad: { leader: 'true', server: 'true' } },
});

const namespaceOf = (Name: string) => ({
  ...{ Name, Description: '', Quota: '', Capabilities: null, NodePoolConfiguration: null, Meta: null },
  ...{ CreateIndex: 1, ModifyIndex: 1 },
});

function tokenAnswer(acl: Acl | undefined, token: string | undefined): Answer {
  if (!acl || token === undefined) return { status: 500, body: 'acl token lookup failed: missing secret id' };
  if (token.length !== 36)
    return { status: 500, body: 'acl token lookup failed: index error: UUID must be 36 characters' };
  const known = acl.tokens[token];
  if (!known) return { status: 404, body: 'ACL token not found' };
  const { type = 'client', policies = [], expires = null } = known;
  const body = {
    AccessorID: token,
    Name: 'a token',
    Type: type,
    Policies: policies,
    Roles: null,
    ExpirationTime: expires,
  };
  return { status: 200, body };
}

function policyAnswer(acl: Acl | undefined, name: string): Answer {
  const rules = acl?.policies?.[name];
  return rules
    ? { status: 200, body: { Name: name, RulesJSON: rules } }
    : { status: 404, body: 'ACL policy not found' };
}
