import type { AttemptFailure } from '../../contracts/attempt.js';
import { because, oneLine, quoted } from '../cluster-text.js';
import { type Events, eventsOf, eventText, lastOf } from './k8s.events.js';
import { exitText, hasStarted, isOn, mainOf } from './k8s.evidence.js';
import { pullFailureOf, pullTroubleOf } from './k8s.pull.js';
import type { ContainerStatus, Pod } from './k8s.replies.js';

/** How far a pod has come that has a node and has not started. */
export function startProgressOf(pod: Pod, events: Events = []): string {
  const pull = pullTroubleOf(pod);
  if (pull) return pull.text;
  const where = isOn(pod);
  const init = pod.status.initContainerStatuses.find(({ state }) => state.running);
  if (init) return `starting on ${where}: container ${oneLine(init.name)}, which comes before it, runs`;
  const own = eventsOf(events, pod.metadata);
  const event = lastOf(own, 'FailedMount', 'FailedAttachVolume', 'FailedCreatePodSandBox', 'Pulling', 'Pulled');
  if (event?.reason === 'Pulling') return `pulling its image on ${where} (${quoted(event.message ?? '')})`;
  if (event && event.reason !== 'Pulled') return `starting on ${where}: ${eventText(event)}`;
  const { reason = '', message = '' } = mainOf(pod)?.state.waiting ?? {};
  if (reason === '') return `placed on ${where}, and nothing is heard of it yet`;
  return `starting on ${where}: ${quoted(message === '' ? reason : `${reason}: ${message}`)}`;
}

/** What is left of a process that had not even the memory to begin. */
const MEMORY = /OOM-killed|memory limit too low/;
/** Of a runtime class whose program is not on the node. */
const RUNTIME = /no runtime for|runtime ?handler/i;

/** Of what a container is to be given. */
const LACK = /(secret|configmap) ".{1,300}" not found|couldn't find key/i;

/** What a node says that cannot make or start a container, where its words tell more than that. */
const CAUSES: readonly (readonly [RegExp, AttemptFailure['code'], string])[] = [
  [/argument list too long/, 'BAD_SPEC', 'its variables are longer than its node takes'],
  [/exec: \\?"(\/bin\/)?sh\\?"/, 'TOOL_MISSING', 'the image has no /bin/sh, which every case needs'],
  [MEMORY, 'OOM_KILLED', 'it may not have the memory to start: raise `resources.memoryMb`'],
  [
    /executable file not found|exec: .{0,300}no such file or directory/,
    'COMMAND_NOT_FOUND',
    'what it is to run is not there',
  ],
  [/exec: .{0,300}permission denied|exec format error/, 'COMMAND_NOT_FOUND', 'what it is to run cannot be executed'],
  [RUNTIME, 'BAD_SPEC', 'its `runtimeClass` is not on that node'],
  [
    /non-?root/i,
    'BAD_SPEC',
    'the cluster takes no container of root: give an `image` whose user is another, by number',
  ],
  [LACK, 'BAD_SPEC', 'what it is to be given is gone: something in its `namespace` removes objects of cases'],
];

/** Of a node in trouble: another try, or another node, may be better off. */
const PASSING =
  /time[d ]?-? ?out|deadline exceeded|canceled|failed to sync|is reserved for|temporarily|try again|no space left|connection (refused|reset)|transport is closing|\bEOF\b|unavailable|resource busy|stopped process/i;

/** Its node tries again for ever, and nothing changes by it. */
const STUCK: ReadonlySet<string> = new Set(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError']);
/** Its process was never there. */
const UNSTARTED: ReadonlySet<string> = new Set(['StartError', 'ContainerCannotRun']);

/**
 * Why a pod that has a node cannot start, where waiting does not help. First that applies:
 * 1. its image can have no such name, or is not to be pulled,
 * 2. a container of it cannot be made or started,
 * 3. its sandbox cannot, for want of memory or of its runtime class.
 */
export function startFailureOf(pod: Pod, events: Events = []): AttemptFailure | undefined {
  if (hasStarted(pod)) return undefined;
  const pull = pullTroubleOf(pod);
  if (pull?.isUnasked) return pullFailureOf(pull);
  for (const status of [...pod.status.initContainerStatuses, ...pod.status.containerStatuses]) {
    const failure = containerFailure(status, pod);
    if (failure) return failure;
  }
  const sandbox = lastOf(eventsOf(events, pod.metadata), 'FailedCreatePodSandBox')?.message ?? '';
  return MEMORY.test(sandbox) || RUNTIME.test(sandbox) ? failureBy(sandbox, pod) : undefined;
}

/** Whether an object that a pod needs is not there. It is also while somebody who tries the same puts another in its place. */
export const lacksObject = ({ status: { initContainerStatuses, containerStatuses } }: Pod): boolean =>
  [...initContainerStatuses, ...containerStatuses].some(({ state }) => LACK.test(state.waiting?.message ?? ''));

function containerFailure({ state }: ContainerStatus, pod: Pod): AttemptFailure | undefined {
  const { waiting, terminated } = state;
  if (terminated) {
    const { reason = '', message = '' } = terminated;
    if (!UNSTARTED.has(reason)) return undefined;
    return (
      failureBy(message === '' ? reason : message, pod) ?? lost(`${isOn(pod)} could not start it: ${quoted(message)}`)
    );
  }
  const { reason = '', message = '' } = waiting ?? {};
  return STUCK.has(reason) ? failureBy(`${reason}: ${message}`, pod) : undefined;
}

/** What programs under a kubelet say of each other, before one says what it is about. */
const IN_FRONT = /^.*unable to start container process: /s;

function failureBy(said: string, pod: Pod): AttemptFailure | undefined {
  const cause = CAUSES.find(([pattern]) => pattern.test(said));
  if (!cause && PASSING.test(said)) return undefined;
  const [, code, text] = cause ?? ['', 'BAD_SPEC', 'it cannot be started as it is declared'];
  return { code, message: `${text}: ${isOn(pod)} says: ${quoted(said.replace(IN_FRONT, ''))}` };
}

const lost = (message: string): AttemptFailure => ({ code: 'ALLOCATION_LOST', message });

/** Of a container that comes before the job's, ran, and failed. */
export function initFailureOf(pod: Pod): AttemptFailure | undefined {
  const failed = pod.status.initContainerStatuses.find(
    ({ state }) => state.terminated && state.terminated.exitCode !== 0,
  );
  if (!failed || hasStarted(pod)) return undefined;
  const end = failed.state.terminated;
  const text = `container ${oneLine(failed.name)}, which comes before it, failed on ${isOn(pod)} (${exitText(end)})`;
  if (end?.reason !== 'OOMKilled') return lost(`${text}${because(end?.message)}`);
  return { code: 'OOM_KILLED', message: `${text}: memory ran out: raise \`resources.memoryMb\`` };
}
