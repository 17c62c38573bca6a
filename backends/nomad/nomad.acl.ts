import type { AclPolicy, AclToken } from './nomad.replies.js';

interface Granted {
  action: string;
  allowed: boolean;
}

/** What running jobs takes, in the namespace of a runtime. */
const NAMESPACE_ACTIONS = ['submit-job', 'read-job', 'list-jobs', 'read-logs', 'read-fs'];

/** What a token may do in a namespace. Where a rule says `deny`, it outweighs all others of that namespace. */
export function permissionsOf(token: AclToken, policies: readonly AclPolicy[], namespace: string): Granted[] {
  const isManagement = token.Type === 'management';
  const granted = capabilitiesIn(policies, namespace);
  const mayRead = (part: 'Node' | 'Agent') => {
    const rules = policies.map(({ RulesJSON }) => RulesJSON[part]?.Policy);
    return !rules.includes('deny') && rules.some((rule) => rule === 'read' || rule === 'write');
  };
  return [
    ...NAMESPACE_ACTIONS.map((action) => ({ action, allowed: isManagement || granted.has(action) })),
    { action: 'node:read', allowed: isManagement || mayRead('Node') },
    { action: 'agent:read', allowed: isManagement || mayRead('Agent') },
  ];
}

/** Of the rules that match a name, those with it win; else those with the longest pattern. */
function capabilitiesIn(policies: readonly AclPolicy[], namespace: string): Set<string> {
  const rules = policies
    .flatMap(({ RulesJSON }) => RulesJSON.Namespaces)
    .filter(({ Name }) => Name === namespace || matches(Name, namespace));
  const names = rules.map(({ Name }) => Name).sort((a, b) => b.length - a.length);
  const best = names.includes(namespace) ? namespace : names[0];
  const granted = rules.filter(({ Name }) => Name === best).flatMap(({ Capabilities }) => Capabilities);
  return granted.includes('deny') ? new Set() : new Set(granted);
}

/** `*` stands for any text. Walks without backtracking over what others wrote. */
function matches(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === name;
  if (!name.startsWith(first)) return false;
  const last = rest.pop() ?? '';
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
