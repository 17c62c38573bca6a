import { z } from 'zod';
import { toMillicores } from '../../backends/k8s/k8s.quantity.js';
import type { Admin } from './admin.js';
import { IMAGE } from './site.js';

const HOST = 'kubernetes.io/hostname';

const Shape = z.object({
  metadata: z.object({ name: z.string(), labels: z.record(z.string(), z.string()) }),
  spec: z.object({
    unschedulable: z.boolean().optional(),
    taints: z.array(z.object({ key: z.string(), effect: z.string() })).optional(),
  }),
  status: z.object({
    allocatable: z.object({ cpu: z.string() }),
    conditions: z.array(z.object({ type: z.string(), status: z.string() })),
  }),
});

export interface LiveNode {
  name: string;
  cpuMillicores: number;
  /** What runs there, and nowhere else. */
  selector: Record<string, string>;
  /** Of a pod that does nothing there. */
  podOf(name: string, parts: { priorityClassName?: string; cpuMillicores: number }): object;
}

/** The first node that takes jobs. */
export async function aNode(admin: Admin): Promise<LiveNode> {
  const nodes = z.array(Shape).parse(await admin.items('/api/v1/nodes'));
  const found = nodes.find(
    ({ spec, status }) =>
      !spec.unschedulable &&
      !spec.taints?.some(({ effect }) => effect !== 'PreferNoSchedule') &&
      status.conditions.some(({ type, status: isSo }) => type === 'Ready' && isSo === 'True'),
  );
  if (!found) throw new Error('no node takes jobs');
  const { name, labels } = found.metadata;
  const selector = { [HOST]: labels[HOST] ?? name };
  return {
    name,
    cpuMillicores: toMillicores(found.status.allocatable.cpu) ?? 1_000,
    selector,
    podOf: (pod, { priorityClassName, cpuMillicores }) => ({
      metadata: { name: pod },
      spec: {
        ...(priorityClassName && { priorityClassName }),
        nodeSelector: selector,
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: 'main',
            image: IMAGE,
            command: ['sleep', '600'],
            resources: { requests: { cpu: `${cpuMillicores}m` } },
          },
        ],
      },
    }),
  };
}

/** Keeps everything off a node that does not tolerate it, while `work` lasts. */
export async function tainted<Result>(
  admin: Admin,
  node: string,
  taint: { key: string; effect: string },
  work: () => Promise<Result>,
): Promise<Result> {
  const path = `/api/v1/nodes/${node}`;
  const { spec } = await admin.get(path);
  const { taints = [] } = spec as { taints?: object[] };
  await admin.patch(path, { spec: { taints: [...taints, taint] } });
  try {
    return await work();
  } finally {
    await admin.patch(path, { spec: { taints: taints.length > 0 ? taints : null } });
  }
}
