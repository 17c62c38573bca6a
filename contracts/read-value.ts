import type { z } from 'zod';
import { jsonFaults } from './clean-json.js';
import type { FieldError } from './errors.js';
import { fieldErrors } from './issues.js';

/** What a schema makes of a value from outside, or each of its faults with its place. */
export function readValue<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { data: z.infer<Schema> } | { faults: FieldError[] } {
  const unclean = jsonFaults(value);
  if (unclean.length > 0) return { faults: unclean };
  const parsed = schema.safeParse(value);
  return parsed.success ? { data: parsed.data } : { faults: fieldErrors(parsed.error, value, schema) };
}
