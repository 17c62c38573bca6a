import fc from 'fast-check';

type Json = ReturnType<typeof JSON.parse>;

/** A JSON schema of the OpenAPI document, as far as values are made of it. */
interface Schema {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  minItems?: number;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
}

const DEEPEST = 7;
const WORDS = [
  'tasks',
  'echo',
  'here',
  '1.0.0',
  'latest',
  'case-1',
  'tasks@1.0.0',
  'http://127.0.0.1:9',
  'x'.repeat(600),
];

/** Values that a schema takes, or nearly: `odd` of them come from `junk` instead, at any depth. */
export function valuesOf(root: Schema, components: Record<string, Schema>, junk: fc.Arbitrary<Json>, odd: number) {
  const resolve = (schema: Schema): Schema => {
    const name = schema.$ref?.split('/').at(-1);
    return name === undefined ? schema : resolve(components[name] ?? {});
  };
  const at = (given: Schema, depth: number): fc.Arbitrary<Json> => {
    const made = depth > DEEPEST ? fc.constantFrom<Json>(null, 0, '', [], {}) : fitting(resolve(given), depth);
    return fc.oneof({ weight: 100 - odd, arbitrary: made }, { weight: odd, arbitrary: junk });
  };
  const fitting = (schema: Schema, depth: number): fc.Arbitrary<Json> => {
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    const variants = schema.anyOf ?? schema.oneOf;
    if (variants) return fc.oneof(...variants.map((variant) => at(variant, depth + 1)));
    if (schema.allOf?.[0]) return at(schema.allOf[0], depth + 1);
    if (schema.type === 'object') return objects(schema, depth);
    if (schema.type === 'array') {
      const size = { minLength: schema.minItems ?? 0, maxLength: Math.max(3, schema.minItems ?? 0) };
      return fc.array(at(schema.items ?? {}, depth + 1), size);
    }
    if (schema.type === 'integer' || schema.type === 'number') return numbers(schema);
    if (schema.type === 'boolean') return fc.boolean();
    if (schema.type === 'null') return fc.constant(null);
    return schema.type === 'string' ? strings(schema) : junk;
  };
  const objects = ({ properties = {}, required = [], additionalProperties }: Schema, depth: number) => {
    const known = Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, at(child, depth + 1)]));
    const record = fc.record(known, { requiredKeys: required.filter((name) => name in known) });
    if (typeof additionalProperties !== 'object') return record;
    const more = fc.dictionary(fc.string({ maxLength: 8 }), at(additionalProperties, depth + 1), { maxKeys: 3 });
    return fc.tuple(record, more).map(([some, others]) => ({ ...others, ...some }));
  };
  return at(root, 0);
}

function numbers({ type, minimum = -10, maximum = 100_000 }: Schema): fc.Arbitrary<number> {
  const most = Math.min(maximum, 2 ** 31);
  const some =
    type === 'number'
      ? fc.double({ min: minimum, max: most, noNaN: true })
      : fc.integer({ min: Math.ceil(minimum), max: most });
  return fc.oneof(some, fc.constantFrom(minimum, maximum));
}

function strings({ pattern, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  const some = fc.oneof(
    fc.constantFrom(...WORDS),
    fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) }),
  );
  if (pattern === undefined) return some;
  try {
    return fc.oneof(fc.stringMatching(new RegExp(pattern, 'u')), some);
  } catch {
    return some;
  }
}
