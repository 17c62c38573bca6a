import type { z } from 'zod';
import type { FieldError } from './errors.js';
import { fieldPath, quoted } from './field-path.js';
import { nearest } from './nearest.js';
import { keysAt, valueAt } from './schema-walk.js';

type Issue = z.core.$ZodIssue;

const MOST_FAULTS = 100;
/** How zod's own messages begin; any other message was written for the place where it stands. */
const GENERIC = /^(Invalid|Too big|Too small|Unrecognized)\b/;

const UNIT: Record<string, string> = {
  string: 'characters',
  array: 'items',
  object: 'keys',
  record: 'keys',
  map: 'entries',
};

interface Source {
  input: unknown;
  schema?: z.core.$ZodType;
}

const hint = (word: string, candidates: Iterable<string>): string => {
  const meant = nearest(word, candidates);
  return meant === undefined ? '' : `; did you mean \`${meant}\`?`;
};

function shown(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return 'array';
  return typeof value === 'object' && value !== null ? 'object' : String(value);
}

const sizeOf = (value: unknown): number | undefined => {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length;
  return undefined;
};

/** Both numbers: what was given and what is allowed. */
function rangeMessage(issue: z.core.$ZodIssueTooBig | z.core.$ZodIssueTooSmall, value: unknown): string {
  const isBig = issue.code === 'too_big';
  const limit = isBig ? `more than the allowed ${issue.maximum}` : `less than the required ${issue.minimum}`;
  const unit = UNIT[issue.origin];
  const given = unit === undefined ? value : sizeOf(value);
  if (unit === undefined) return given === undefined ? `is ${limit}` : `is ${String(given)}, ${limit}`;
  if (given === 0 && !isBig) return 'is empty';
  return given === undefined ? `has ${limit} ${unit}` : `has ${given} ${unit}, ${limit}`;
}

function typeMessage({ expected, message }: z.core.$ZodIssueInvalidType, value: unknown): string {
  if (message.endsWith('received undefined')) return 'is required';
  const wanted = expected === 'int' ? 'whole number' : expected === 'record' ? 'object' : expected;
  const received = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  if (value === undefined) return `expected ${wanted}`;
  return `expected ${wanted}, received ${typeof value === 'number' ? value : received}`;
}

function choiceMessage(values: readonly unknown[], value: unknown): string {
  const options = values.map(String);
  const wanted = options.length === 1 ? options[0] : `one of ${options.join(', ')}`;
  if (value === undefined) return `expected ${wanted}`;
  return `expected ${wanted}, received ${shown(value)}${typeof value === 'string' ? hint(value, options) : ''}`;
}

/** Wrong already at the top of the branch: it was not meant. */
const isForeign = (branch: readonly Issue[]): boolean =>
  branch.some(({ code, path }) => path.length === 0 && (code === 'invalid_type' || code === 'invalid_value'));

/** How far a branch is from what was given: keys it misses or does not know; faults further down weigh less. */
function distanceOf(branch: readonly Issue[]): number {
  const weights = branch.map((issue): number => {
    if (issue.code === 'unrecognized_keys') return issue.keys.length;
    return issue.path.length <= 1 ? 1 : 0.5;
  });
  return weights.reduce((sum, weight) => sum + weight, 0);
}

function unionFaults(issue: z.core.$ZodIssueInvalidUnion, path: PropertyKey[], source: Source): FieldError[] {
  const value = valueAt(source.input, path);
  if (issue.discriminator !== undefined && 'options' in issue && issue.options) {
    return [{ path: fieldPath(path), message: choiceMessage(issue.options, value) }];
  }
  const meant = issue.errors.filter((branch) => !isForeign(branch));
  const [closest] = meant.toSorted((a, b) => distanceOf(a) - distanceOf(b));
  if (closest) return relevant(closest).flatMap((inner) => faultsOf(inner, path, source));
  const wanted = issue.errors.flat().flatMap((inner): string[] => {
    if (inner.code === 'invalid_type') return [inner.expected === 'record' ? 'object' : inner.expected];
    return inner.code === 'invalid_value' ? inner.values.map(String) : [];
  });
  const received = value === undefined ? '' : `, received ${shown(value)}`;
  const message = `expected ${[...new Set(wanted)].join(' or ')}${received}`;
  return [{ path: fieldPath(path), message }];
}

function unknownKeys(keys: readonly string[], path: PropertyKey[], source: Source): FieldError[] {
  const allowed = source.schema ? keysAt(source.schema, path, source.input) : [];
  return keys.map((key) => {
    const given = valueAt(source.input, path);
    const free = allowed.filter((name) => typeof given !== 'object' || given === null || !Object.hasOwn(given, name));
    return { path: fieldPath([...path, key]), message: `is not a known key${hint(key, free)}` };
  });
}

/** Without the sizes of what has the wrong type anyway. */
function relevant(issues: readonly Issue[]): Issue[] {
  const mistyped = new Set(issues.filter(({ code }) => code === 'invalid_type').map(({ path }) => fieldPath(path)));
  const isSize = ({ code }: Issue) => code === 'too_big' || code === 'too_small';
  return issues.filter((issue) => !(isSize(issue) && mistyped.has(fieldPath(issue.path))));
}

function faultsOf(issue: Issue, above: readonly PropertyKey[], source: Source): FieldError[] {
  const path = [...above, ...issue.path];
  const one = (message: string): FieldError[] => [{ path: fieldPath(path), message }];
  const value = valueAt(source.input, path);
  if (issue.code === 'invalid_type' && value === undefined && source.input !== undefined) return one('is required');
  if (issue.code === 'custom' || !GENERIC.test(issue.message)) return one(issue.message);
  switch (issue.code) {
    case 'unrecognized_keys':
      return unknownKeys(issue.keys, path, source);
    case 'invalid_union':
      return unionFaults(issue, path, source);
    case 'invalid_type':
      return one(typeMessage(issue, value));
    case 'invalid_value':
      return one(choiceMessage(issue.values, value));
    case 'too_big':
    case 'too_small':
      return one(rangeMessage(issue, value));
    case 'invalid_key':
    case 'invalid_element':
      return issue.issues.flatMap((inner) => one(`key ${inner.message}`));
    case 'invalid_format':
    case 'not_multiple_of':
      return one(issue.message.replace(/^Invalid [a-z]+: /, ''));
  }
}

/**
 * Faults of an input in plain words, each with its place. `input` is what was parsed and `schema` what it was parsed
 * by: without them, received values and the key that was probably meant are not named.
 */
export function fieldErrors(error: z.core.$ZodError, input?: unknown, schema?: z.core.$ZodType): FieldError[] {
  const first = relevant(error.issues.slice(0, MOST_FAULTS + 1));
  const faults = first.flatMap((issue) => faultsOf(issue, [], { input, schema }));
  const rest = Math.max(0, error.issues.length - MOST_FAULTS - 1) + faults.length - MOST_FAULTS;
  if (rest <= 0) return faults;
  return [...faults.slice(0, MOST_FAULTS), { path: '', message: `and ${rest} more faults` }];
}
