import type { ClusterReply } from '../cluster-http.js';
import { oneLine } from '../cluster-text.js';
import type { LogTrouble } from '../log-reading.js';

const COLLECTED = 'its client has thrown the allocation away';

/** By its text, for the statuses say little: four 404s mean four things, and versions differ in them. */
const GONE: readonly (readonly [RegExp, string])[] = [
  [/Unknown allocation "/, 'Nomad no longer knows the allocation'],
  [/state for allocation .* not found on client/, COLLECTED],
  [/failed to list entries: .*(no such file or directory|cannot find the)/s, COLLECTED],
  [/Unknown node "?/, 'its node was removed from Nomad'],
  [/unknown task name "/, 'its allocation has no such task'],
  [/log entry for task .* not found/, 'Nomad keeps none of it: logging may be off'],
];

const NOT_NOW: readonly (readonly [RegExp, string])[] = [
  [/No path to node/, 'Nomad has no way to its node now'],
  [/No path to region/, 'Nomad has no way to its region now'],
  [/No cluster leader/, 'Nomad has no leader now'],
  [/Not ready to serve consistent reads/, 'Nomad is not ready yet'],
  [/issuing too many concurrent connections/, 'Nomad takes no more connections of this address'],
  [/node is not running a Nomad Client/, 'the agent of its node is no Nomad client now'],
];

const REFUSED = /Permission denied|ACL token|verify token|UUID must be 36 characters|workload identity/;

/**
 * What an answer other than a log means, or an error at the end of one; absent where it is no matter of logs: a refusal.
 * What it says of paths on the node is not passed on.
 */
export function logTroubleOf({ status, text }: Pick<ClusterReply, 'status' | 'text'>): LogTrouble | undefined {
  if (/task ".*" not started yet/.test(text)) return { kind: 'not-started' };
  const gone = GONE.find(([pattern]) => pattern.test(text));
  if (gone) return { kind: 'gone', text: gone[1] };
  const notNow = NOT_NOW.find(([pattern]) => pattern.test(text));
  if (notNow) return { kind: 'unreachable', text: notNow[1] };
  if (REFUSED.test(text) || (status !== 429 && status !== 200 && status < 500)) return undefined;
  return { kind: 'unreachable', text: `Nomad cannot read its log now (${status}): ${oneLine(withoutPaths(text))}` };
}

const withoutPaths = (text: string): string => text.replace(/([A-Za-z]:)?[\\/][^\s:"']*/g, '…');
