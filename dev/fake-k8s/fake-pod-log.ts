import type { Answer } from '../fake-http/fake-answer.js';
import type { ContainerRun } from './fake-container.js';
import type { FakeKubelet } from './fake-kubelet.js';
import { type LogFault, type LogPace, paced, readLog, troubled } from './fake-log-read.js';
import { type LogQuestion, logQuestion } from './fake-log-wish.js';
import type { Pod } from './fake-objects.js';
import { failure } from './status.js';

/** What goes wrong with reads of logs. */
export interface LogTrouble {
  pod?: string;
  /** Only where it is followed, or only where it is not. */
  isFollowed?: boolean;
  /** How many reads it meets; all of them if absent. */
  times?: number;
  /** In place of the log, with status 200, as a node says what it cannot do. */
  text?: string;
  fault?: LogFault;
  pace?: LogPace;
}

/** Where logs are read. */
export interface LogHost {
  kubeletOf(node: string): FakeKubelet | undefined;
  readonly troubles: LogTrouble[];
}

const TEXT = { 'content-type': 'text/plain' };

/** `GET /api/v1/namespaces/:namespace/pods/:name/log` of a pod that there is. */
export function logAnswer(host: LogHost, pod: Pod, query: URLSearchParams): Answer {
  const { name, namespace = '' } = pod.metadata;
  const question = logQuestion(name, query);
  if ('status' in question) return question;
  const container = containerOf(pod, question);
  if (typeof container !== 'string') return container;
  const { nodeName } = pod.spec;
  if (nodeName === undefined) return { status: 204, stream: async function* () {} };
  const kubelet = host.kubeletOf(nodeName);
  if (!kubelet?.isUp) {
    const url = `https://${nodeName}:10250/containerLogs/${namespace}/${name}/${container}`;
    return unreachable(`Get "${url}": dial tcp: connect: connection refused`);
  }
  const run = kubelet.runOf(pod);
  const found = run?.containers.find((each) => each.container.name === container);
  const refusal = found ? waiting(name, found, question) : `container "${container}" in pod "${name}" is not available`;
  if (!found || refusal !== undefined) return failure(400, 'BadRequest', refusal ?? '');
  const log = question.isPrevious ? found.previousLog : found.log;
  if (!log || run?.isLogLost) {
    return { status: 200, headers: TEXT, body: `unable to retrieve container logs for ${found.status.containerID}` };
  }
  const trouble = troubleOf(host, name, question.isFollowed);
  if (trouble?.text !== undefined) return { status: 200, headers: TEXT, body: trouble.text };
  return {
    status: 200,
    headers: TEXT,
    stream(closed) {
      const gone = AbortSignal.any([closed, kubelet.downSignal]);
      const bytes = readLog(log, question, gone);
      const slowed = trouble?.pace ? paced(bytes, trouble.pace, gone) : bytes;
      return trouble?.fault ? troubled(slowed, trouble.fault, gone) : slowed;
    },
  };
}

/** The name that is asked for, or the only one. */
function containerOf({ metadata, spec }: Pod, { container }: LogQuestion): string | Answer {
  const names = (containers: readonly { name: string }[] = []) => containers.map(({ name }) => name);
  const [main, init] = [names(spec.containers), names(spec.initContainers)];
  const refused = (message: string) => failure(400, 'BadRequest', message);
  if (container !== undefined) {
    const isThere = main.includes(container) || init.includes(container);
    return isThere ? container : refused(`container ${container} is not valid for pod ${metadata.name}`);
  }
  const [only, ...others] = main;
  if (only !== undefined && others.length === 0) return only;
  const choice = `a container name must be specified for pod ${metadata.name}, choose one of: [${main.join(' ')}]`;
  return refused(init.length > 0 ? `${choice} or one of the init containers: [${init.join(' ')}]` : choice);
}

const WAITING: Readonly<Record<string, string>> = {
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: 'trying and failing to pull image',
};

/** Why there is nothing to read yet. */
function waiting(
  pod: string,
  { container, status, previousLog, hasStarted }: ContainerRun,
  { isPrevious }: LogQuestion,
) {
  const subject = `container "${container.name}" in pod "${pod}"`;
  if (isPrevious) return previousLog ? undefined : `previous terminated ${subject} not found`;
  const reason = status.state.waiting?.reason;
  if (reason !== undefined) return `${subject} is waiting to start: ${WAITING[reason] ?? reason}`;
  return hasStarted ? undefined : `${subject} is terminated`;
}

function troubleOf({ troubles }: LogHost, pod: string, isFollowed: boolean): LogTrouble | undefined {
  const found = troubles.find(
    (trouble) =>
      (trouble.pod === undefined || trouble.pod === pod) &&
      (trouble.isFollowed === undefined || trouble.isFollowed === isFollowed) &&
      trouble.times !== 0,
  );
  if (found?.times !== undefined) found.times -= 1;
  return found;
}

/** Without a reason, as an API server says what did not come from itself. */
const unreachable = (message: string): Answer => ({
  status: 500,
  body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 },
});
