import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { z } from 'zod';
import { type ErrorCode, type FieldError, PlatformError } from '../../contracts/errors.js';
import { readValue } from '../../contracts/read-value.js';

/** Validates what a route takes against the schema of its `@Body`, `@Query` or `@Param`. */
@Injectable()
export class SchemaPipe implements PipeTransform {
  transform(value: unknown, { schema, type, data }: ArgumentMetadata): unknown {
    if (!(schema instanceof z.ZodType)) return value;
    if (type === 'param') return parseParam(schema, value);
    const what = type === 'query' ? 'the query' : 'the body';
    if (type === 'body' && value === undefined) throw new PlatformError('BAD_REQUEST', 'a JSON body is required');
    return parseInput(schema, value, data === undefined ? what : `${what} ${data}`);
  }
}

/** Parses what came from outside, or refuses it naming every place at fault. */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
  code: ErrorCode = 'BAD_REQUEST',
): z.infer<Schema> {
  const read = readValue(schema, value);
  if ('faults' in read) throw invalid(what, read.faults, code);
  return read.data;
}

const SHOWN = 3;
const KEPT = 100;

export function invalid(what: string, errors: readonly FieldError[], code: ErrorCode = 'BAD_REQUEST'): PlatformError {
  const shown = errors.slice(0, SHOWN).map(({ path, message }) => (path ? `${path}: ${message}` : message));
  const more = errors.length > SHOWN ? `; and ${errors.length - SHOWN} more` : '';
  return new PlatformError(code, `${what} is not valid: ${shown.join('; ')}${more}`, { errors: errors.slice(0, KEPT) });
}

/** What cannot be the name of anything names nothing: 404, like any other name that is not there. */
function parseParam(schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const why = parsed.error.issues[0]?.message ?? 'is not a name';
  throw new PlatformError('NOT_FOUND', `nothing has the name ${JSON.stringify(value)}: it ${why}`);
}
