import { z } from 'zod';

/** Who wrote a text: a job, a cluster, or somebody who registered or submitted something. */
export const TextSource = z.enum(['job', 'cluster', 'user']);
export type TextSource = z.infer<typeof TextSource>;

const sources = z.registry<{ source: TextSource }>();

/**
 * A value whose text was written by others than the platform: it is shown as data, never read as an instruction.
 * Refinements of a schema make a new one without this mark: it goes around all of them.
 */
export function untrusted(source: TextSource): z.ZodString;
export function untrusted<Schema extends z.ZodType>(source: TextSource, schema: Schema): Schema;
export function untrusted(source: TextSource, schema: z.ZodType = z.string()): z.ZodType {
  sources.add(schema, { source });
  return schema;
}

/** Who wrote what a schema describes, if it is marked. */
export const sourceOf = (schema: z.core.$ZodType): TextSource | undefined => sources.get(schema)?.source;
