import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';

const RUNBOOK = new URL('../../docs/runbooks/kubernetes.md', import.meta.url);
const Rule = z.object({ apiGroups: z.array(z.string()), resources: z.array(z.string()), verbs: z.array(z.string()) });
export type Rule = z.infer<typeof Rule>;

/** The rules of the Role that the runbook tells operators to give us. */
export async function documentedRules(): Promise<Rule[]> {
  const blocks = (await readFile(RUNBOOK, 'utf8')).matchAll(/^```yaml\n(.*?)^```/gms);
  const role = [...blocks].map(([, text = '']) => text).find((text) => /^kind: Role$/m.test(text));
  return z.object({ rules: z.array(Rule) }).parse(parse(role ?? '')).rules;
}
