import { PlatformError } from '../../contracts/errors.js';
import type { ClusterReply } from '../cluster-http.js';
import { oneLine } from '../cluster-text.js';

/** Of all that a validation has to say. */
const LONGEST = 500;

/** Which field of ours a text of a validation is about. */
const FIELDS: readonly (readonly [RegExp, string])[] = [
  [/constraint|operand|operator/i, '`constraints`'],
  [/MemoryMB|memory/i, '`resources.memoryMb`'],
  [/\bCPU\b|cores/i, '`resources.cpu`'],
  [/device/i, '`gpu`'],
  [/datacenter/i, '`datacenters`'],
  [/driver/i, '`driver`'],
];

/**
 * What Nomad's refusal to register a job means, by its text; undefined where that is no more than any refusal's.
 * `exists`: there is a job of that name.
 */
export function refusalOfRegister({ status, text }: Pick<ClusterReply, 'status' | 'text'>) {
  if (/Enforcing job modify index \d+: job (already )?exists/.test(text)) return 'exists';
  const namespace = /is in nonexistent namespace "([^"]*)"/.exec(text)?.[1];
  if (namespace !== undefined) {
    return badSpec('`namespace`', `there is no namespace ${oneLine(namespace)}; create it, or name another`);
  }
  const pool = /is in nonexistent node pool "([^"]*)"/.exec(text)?.[1];
  if (pool !== undefined) return badSpec('the node pool of its namespace', `there is no node pool ${oneLine(pool)}`);
  if (/scale are disabled by the scheduler configuration/.test(text)) {
    return new PlatformError('CLUSTER_UNREACHABLE', 'its scheduler configuration takes no jobs now');
  }
  if (status === 413 || /request body too large/.test(text)) {
    return new PlatformError('PAYLOAD_TOO_LARGE', `Nomad takes no job as large as this one (${status})`);
  }
  if (/\d+ error(\(s\)|s)? occurred:/.test(text) || (status === 400 && !/connection/i.test(text))) {
    const reason = validationText(text);
    const field = FIELDS.find(([pattern]) => pattern.test(reason))?.[1];
    return badSpec(field ?? 'the job', `Nomad takes no such job: ${reason}`);
  }
  return undefined;
}

const badSpec = (field: string, message: string): PlatformError =>
  new PlatformError('BAD_SPEC', `${field}: ${message}`);

/** The items of a validation, without the frame around them. */
const validationText = (text: string): string =>
  oneLine(text.replace(/\d+ error(\(s\)|s)? occurred:/g, ' ').replace(/\s*\n\s*\*\s*/g, ' * '), LONGEST).replace(
    /^\* /,
    '',
  );
