import { z } from 'zod';
import { sourceOf } from '../../contracts/untrusted.js';
import { ShownText, type TextShower } from './shown-text.js';

type Json = Record<string, unknown>;
type Schema = z.core.$ZodType;

/** JSON Schema of an answer in which every text of others is a `ShownText`. */
export function shownSchema(schema: z.ZodType): Json {
  const shown = jsonSchemaOf(ShownText);
  return jsonSchemaOf(schema, ({ zodSchema, jsonSchema }) => {
    if (sourceOf(zodSchema) === undefined) return;
    for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
    Object.assign(jsonSchema, shown);
  });
}

type Override = NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override'];

/** Of the dialect that clients validate by. */
export function jsonSchemaOf(schema: z.ZodType, override?: Override): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: (context) => {
      const { jsonSchema } = context;
      // Zod's own, which is no format to others; the pattern beside it says the same.
      if (jsonSchema.format === 'starts_with') delete jsonSchema.format;
      override?.(context);
    },
  });
  return { ...json };
}

/** Whether an answer may hold text of others. */
export const holdsText = (schema: z.ZodType): boolean => {
  let isFound = false;
  jsonSchemaOf(schema, ({ zodSchema }) => {
    isFound ||= sourceOf(zodSchema) !== undefined;
  });
  return isFound;
};

/** The answer with every text of others shown as such, and nothing unseen in what is left. */
export function wrapped(schema: Schema, value: unknown, shower: TextShower): unknown {
  if (value === null || value === undefined) return value;
  const source = sourceOf(schema);
  if (source !== undefined) return shower.show(source, value);
  const inner = innerOf(schema, value);
  if (inner !== undefined) return wrapped(inner, value, shower);
  if (typeof value === 'string') return shower.named(value);
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const element = schema instanceof z.ZodArray ? schema.element : z.unknown();
    return value.map((item) => wrapped(element, item, shower));
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [shower.named(key), wrapped(memberOf(schema, key), item, shower)]),
  );
}

/** What a schema that only adds something is about, or the option of a union that fits. */
function innerOf(schema: Schema, value: unknown): Schema | undefined {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return schema.unwrap();
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodReadonly) {
    return schema.unwrap();
  }
  if (schema instanceof z.ZodLazy) return schema.unwrap();
  if (!(schema instanceof z.ZodUnion)) return undefined;
  const { options } = schema;
  return options.find((option) => z.safeParse(option, value).success) ?? options.find((option) => sourceOf(option));
}

function memberOf(schema: Schema, key: string): Schema {
  if (schema instanceof z.ZodObject) return schema.shape[key] ?? z.unknown();
  if (schema instanceof z.ZodRecord) return schema.valueType;
  return z.unknown();
}
