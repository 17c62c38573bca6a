import type { Admission } from './fake-admission.js';
import { deleteObject } from './fake-deletion.js';
import type { EventRecorder } from './fake-events.js';
import {
  countEnded,
  countLive,
  hasFailed,
  isActive,
  isDecided,
  isFinished,
  isTerminating,
  isTracked,
  isTrue,
  outcomeOf,
  TRACKING,
  withCondition,
} from './fake-job-status.js';
import type { Job, JobStatus, Pod } from './fake-objects.js';
import type { Pace } from './fake-pace.js';
import { WorkQueue } from './fake-queue.js';
import { type FakeStore, timestamp } from './fake-store.js';

interface Parts {
  store: FakeStore;
  admission: Admission;
  events: EventRecorder;
  pace: Pace;
}

/** Creates the pods of Jobs, counts them, and ends Jobs: with a pod, a deadline, or a life after the end. */
export class JobController {
  /** By uid of their Job: the pods, by uid. */
  private readonly pods = new Map<string, Map<string, Pod>>();
  private readonly refusals = new Map<string, number>();
  /** When a Job began and ended, to the ms: what objects say is in whole seconds. */
  private readonly began = new Map<string, number>();
  private readonly ended = new Map<string, number>();
  private readonly queue: WorkQueue;

  constructor(private readonly parts: Parts) {
    this.queue = new WorkQueue((key) => this.sync(key), parts.pace.jobMs);
    parts.store.onChange(({ kind, type, object }) => {
      const { namespace = '', name } = object.metadata;
      if (kind === 'jobs') this.queue.add(`${namespace}/${name}`);
      else if (kind === 'pods') this.see(object as Pod, type === 'DELETED');
    });
  }

  close(): void {
    this.queue.close();
  }

  private see(pod: Pod, isGone: boolean): void {
    const owner = pod.metadata.ownerReferences?.find(({ kind, controller }) => kind === 'Job' && controller);
    if (!owner) return;
    const pods = this.pods.get(owner.uid) ?? new Map<string, Pod>();
    this.pods.set(owner.uid, pods);
    if (isGone) pods.delete(pod.metadata.uid);
    else pods.set(pod.metadata.uid, pod);
    this.queue.add(`${pod.metadata.namespace}/${owner.name}`);
  }

  private sync(key: string): void {
    const [namespace = '', name = ''] = key.split('/');
    const job = this.parts.store.get('jobs', namespace, name);
    for (const [uid, pods] of this.pods) {
      if (uid !== job?.metadata.uid && [...pods.values()].some((pod) => isOf(pod, key))) this.release(pods.values());
      if (pods.size === 0) this.pods.delete(uid);
    }
    if (!job) return;
    const pods = this.podsOf(job);
    if (isFinished(job)) this.finished(job, pods);
    else this.proceed(job, pods);
  }

  private finished(job: Job, pods: readonly Pod[]): void {
    this.release(pods);
    const { ttlSecondsAfterFinished: ttl } = job.spec;
    if (ttl === undefined || job.metadata.deletionTimestamp) return;
    const leftMs = ttl * this.parts.pace.secondMs - sinceMs(this.ended, job);
    if (leftMs > 0) this.queue.add(keyOf(job), leftMs);
    else deleteObject(this.parts.store, 'jobs', job, { propagationPolicy: 'Background' });
  }

  private proceed(job: Job, pods: readonly Pod[]): void {
    const status = structuredClone(job.status);
    const ended = pods.filter((pod) => isTracked(pod) && (pod.status.phase === 'Succeeded' || hasFailed(pod, job)));
    this.beginOrSuspend(job, status);
    const hasOutcome = isDecided(status) || this.decide(job, status, ended);
    if (isTrue(status, 'FailureTarget')) this.deleteActive(job, pods);
    else if (job.spec.suspend) this.deleteActive(job, pods, true);
    else if (!job.metadata.deletionTimestamp && !hasOutcome) this.createMissing(job, status, pods);
    if (ended.length > 0) {
      // What is decided is told before what has ended is released and counted.
      this.write(job, status);
      this.release(ended);
      countEnded(status, ended);
    }
    if (hasOutcome) this.endIfIdle(job, status);
    this.write(job, status);
  }

  private beginOrSuspend(job: Job, status: JobStatus): void {
    const { suspend } = job.spec;
    const wasSuspended = isTrue(status, 'Suspended');
    if (suspend) {
      if (!wasSuspended) this.tell(job, 'Normal', 'Suspended', 'Job suspended');
      withCondition(status, 'Suspended', true, 'JobSuspended', 'Job suspended');
      return;
    }
    if (wasSuspended) {
      withCondition(status, 'Suspended', false, 'JobResumed', 'Job resumed');
      this.tell(job, 'Normal', 'Resumed', 'Job resumed');
    }
    if (status.startTime !== undefined && !wasSuspended) return;
    status.startTime = timestamp();
    this.began.set(job.metadata.uid, Date.now());
  }

  /** Whether it is clear how the Job is to end, with what has ended now. */
  private decide(job: Job, status: JobStatus, ended: readonly Pod[]): boolean {
    const deadline = job.spec.suspend ? undefined : job.spec.activeDeadlineSeconds;
    const leftMs = deadline === undefined ? undefined : deadline * this.parts.pace.secondMs - sinceMs(this.began, job);
    if (leftMs !== undefined && leftMs > 0) this.queue.add(keyOf(job), leftMs);
    const counted = { ...status };
    countEnded(counted, ended);
    const outcome = outcomeOf(job, counted, leftMs !== undefined && leftMs <= 0);
    if (outcome) withCondition(status, outcome.type, true, outcome.reason, outcome.message);
    return outcome !== undefined;
  }

  /** What was decided holds only once nothing runs any more. */
  private endIfIdle(job: Job, status: JobStatus): void {
    if (this.podsOf(job).some((pod) => isActive(pod) || isTerminating(pod))) return;
    const {
      type,
      reason = '',
      message = '',
    } = (status.conditions ?? []).find((each) => each.type === 'FailureTarget' || each.type === 'SuccessCriteriaMet') ??
    {};
    if (type === 'SuccessCriteriaMet') {
      status.completionTime = timestamp();
      withCondition(status, 'Complete', true, reason, message);
      this.tell(job, 'Normal', 'Completed', 'Job completed');
      return;
    }
    withCondition(status, 'Failed', true, reason, message);
    this.tell(job, 'Warning', reason, message);
  }

  private deleteActive(job: Job, pods: readonly Pod[], isUncounted = false): void {
    for (const pod of pods.filter(isActive)) {
      if (isUncounted) this.release([pod]);
      deleteObject(this.parts.store, 'pods', pod);
      this.tell(job, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
    }
  }

  private createMissing(job: Job, status: JobStatus, pods: readonly Pod[]): void {
    const { parallelism = 1, completions = 1, podReplacementPolicy } = job.spec;
    const wanted = Math.min(parallelism, completions - (status.succeeded ?? 0));
    const isCounted = podReplacementPolicy === 'Failed' ? (pod: Pod) => isActive(pod) || isTerminating(pod) : isActive;
    for (let missing = wanted - pods.filter(isCounted).length; missing > 0; missing -= 1) {
      if (!this.createPod(job)) return;
    }
  }

  private createPod(job: Job): boolean {
    const { name, namespace = '', uid } = job.metadata;
    const { metadata: { labels, annotations } = {}, spec } = job.spec.template;
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true, blockOwnerDeletion: true };
    const created = this.parts.admission.create('pods', namespace, {
      metadata: {
        ...{ generateName: `${name}-`, finalizers: [TRACKING], ownerReferences: [owner] },
        ...(labels && { labels }),
        ...(annotations && { annotations }),
      },
      spec,
    });
    if ('metadata' in created) {
      this.refusals.delete(uid);
      this.tell(job, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`);
      return true;
    }
    const { message } = created.body as { message: string };
    this.tell(job, 'Warning', 'FailedCreate', `Error creating: ${message}`);
    const { createAgainMs, createAgainAtMostMs } = this.parts.pace;
    const tries = this.refusals.get(uid) ?? 0;
    this.refusals.set(uid, tries + 1);
    this.queue.add(keyOf(job), Math.min(createAgainMs * 2 ** tries, createAgainAtMostMs));
    return false;
  }

  private write(job: Job, status: JobStatus): void {
    countLive(status, this.podsOf(job));
    this.parts.store.update('jobs', job.metadata.namespace ?? '', job.metadata.name, (copy) => {
      copy.status = structuredClone(status);
    });
  }

  private podsOf({ metadata }: Job): Pod[] {
    return [...(this.pods.get(metadata.uid)?.values() ?? [])];
  }

  /** They are counted, or nobody counts them any more. */
  private release(pods: Iterable<Pod>): void {
    for (const { metadata } of [...pods].filter(isTracked)) {
      this.parts.store.update('pods', metadata.namespace ?? '', metadata.name, (copy) => {
        copy.metadata.finalizers = copy.metadata.finalizers?.filter((each) => each !== TRACKING);
      });
    }
  }

  private tell(job: Job, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.parts.events.record('jobs', job, { type, reason, message, component: 'job-controller' });
  }
}

const keyOf = ({ metadata }: Job): string => `${metadata.namespace}/${metadata.name}`;

/** Since what is noted of a Job; noted now where it is not. */
function sinceMs(noted: Map<string, number>, { metadata }: Job): number {
  const at = noted.get(metadata.uid) ?? Date.now();
  noted.set(metadata.uid, at);
  return Date.now() - at;
}

const isOf = ({ metadata }: Pod, key: string): boolean =>
  (metadata.ownerReferences ?? []).some(({ name }) => `${metadata.namespace}/${name}` === key);
