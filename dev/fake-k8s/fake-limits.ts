import type { Container, Draft, Pod, Quantities } from './fake-objects.js';
import { milliOf, quantityOf } from './fake-quantities.js';
import type { FakeStore } from './fake-store.js';

interface Limit {
  type: string;
  max?: Quantities;
  min?: Quantities;
  default?: Quantities;
  defaultRequest?: Quantities;
}

const limitsOf = (store: FakeStore, namespace: string): Limit[] =>
  store
    .list('limitranges', namespace)
    .flatMap(({ spec }) => (spec?.limits ?? []) as Limit[])
    .filter(({ type }) => type === 'Container');

/** A pod with what the ranges of its namespace add where its containers say nothing. */
export function withRanges(store: FakeStore, namespace: string, pod: Draft<Pod>): Draft<Pod> {
  const ranges = limitsOf(store, namespace);
  if (ranges.length === 0) return pod;
  const added = (container: Container): Container => {
    let { requests = {}, limits = {} } = container.resources ?? {};
    for (const range of ranges) {
      limits = { ...range.default, ...limits };
      requests = { ...range.default, ...range.defaultRequest, ...requests };
    }
    return { ...container, resources: { requests, limits } };
  };
  return { ...pod, spec: { ...pod.spec, containers: pod.spec.containers.map(added) } };
}

export function rangeRefusal(store: FakeStore, namespace: string, { spec }: Draft<Pod>): string | undefined {
  for (const { max = {}, min = {} } of limitsOf(store, namespace)) {
    for (const { resources: { requests = {}, limits = {} } = {} } of spec.containers) {
      for (const [axis, most] of Object.entries(max)) {
        const limit = limits[axis];
        if (limit === undefined) return `maximum ${axis} usage per Container is ${most}.  No limit is specified`;
        if (milliOf(limit) > milliOf(most)) {
          return `maximum ${axis} usage per Container is ${most}, but limit is ${quantityOf(milliOf(limit))}`;
        }
      }
      for (const [axis, least] of Object.entries(min)) {
        const request = requests[axis];
        if (request === undefined) return `minimum ${axis} usage per Container is ${least}.  No request is specified`;
        if (milliOf(request) < milliOf(least)) {
          return `minimum ${axis} usage per Container is ${least}, but request is ${request}`;
        }
      }
    }
  }
  return undefined;
}
