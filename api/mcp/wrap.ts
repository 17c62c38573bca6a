import { z } from 'zod';
import { ComparedScorecard, Delta, PairedTest } from '../../contracts/comparison.js';
import { GateEvidence, GateRules } from '../../contracts/gate.js';
import { Reroll } from '../../contracts/reroll.js';
import { sourceOf } from '../../contracts/untrusted.js';
import { ShownText, type TextShower } from './shown-text.js';

type Json = Record<string, unknown>;
type Schema = z.core.$ZodType;

/** The definition that stands once in a schema, wherever a text of others is. */
const SHOWN = 'ShownText';
/** What says more of a value than a client needs to read it. */
const NOT_SAID = [
  ...['description', 'default', 'format', 'pattern', 'minLength', 'maxLength', 'minItems', 'maxItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'propertyNames'],
];
/** Told as objects only: they are long, and in the answers of many tools. */
const ONLY_OBJECTS: ReadonlySet<Schema> = new Set<Schema>([
  ...[GateEvidence, GateRules, ComparedScorecard, PairedTest, Delta, Reroll],
]);

/**
 * JSON Schema of an answer in which every text of others is a `ShownText`. It has the shape alone: what holds for a value
 * is said where it is given, and of an object of several kinds only what all kinds have.
 */
export function shownSchema(schema: z.ZodType): Json {
  let isShown = false;
  const json = jsonSchemaOf(schema, ({ zodSchema, jsonSchema }) => {
    if (sourceOf(zodSchema) !== undefined) {
      isShown = true;
      const shown = { $ref: `#/$defs/${SHOWN}` };
      replace(jsonSchema, z.safeParse(zodSchema, null).success ? { anyOf: [shown, { type: 'null' }] } : shown);
    }
    if (ONLY_OBJECTS.has(zodSchema)) replace(jsonSchema, { type: 'object' });
    for (const key of NOT_SAID) Reflect.deleteProperty(jsonSchema, key);
    if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    const kinds = Kinds.safeParse(jsonSchema.oneOf ?? jsonSchema.anyOf);
    if (kinds.success) replace(jsonSchema, sharedBy(kinds.data));
  });
  return isShown ? { ...json, $defs: { ...Object(json.$defs), [SHOWN]: shownSchema(ShownText) } } : json;
}

const Kinds = z
  .array(
    z.looseObject({
      type: z.literal('object'),
      properties: z.record(z.string(), z.looseObject({})),
      required: z.array(z.string()).default([]),
    }),
  )
  .min(2);

function sharedBy([first, ...others]: z.infer<typeof Kinds>): Json {
  const properties = Object.entries(first?.properties ?? {}).flatMap(([name, schema]) => {
    const same = others.map((kind) => kind.properties[name]);
    if (same.some((other) => other === undefined)) return [];
    const isSame = same.every((other) => JSON.stringify(other) === JSON.stringify(schema));
    return [[name, isSame ? schema : {}] as const];
  });
  const required = first?.required.filter((name) => others.every((kind) => kind.required.includes(name))) ?? [];
  return { type: 'object', properties: Object.fromEntries(properties), ...(required.length > 0 && { required }) };
}

function replace(json: object, by: Json): void {
  for (const key of Object.keys(json)) Reflect.deleteProperty(json, key);
  Object.assign(json, by);
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
