import { z } from 'zod';

/** What we read of Nomad's answers. Absent lists and maps are `null` there. */
const text = z.string();
const list = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);

export const AgentSelf = z
  .looseObject({
    config: z
      .looseObject({
        Version: z.looseObject({ Version: text }).nullish(),
        ACL: z.looseObject({ Enabled: z.boolean() }).nullish(),
      })
      .nullish(),
    member: z.looseObject({ Name: text, Tags: z.record(text, text).nullish() }).nullish(),
  })
  .refine(({ config, member }) => config || member);
export type AgentSelf = z.infer<typeof AgentSelf>;

export const AclToken = z.looseObject({
  AccessorID: text,
  Type: text,
  Policies: list(text),
  Roles: list(z.looseObject({})),
  ExpirationTime: text.nullish(),
});
export type AclToken = z.infer<typeof AclToken>;

export const AclPolicy = z.looseObject({
  RulesJSON: z.looseObject({
    Namespaces: list(z.looseObject({ Name: text, Capabilities: list(text) })),
    Node: z.looseObject({ Policy: text }).nullish(),
    Agent: z.looseObject({ Policy: text }).nullish(),
  }),
});
export type AclPolicy = z.infer<typeof AclPolicy>;

export const Namespace = z.looseObject({ Name: text });

const Device = z.looseObject({
  Vendor: text,
  Type: text,
  Instances: list(z.looseObject({ Healthy: z.boolean() })),
});

const Node = z.looseObject({
  ID: text,
  Name: text,
  Datacenter: text,
  NodePool: text.nullish(),
  NodeClass: text.nullish(),
  Version: text.nullish(),
  Drain: z.boolean().nullish(),
  Status: text,
  SchedulingEligibility: text,
  Drivers: z.record(text, z.looseObject({ Detected: z.boolean(), Healthy: z.boolean() })).nullish(),
  NodeResources: z
    .looseObject({
      Cpu: z.looseObject({ CpuShares: z.number() }).nullish(),
      Memory: z.looseObject({ MemoryMB: z.number() }).nullish(),
      Devices: list(Device),
    })
    .nullish(),
});
export type Node = z.infer<typeof Node>;
export const Nodes = z.array(Node);

const Allocation = z.looseObject({
  NodeID: text,
  ClientStatus: text,
  AllocatedResources: z
    .looseObject({
      Tasks: z
        .record(
          text,
          z.looseObject({
            Cpu: z.looseObject({ CpuShares: z.number() }).nullish(),
            Memory: z.looseObject({ MemoryMB: z.number() }).nullish(),
            Devices: list(z.looseObject({ Type: text, DeviceIDs: list(text) })),
          }),
        )
        .nullish(),
    })
    .nullish(),
});
export type Allocation = z.infer<typeof Allocation>;
export const Allocations = z.array(Allocation);
