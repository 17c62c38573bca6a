import type { z } from 'zod';

type Schema = z.core.$ZodType;

const definitionOf = (schema: Schema): z.core.$ZodTypes['_zod']['def'] => (schema as z.core.$ZodTypes)._zod.def;

const ownValue = (holder: unknown, key: PropertyKey): unknown =>
  typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)
    ? (holder as Record<PropertyKey, unknown>)[key]
    : undefined;

/** What an input has at a path; undefined when nothing is there. */
export function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce(ownValue, input);
}

/** The branches of a union an input can mean: those whose discriminator it carries, or all. */
function branchesOf(options: readonly Schema[], discriminator: string | undefined, input: unknown): readonly Schema[] {
  if (discriminator === undefined) return options;
  const chosen = ownValue(input, discriminator);
  const meant = options.filter((option) => {
    const values = option._zod.propValues?.[discriminator];
    return values !== undefined && [...values].includes(chosen as z.core.util.Primitive);
  });
  return meant.length > 0 ? meant : options;
}

/** Schemas behind wrappers (`optional`, `default`, transforms, unions) that decide the shape of an input. */
function plainSchemas(schema: Schema, input: unknown): Schema[] {
  const definition = definitionOf(schema);
  if (definition.type === 'pipe') return plainSchemas(definition.in, input);
  if (definition.type === 'union') {
    const discriminator = 'discriminator' in definition ? String(definition.discriminator) : undefined;
    return branchesOf(definition.options, discriminator, input).flatMap((option) => plainSchemas(option, input));
  }
  return 'innerType' in definition ? plainSchemas(definition.innerType, input) : [schema];
}

function childOf(schema: Schema, segment: PropertyKey): Schema[] {
  const definition = definitionOf(schema);
  if (definition.type === 'array') return [definition.element];
  if (definition.type === 'record') return [definition.valueType];
  if (definition.type !== 'object' || !Object.hasOwn(definition.shape, segment)) return [];
  const child = definition.shape[String(segment)];
  return child ? [child] : [];
}

/** Keys an object at a path may have, by the schema and the variant the input chose. */
export function keysAt(schema: Schema, path: readonly PropertyKey[], input: unknown): string[] {
  let schemas = plainSchemas(schema, input);
  let value = input;
  for (const segment of path) {
    value = ownValue(value, segment);
    schemas = schemas.flatMap((one) => childOf(one, segment)).flatMap((child) => plainSchemas(child, value));
  }
  const keys = schemas.flatMap((one) => {
    const definition = definitionOf(one);
    return definition.type === 'object' ? Object.keys(definition.shape) : [];
  });
  return [...new Set(keys)];
}
