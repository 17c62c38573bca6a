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

/** Why the ranges of a namespace do not let a pod in: several reasons stand in brackets. */
export function rangeRefusal(store: FakeStore, namespace: string, { spec }: Draft<Pod>): string | undefined {
  const reasons = limitsOf(store, namespace).flatMap((limit) => spec.containers.flatMap((each) => outOf(limit, each)));
  return reasons.length > 1 ? `[${reasons.join(', ')}]` : reasons[0];
}

function outOf({ max = {}, min = {} }: Limit, { resources: { requests = {}, limits = {} } = {} }: Container): string[] {
  const over = Object.entries(max).flatMap(([axis, most]) => {
    const usage = `maximum ${axis} usage per Container is ${most}`;
    const limit = limits[axis];
    if (limit === undefined) return `${usage}.  No limit is specified`;
    return milliOf(limit) > milliOf(most) ? `${usage}, but limit is ${quantityOf(milliOf(limit))}` : [];
  });
  const under = Object.entries(min).flatMap(([axis, least]) => {
    const usage = `minimum ${axis} usage per Container is ${least}`;
    const request = requests[axis];
    if (request === undefined) return `${usage}.  No request is specified`;
    return milliOf(request) < milliOf(least) ? `${usage}, but request is ${request}` : [];
  });
  return [...over, ...under];
}
