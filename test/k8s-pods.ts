import { K8sEvent, K8sJob, Pod, type SeenPod } from '../backends/k8s/k8s.replies.js';

const CREATED = '2026-01-01T00:00:00Z';
const JOB = { name: 'ev-1', uid: 'j1', creationTimestamp: CREATED };

/** A Job as Kubernetes sends it. */
export const aJob = (parts: { metadata?: object; spec?: object; status?: object } = {}): K8sJob =>
  K8sJob.parse({ ...parts, metadata: { ...JOB, ...parts.metadata } });

export interface PodParts {
  metadata?: object;
  spec?: object;
  status?: object;
  deleted?: boolean;
}

/** A pod of it, on node rack-1, as Kubernetes sends it. */
export const aPod = ({ metadata, spec, status, deleted }: PodParts = {}): SeenPod => ({
  ...Pod.parse({
    metadata: {
      name: 'ev-1-abcde',
      uid: 'p1',
      creationTimestamp: CREATED,
      ownerReferences: [{ kind: 'Job', name: JOB.name, uid: JOB.uid }],
      ...metadata,
    },
    spec: { nodeName: 'rack-1', containers: [{ name: 'main', image: 'r/x:1' }], ...spec },
    status: { phase: 'Pending', ...status },
  }),
  ...(deleted && { deleted: true as const }),
});

/** The state of its container. */
export const main = (state: object, more: object = {}) => ({
  containerStatuses: [{ name: 'main', restartCount: 0, state, ...more }],
});

export const waiting = (reason: string, message?: string) => main({ waiting: { reason, message } });

export const running = { phase: 'Running', ...main({ running: { startedAt: CREATED } }) };

export const terminated = (exitCode: number, reason = exitCode === 0 ? 'Completed' : 'Error', more: object = {}) => ({
  phase: exitCode === 0 ? 'Succeeded' : 'Failed',
  ...main({ terminated: { exitCode, reason, startedAt: CREATED, finishedAt: '2026-01-01T00:01:40Z', ...more } }),
});

export const disrupted = (reason: string, message = '') => ({
  conditions: [{ type: 'DisruptionTarget', status: 'True', reason, message }],
});

/** Something is deleting it. */
export const GOING = { deletionTimestamp: '2026-01-01T00:01:00Z' };

/** An event about the Job, or about its pod. */
export const anEvent = (kind: 'Job' | 'Pod', reason: string, message = '', more: object = {}): K8sEvent =>
  K8sEvent.parse({
    metadata: { name: 'e1', creationTimestamp: CREATED },
    reason,
    message,
    lastTimestamp: CREATED,
    involvedObject: kind === 'Job' ? { kind, name: JOB.name, uid: JOB.uid } : { kind, name: 'ev-1-abcde', uid: 'p1' },
    ...more,
  });
