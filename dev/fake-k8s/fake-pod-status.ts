import type { Condition, ContainerStatus, Pod, PodStatus } from './fake-objects.js';
import { timestamp } from './fake-store.js';

/** What a kubelet knows of a pod that it runs. */
export interface PodState {
  startTime: string;
  hasSandbox: boolean;
  init: readonly ContainerStatus[];
  main: readonly ContainerStatus[];
  /** How the pod ends, whatever its containers say. */
  verdict?: Verdict;
  /** Its end is to be seen in its phase: that comes a little after the end of its containers. */
  isSettled: boolean;
}

export interface Verdict {
  reason: string;
  message: string;
}

type Ended = 'Succeeded' | 'Failed';
type Found = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** The status of a pod as its kubelet writes it over the one before. */
export function statusOf({ status: before, spec }: Pod, state: PodState): PodStatus {
  const ended = endOf(state);
  const { verdict, init, main, isSettled } = state;
  const isRunning = main.some(({ state: { running } }) => running);
  const hasEnded = main.some(({ state: { terminated } }) => terminated);
  return {
    ...before,
    // What ended before anybody looked was never seen running.
    phase: isSettled && ended ? ended : isRunning ? 'Running' : hasEnded ? before.phase : 'Pending',
    ...(isSettled && verdict && { reason: verdict.reason, message: verdict.message }),
    startTime: state.startTime,
    conditions: merged(before.conditions ?? [], conditionsOf(state, ended)),
    ...(spec.initContainers?.length && { initContainerStatuses: [...init] }),
    containerStatuses: [...main].sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

/** How it has ended or is going to; it may not be seen in its phase yet. */
export function endOf({ verdict, init, main }: PodState): Ended | undefined {
  if (verdict || init.some(({ state }) => state.terminated && state.terminated.exitCode !== 0)) return 'Failed';
  if (!main.every(({ state }) => state.terminated)) return undefined;
  return main.every(({ state }) => state.terminated?.exitCode === 0) ? 'Succeeded' : 'Failed';
}

function conditionsOf({ hasSandbox, isSettled, init, main }: PodState, ended: Ended | undefined): Found[] {
  const uninitialized = init.filter(({ ready }) => !ready).map(({ name }) => name);
  const unready = main.filter(({ ready }) => !ready).map(({ name }) => name);
  const reason = ended && (ended === 'Succeeded' ? 'PodCompleted' : 'PodFailed');
  const ready: Omit<Found, 'type'> = reason
    ? { status: 'False', reason }
    : unless(unready, 'ContainersNotReady', 'containers with unready status');
  return [
    { type: 'PodReadyToStartContainers', status: hasSandbox && !(ended && isSettled) ? 'True' : 'False' },
    {
      type: 'Initialized',
      ...unless(uninitialized, 'ContainersNotInitialized', 'containers with incomplete status'),
      ...(ended === 'Succeeded' && { reason }),
    },
    { type: 'Ready', ...ready },
    { type: 'ContainersReady', ...ready },
    { type: 'PodScheduled', status: 'True' },
  ];
}

const unless = (names: readonly string[], reason: string, what: string): Omit<Found, 'type'> =>
  names.length === 0 ? { status: 'True' } : { status: 'False', reason, message: `${what}: [${names.join(' ')}]` };

/** Conditions that others have set are left as they are. */
function merged(before: readonly Condition[], found: readonly Found[]): Condition[] {
  const others = before.filter(({ type }) => !found.some((condition) => condition.type === type));
  return [
    ...others,
    ...found.map((condition) => {
      const old = before.find(({ type }) => type === condition.type);
      const isSame = old?.status === condition.status && old.lastTransitionTime !== undefined;
      const lastTransitionTime = isSame ? old.lastTransitionTime : timestamp();
      return { ...condition, lastProbeTime: null, lastTransitionTime };
    }),
  ];
}
