import { z } from 'zod';

/** What is read of answers. All of it is loose, and what is not of its type counts as absent. */
const Text = z.string().optional().catch(undefined);
const Texts = z.record(z.string(), z.string().catch('')).catch({});
const list = <Item extends z.ZodType>(item: Item) => z.array(item).catch([]);

const Metadata = z.looseObject({ name: z.string(), labels: Texts.optional() });
const ListMetadata = z.looseObject({ continue: Text }).catch({ continue: undefined });
const listOf = <Item extends z.ZodType>(item: Item) => z.looseObject({ items: z.array(item), metadata: ListMetadata });

const Taint = z.looseObject({ key: z.string(), value: Text, effect: z.string() });
export type Taint = z.infer<typeof Taint>;

export const Node = z.looseObject({
  metadata: Metadata,
  spec: z
    .looseObject({ unschedulable: z.boolean().optional().catch(undefined), taints: list(Taint) })
    .catch({ taints: [] }),
  status: z
    .looseObject({
      capacity: Texts,
      allocatable: Texts,
      conditions: list(z.looseObject({ type: z.string(), status: z.string() })),
      nodeInfo: z.looseObject({ kubeletVersion: Text }).optional().catch(undefined),
    })
    .catch({ capacity: {}, allocatable: {}, conditions: [] }),
});
export type Node = z.infer<typeof Node>;
export const NodeList = listOf(Node);

const Quota = z.looseObject({
  metadata: Metadata,
  status: z.looseObject({ hard: Texts, used: Texts }).catch({ hard: {}, used: {} }),
});
export type Quota = z.infer<typeof Quota>;
export const QuotaList = listOf(Quota);

const Limit = z.looseObject({ type: z.string(), max: Texts, min: Texts, default: Texts });
const LimitRange = z.looseObject({
  metadata: Metadata,
  spec: z.looseObject({ limits: list(Limit) }).catch({ limits: [] }),
});
export type LimitRange = z.infer<typeof LimitRange>;
export const LimitRangeList = listOf(LimitRange);

/** Any object of the API that is asked for by its name. */
export const Named = z.looseObject({ metadata: Metadata });
