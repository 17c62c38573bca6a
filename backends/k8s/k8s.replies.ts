import { z } from 'zod';

/** What is read of answers, and kept of them. What is not of its type counts as absent. */
const Text = z.string().optional().catch(undefined);
const Texts = z.record(z.string(), z.string().catch('')).catch({});
const list = <Item extends z.ZodType>(item: Item) => z.array(item).catch([]);

const Metadata = z.object({ name: z.string(), labels: Texts.optional() });

/** One page of a list, its items not looked at yet. */
export const ListPage = z.object({
  items: z.array(z.unknown()),
  metadata: z.object({ continue: Text }).catch({ continue: undefined }),
});

const Taint = z.object({ key: z.string(), value: Text, effect: z.string() });
export type Taint = z.infer<typeof Taint>;

export const Node = z.object({
  metadata: Metadata,
  spec: z.object({ unschedulable: z.boolean().optional().catch(undefined), taints: list(Taint) }).catch({ taints: [] }),
  status: z
    .object({
      capacity: Texts,
      allocatable: Texts,
      conditions: list(z.object({ type: z.string(), status: z.string() })),
      nodeInfo: z.object({ kubeletVersion: Text }).optional().catch(undefined),
    })
    .catch({ capacity: {}, allocatable: {}, conditions: [] }),
});
export type Node = z.infer<typeof Node>;

export const Quota = z.object({
  metadata: Metadata,
  status: z.object({ hard: Texts, used: Texts }).catch({ hard: {}, used: {} }),
});
export type Quota = z.infer<typeof Quota>;

const Limit = z.object({ type: z.string(), max: Texts, min: Texts, default: Texts });
export const LimitRange = z.object({
  metadata: Metadata,
  spec: z.object({ limits: list(Limit) }).catch({ limits: [] }),
});
export type LimitRange = z.infer<typeof LimitRange>;

/** Any object of the API that is asked for by its name. */
export const Named = z.object({ metadata: Metadata });
