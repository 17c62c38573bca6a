import { z } from 'zod';

const PRIVATE_MATERIAL =
  'graders with private material (`files`, `env`) need a separate verifier, which this platform does not have yet: the job could read them';

/** Says why, where a strict object would only call the key unknown. */
const refusal = {
  error: (issue: { code?: string; keys?: string[] }) =>
    issue.keys?.some((key) => key === 'files' || key === 'env') ? PRIVATE_MATERIAL : undefined,
};

const GraderId = z.string().min(1).max(63).optional();

/** `$`, then `.name`, `["any name"]` or `[index]` steps. */
const JsonPath = z
  .string()
  .max(512)
  .regex(
    /^\$?((^|\.)[^.[\]]+|\[(\d+|"([^"\\\p{Cc}]|\\(["\\/bfnrt]|u[0-9a-fA-F]{4}))*")\])*$/u,
    'is a path like `$.items[0].name`',
  );

const Shape = z.discriminatedUnion('kind', [
  z.strictObject({ id: GraderId, kind: z.literal('exit-code'), expected: z.int().min(0).max(255).default(0) }, refusal),
  z.strictObject({ id: GraderId, kind: z.literal('equals'), value: z.string() }, refusal),
  z.strictObject({ id: GraderId, kind: z.literal('contains'), value: z.string().min(1) }, refusal),
  z.strictObject({ id: GraderId, kind: z.literal('regex'), pattern: z.string().min(1).max(4_096) }, refusal),
  z.strictObject({ id: GraderId, kind: z.literal('json'), path: JsonPath, value: z.json() }, refusal),
  z
    .strictObject(
      { id: GraderId, kind: z.literal('numeric'), value: z.number(), tolerance: z.number().min(0).default(0) },
      refusal,
    )
    .refine(({ value, tolerance }) => tolerance > 0 || Math.abs(value) <= Number.MAX_SAFE_INTEGER, {
      path: ['value'],
      message: 'is too large to be compared exactly: give a `tolerance`, or use `equals`',
    }),
  z.strictObject({ id: GraderId, kind: z.literal('command'), command: z.string().min(1).max(65_536) }, refusal),
]);

/**
 * One measurement of a case. All but `command` are computed over the captured answer in the control plane; `command`
 * runs in the job's work directory after the agent and passes with exit code 0. The id defaults to the kind.
 */
export const Grader = Shape.transform((grader) => ({ ...grader, id: grader.id ?? grader.kind }));
export type Grader = z.infer<typeof Grader>;

export const Graders = z
  .array(Grader)
  .max(50)
  .refine(
    (graders) => new Set(graders.map(({ id }) => id)).size === graders.length,
    'grader ids must be unique: give each an `id`',
  );
