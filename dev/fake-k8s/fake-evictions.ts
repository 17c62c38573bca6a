import { type DeleteOptions, deleteObject } from './fake-deletion.js';
import type { Condition, Pod } from './fake-objects.js';
import { isObject } from './fake-patch.js';
import { type FakeStore, timestamp } from './fake-store.js';
import { type Answer, failure, success } from './status.js';

/** The condition of a pod that somebody else ends, for a reason of theirs. */
export function disrupted(store: FakeStore, { metadata }: Pod, reason: string, message: string): void {
  store.update('pods', metadata.namespace ?? '', metadata.name, ({ status }) => {
    status.conditions = [...(status.conditions ?? []), disruption(reason, message)];
  });
}

const disruption = (reason: string, message: string): Condition => ({
  ...{ type: 'DisruptionTarget', status: 'True', lastProbeTime: null, lastTransitionTime: timestamp() },
  ...{ reason, message },
});

/** The API to evict pods. */
export class Evictions {
  /** A budget of disruptions is used up. */
  isBlocked = false;

  constructor(private readonly store: FakeStore) {}

  answer(pod: Pod, body: unknown): Answer {
    if (this.isBlocked) {
      const message = "Cannot evict pod as it would violate the pod's disruption budget.";
      const needs = 'The disruption budget everdict needs 1 healthy pods and has 1 currently';
      return failure(429, 'TooManyRequests', message, { causes: [{ reason: 'DisruptionBudget', message: needs }] });
    }
    const options = isObject(body) && isObject(body.deleteOptions) ? body.deleteOptions : {};
    this.evict(pod, options);
    return success(undefined, 201);
  }

  evict(pod: Pod, options: DeleteOptions = {}): void {
    disrupted(this.store, pod, 'EvictionByEvictionAPI', 'Eviction API: evicting');
    deleteObject(this.store, 'pods', pod, options);
  }
}
