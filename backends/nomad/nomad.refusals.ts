import type { ClusterReply } from '../cluster-http.js';
import { oneLine } from '../cluster-text.js';

/** Of what Nomad says of a job. */
const LONGEST_REASON = 500;

/** Which field of ours the words of a validation are about. */
const FIELDS: readonly (readonly [RegExp, string])[] = [
  [/constraint|operand|operator/i, '`constraints`'],
  [/memory/i, '`resources.memoryMb`'],
  [/\bCPU\b|cores/i, '`resources.cpu`'],
  [/device/i, '`gpu`'],
  [/datacenter/i, '`datacenters`'],
  [/driver/i, '`driver`'],
];

/** Why a job cannot run as it is declared, with the field, if that is what a refusal says. It answers so with 500. */
export function specFault({ status, text }: Pick<ClusterReply, 'status' | 'text'>): string | undefined {
  const namespace = /is in nonexistent namespace "([^"]*)"/.exec(text)?.[1];
  if (namespace !== undefined) {
    return `\`namespace\`: Nomad has no namespace ${oneLine(namespace)}: create it there, or name another`;
  }
  const pool = /is in nonexistent node pool "([^"]*)"/.exec(text)?.[1];
  if (pool !== undefined) return `\`namespace\`: Nomad has no node pool ${oneLine(pool)}, which its jobs are given`;
  if (status === 413 || /request body too large/.test(text))
    return `Nomad takes no job as large as this one (${status})`;
  const items = /^(?:rpc error: )?\d+ error(?:\(s\)|s)? occurred:([\s\S]*)/.exec(text)?.[1];
  if (items === undefined) return undefined;
  const reason = oneLine(items.replaceAll(/\s*\n\s*\*\s*/g, '; '), LONGEST_REASON).replace(/^; /, '');
  const field = FIELDS.find(([pattern]) => pattern.test(reason))?.[1];
  return `${field ? `${field}: ` : ''}Nomad refuses the job: ${reason}`;
}
