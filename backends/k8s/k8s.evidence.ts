import { oneLine } from '../cluster-text.js';
import { K8S_CONTAINER } from './k8s.names.js';
import type { Condition, ContainerStatus, K8sJob, Pod, SeenPod, Terminated } from './k8s.replies.js';

export const isOn = ({ spec }: Pod): string => {
  const name = oneLine(spec.nodeName ?? '');
  return name === '' ? 'its node' : `node ${name}`;
};

/** Of the container that is the job's; a pod of which its node has not told has none. */
export const mainOf = ({ status }: Pod): ContainerStatus | undefined =>
  status.containerStatuses.find(({ name }) => name === K8S_CONTAINER);

/** How its process ended. One that was started again, which its pod forbids, ended the first time. */
export function exitOf(pod: Pod): Terminated | undefined {
  const main = mainOf(pod);
  return main?.state.terminated ?? main?.lastState?.terminated;
}

/** Said of a process that was never there. */
const NEVER_RAN: ReadonlySet<string> = new Set(['StartError', 'ContainerCannotRun']);

/** Of a container that is not to be found, its node may know that it ran. */
function hasRun({ reason = '', startedAt, message = '' }: Terminated): boolean {
  if (reason === 'ContainerStatusUnknown') return startedAt !== undefined || /used to be running/i.test(message);
  return !NEVER_RAN.has(reason);
}

/** Whether its process ever ran. */
export function hasStarted(pod: Pod): boolean {
  const main = mainOf(pod);
  if (!main) return false;
  const { state, lastState } = main;
  if (state.running || lastState?.running) return true;
  return [state.terminated, lastState?.terminated].some((end) => end !== undefined && hasRun(end));
}

export const restartsOf = (pod: Pod): number => mainOf(pod)?.restartCount ?? 0;

export const conditionOf = ({ status }: Pod | K8sJob, type: string, is = 'True'): Condition | undefined =>
  status.conditions.find((condition) => condition.type === type && condition.status === is);

/** Whether something removes it, or has. */
export const isRemoved = (pod: SeenPod): boolean =>
  pod.deleted === true || pod.metadata.deletionTimestamp !== undefined;

/** Whether memory ran out in its container, of its process or of one that this one started. */
export function isOutOfMemory(pod: Pod): boolean {
  const { state, lastState } = mainOf(pod) ?? {};
  return [state, lastState].some((one) => one?.terminated?.reason === 'OOMKilled');
}

/** `exit code 137`. */
export function exitText(exit: Terminated | undefined): string {
  if (!exit) return 'its exit code is not known';
  return `exit code ${exit.exitCode}${exit.signal ? `, signal ${exit.signal}` : ''}`;
}

/** How it ended, as far as that is known, in brackets. */
export function exitNote(pod: Pod): string {
  if (!hasStarted(pod)) return ' before it ever started';
  const exit = exitOf(pod);
  return exit ? ` (${exitText(exit)})` : '';
}
