import { quoted } from '../cluster-text.js';
import type { LogTrouble } from '../log-reading.js';
import type { Reply } from './k8s.client.js';
import { K8sRefusal, refusalOf } from './k8s.failures.js';

/** Of a container that has not started, in all the words of nodes for that. */
const WAITING = / is waiting to start\b|^container ".*" in pod ".*" is not available$/;
const ENDED = /^container ".*" in pod ".*" is terminated$|^previous terminated container /;
/** By the API server: a node that was just started knows no pod, either. */
const POD = /^pods "/;
const FORGOTTEN: LogTrouble = { kind: 'gone', text: 'its node no longer has its log' };

/** What an answer means that is no log. A refusal throws: what we ask is wrong, or may not be asked. */
export function logTroubleOf(reply: Reply): LogTrouble {
  const { status } = reply;
  // It is not on a node yet.
  if (status === 204) return { kind: 'not-started' };
  const refusal = refusalOf(reply);
  const message = refusal.said?.message ?? '';
  if (status === 400 && WAITING.test(message)) return { kind: 'not-started' };
  if (status === 400 && ENDED.test(message)) return FORGOTTEN;
  if (refusal.isAbsence && POD.test(message)) return { kind: 'gone', text: 'its pod is gone, and its log with it' };
  if (refusal.isAbsence) return { kind: 'unreachable', text: 'its node does not know its pod now' };
  if (status >= 500) return { kind: 'unreachable', text: `its node does not give its log now (${status})` };
  if (status === 429) return { kind: 'unreachable', text: refusal.message };
  if (refusal.reason === 'error' && message) {
    throw new K8sRefusal(reply, 'error', `it does not give the log (${status}): ${quoted(message)}`);
  }
  throw refusal;
}

/** What a node says in place of a log, or at the end of one, means. What it says of paths on it is not passed on. */
export function logFaultOf(text: string): LogTrouble {
  if (/^unable to retrieve container logs for /.test(text)) return FORGOTTEN;
  if (/no such file or directory|rpc error: code = NotFound/.test(text)) return FORGOTTEN;
  return { kind: 'unreachable', text: `its node reads its log no further: ${quoted(withoutPaths(text))}` };
}

const withoutPaths = (text: string): string => text.replace(/[\\/][^\s:"']*/g, '…');
