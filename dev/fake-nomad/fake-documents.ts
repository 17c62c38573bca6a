import { z } from 'zod';

/**
 * The job documents that the fake takes. Nomad passes over a field that it does not know; here such a field is refused,
 * as it would be a slip that shows nowhere else.
 */
const text = z.string();
const count = z.number().int();
const texts = z.record(text, text);

const Constraint = z.strictObject({ LTarget: text, Operand: text, RTarget: text });
export type Constraint = z.infer<typeof Constraint>;

const Template = z.strictObject({
  EmbeddedTmpl: text,
  DestPath: text,
  ChangeMode: text.optional(),
  Perms: text.optional(),
  LeftDelim: text.optional(),
  RightDelim: text.optional(),
  Once: z.boolean().optional(),
  ErrMissingKey: z.boolean().optional(),
  Splay: count.optional(),
});
export type Template = z.infer<typeof Template>;

const Resources = z.strictObject({
  CPU: count.default(100),
  Cores: count.optional(),
  MemoryMB: count.default(300),
  MemoryMaxMB: count.nullish(),
  SecretsMB: count.optional(),
  Devices: z.array(z.strictObject({ Name: text, Count: count.default(1) })).nullish(),
});

const RestartPolicy = z.strictObject({
  Attempts: count.default(3),
  Interval: count.default(86_400_000_000_000),
  Delay: count.default(15_000_000_000),
  Mode: z.enum(['fail', 'delay']).default('fail'),
  RenderTemplates: z.boolean().optional(),
});

const Task = z.strictObject({
  Name: text,
  Driver: text,
  User: text.optional(),
  Config: z
    .record(text, z.unknown())
    .nullish()
    .transform((config) => config ?? {}),
  Env: texts.nullish().transform((env) => env ?? {}),
  Meta: texts.nullish(),
  Constraints: z.array(Constraint).nullish(),
  Templates: z
    .array(Template)
    .nullish()
    .transform((templates) => templates ?? []),
  KillTimeout: count.default(5_000_000_000),
  KillSignal: text.default(''),
  ShutdownDelay: count.optional(),
  Resources: Resources.default({ CPU: 100, MemoryMB: 300 }),
  LogConfig: z
    .strictObject({
      MaxFiles: count.default(10),
      MaxFileSizeMB: count.default(10),
      Disabled: z.boolean().default(false),
      Enabled: z.boolean().optional(),
    })
    .default({ MaxFiles: 10, MaxFileSizeMB: 10, Disabled: false }),
});
export type TaskDocument = z.infer<typeof Task>;

const TaskGroup = z.strictObject({
  Name: text,
  Count: count.default(1),
  Tasks: z.array(Task).min(1),
  Constraints: z.array(Constraint).nullish(),
  RestartPolicy: RestartPolicy.default({
    Attempts: 3,
    Interval: 86_400_000_000_000,
    Delay: 15_000_000_000,
    Mode: 'fail',
  }),
  ReschedulePolicy: z
    .strictObject({
      Attempts: count.default(1),
      Interval: count.optional(),
      Delay: count.optional(),
      DelayFunction: text.optional(),
      MaxDelay: count.optional(),
      Unlimited: z.boolean().default(false),
    })
    .default({ Attempts: 1, Unlimited: false }),
  EphemeralDisk: z
    .strictObject({ SizeMB: count.default(300), Migrate: z.boolean().optional(), Sticky: z.boolean().optional() })
    .default({ SizeMB: 300 }),
  Meta: texts.nullish(),
  MaxClientDisconnect: count.nullish(),
  StopAfterClientDisconnect: count.nullish(),
  PreventRescheduleOnLost: z.boolean().optional(),
  Disconnect: z
    .strictObject({
      LostAfter: count.nullish(),
      StopOnClientAfter: count.nullish(),
      Replace: z.boolean().default(true),
      Reconcile: text.optional(),
    })
    .nullish(),
});
export type TaskGroup = z.infer<typeof TaskGroup>;

export const JobDocument = z.strictObject({
  ID: text,
  Name: text.optional(),
  Type: text.default('service'),
  Namespace: text.optional(),
  Region: text.optional(),
  Datacenters: z
    .array(text)
    .nullish()
    .transform((names) => (names?.length ? names : ['*'])),
  NodePool: text.optional(),
  Priority: count.default(50),
  AllAtOnce: z.boolean().optional(),
  Meta: texts.nullish().transform((meta) => meta ?? null),
  Constraints: z.array(Constraint).nullish(),
  TaskGroups: z
    .array(TaskGroup)
    .nullish()
    .transform((groups) => groups ?? []),
});
export type JobDocument = z.infer<typeof JobDocument>;

export const RegisterBody = z.strictObject({
  Job: z.unknown().optional(),
  EnforceIndex: z.boolean().default(false),
  JobModifyIndex: count.default(0),
  PolicyOverride: z.boolean().optional(),
  PreserveCounts: z.boolean().optional(),
  EvalPriority: count.optional(),
});
