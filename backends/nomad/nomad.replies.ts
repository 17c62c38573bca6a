import { z } from 'zod';

/** What we read of Nomad's answers, and keep of them. Absent lists and maps are `null` there. */
const text = z.string();
const list = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);

export const AgentSelf = z
  .object({
    config: z
      .object({
        Version: z.object({ Version: text }).nullish(),
        ACL: z.object({ Enabled: z.boolean() }).nullish(),
      })
      .nullish(),
    member: z.object({ Name: text, Tags: z.record(text, text).nullish() }).nullish(),
  })
  .refine(({ config, member }) => config || member);
export type AgentSelf = z.infer<typeof AgentSelf>;

export const AclToken = z.object({
  AccessorID: text,
  Type: text.nullish(),
  Policies: list(text),
  Roles: list(z.object({})),
  ExpirationTime: text.nullish(),
});
export type AclToken = z.infer<typeof AclToken>;

export const AclPolicy = z.object({
  RulesJSON: z.object({
    Namespaces: list(z.object({ Name: text, Capabilities: list(text) })),
    Node: z.object({ Policy: text }).nullish(),
    Agent: z.object({ Policy: text }).nullish(),
  }),
});
export type AclPolicy = z.infer<typeof AclPolicy>;

export const Namespace = z.object({ Name: text });

const Device = z.object({
  Vendor: text,
  Type: text,
  Instances: list(z.object({ Healthy: z.boolean() })),
});

const Node = z.object({
  ID: text,
  Name: text,
  Datacenter: text,
  NodePool: text.nullish(),
  NodeClass: text.nullish(),
  Version: text.nullish(),
  Drain: z.boolean().nullish(),
  Status: text,
  SchedulingEligibility: text,
  Drivers: z.record(text, z.object({ Detected: z.boolean(), Healthy: z.boolean() })).nullish(),
  NodeResources: z
    .object({
      Cpu: z.object({ CpuShares: z.number() }).nullish(),
      Memory: z.object({ MemoryMB: z.number() }).nullish(),
      Devices: list(Device),
    })
    .nullish(),
});
export type Node = z.infer<typeof Node>;
export const Nodes = z.array(Node);

const Allocation = z.object({
  NodeID: text,
  JobID: text.nullish(),
  ClientStatus: text,
  AllocatedResources: z
    .object({
      Tasks: z
        .record(
          text,
          z.object({
            Cpu: z.object({ CpuShares: z.number() }).nullish(),
            Memory: z.object({ MemoryMB: z.number() }).nullish(),
            Devices: list(z.object({ Type: text, DeviceIDs: list(text) })),
          }),
        )
        .nullish(),
    })
    .nullish(),
});
export type Allocation = z.infer<typeof Allocation>;
export const Allocations = z.array(Allocation);

/** Absent texts, numbers and maps count as empty: of most things Nomad leaves out what is not set. */
const said = text.nullish().transform((value) => value ?? '');
const amount = z
  .number()
  .nullish()
  .transform((value) => value ?? 0);
const counts = z
  .record(text, z.number())
  .nullish()
  .transform((value) => value ?? {});

const TaskEvent = z.object({
  Type: said,
  Message: said,
  DisplayMessage: said,
  DriverError: said,
  ExitCode: z.number().nullish(),
  Signal: z.number().nullish(),
  Details: z
    .record(text, z.unknown())
    .nullish()
    .transform((details) => details ?? {}),
});
export type TaskEvent = z.infer<typeof TaskEvent>;

const TaskState = z.object({
  State: said,
  Failed: z
    .boolean()
    .nullish()
    .transform((failed) => failed ?? false),
  Restarts: amount,
  StartedAt: said,
  /** Its last ten. */
  Events: list(TaskEvent),
});
export type TaskState = z.infer<typeof TaskState>;

/** A part of a path, and of a row. */
const Id = text.regex(/^[\w-]{1,64}$/);

/** An allocation of a job of ours, alone or in a list. */
export const JobAllocation = z.object({
  ID: Id,
  NodeID: said,
  NodeName: said,
  DesiredStatus: said,
  DesiredDescription: said,
  ClientStatus: text,
  ClientDescription: said,
  PreemptedByAllocation: said,
  CreateIndex: amount,
  TaskStates: z
    .record(text, TaskState)
    .nullish()
    .transform((tasks) => tasks ?? {}),
});
export type JobAllocation = z.infer<typeof JobAllocation>;
export const JobAllocations = list(JobAllocation);

const PlacementFailure = z.object({
  NodesEvaluated: amount,
  ConstraintFiltered: counts,
  DimensionExhausted: counts,
  QuotaExhausted: list(text),
});
export type PlacementFailure = z.infer<typeof PlacementFailure>;

export const JobEvaluation = z.object({
  ID: text,
  Status: text,
  StatusDescription: said,
  TriggeredBy: said,
  QuotaLimitReached: said,
  CreateIndex: amount,
  FailedTGAllocs: z
    .record(text, PlacementFailure)
    .nullish()
    .transform((groups) => groups ?? {}),
});
export type JobEvaluation = z.infer<typeof JobEvaluation>;
export const JobEvaluations = list(JobEvaluation);

/** What a register and a deregister are answered with: no more of it counts. */
export const Accepted = z.object({ EvalID: text.nullish() });

/** A job of ours, or one of its name. */
export const KnownJob = z.object({
  ID: text,
  Status: said,
  Stop: z
    .boolean()
    .nullish()
    .transform((stop) => stop ?? false),
  Meta: z
    .record(text, text)
    .nullish()
    .transform((meta) => meta ?? {}),
});
export type KnownJob = z.infer<typeof KnownJob>;
