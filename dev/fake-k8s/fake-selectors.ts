import type { Kind, Stored } from './fake-objects.js';
import { RESOURCES } from './fake-resources.js';

export type Matches = (object: Stored) => boolean;
/** The reason why a selector is none. */
type Parsed = Matches | string;

const KEY = '[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?';
const VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const EQUALS = new RegExp(String.raw`^(${KEY})\s*(==?|!=)\s*(.*)$`);
const SET = new RegExp(String.raw`^(${KEY})\s+(in|notin)\s+\((.*)\)$`);
const EXISTS = new RegExp(`^(!?)(${KEY})$`);

export function labelSelector(text: string): Parsed {
  const matches: Matches[] = [];
  for (const part of text.split(/,(?![^(]*\))/).map((each) => each.trim())) {
    if (part === '') continue;
    const parsed = requirement(part);
    if (typeof parsed === 'string') return `unable to parse requirement: ${parsed}`;
    matches.push(parsed);
  }
  return (object) => matches.every((match) => match(object));
}

function requirement(part: string): Parsed {
  const [, key = '', operator, value = ''] = EQUALS.exec(part) ?? [];
  if (operator) return valued(key, [value.trim()], operator === '!=');
  const [, of = '', set, values = ''] = SET.exec(part) ?? [];
  if (set)
    return valued(
      of,
      values.split(',').map((each) => each.trim()),
      set === 'notin',
    );
  const [, not, name = ''] = EXISTS.exec(part) ?? [];
  if (not === undefined) return `found '${part}', expected: identifier`;
  return ({ metadata }) => Object.hasOwn(metadata.labels ?? {}, name) === (not === '');
}

function valued(key: string, values: readonly string[], isNot: boolean): Parsed {
  const bad = values.find((value) => !VALUE.test(value));
  if (bad !== undefined && /[=!(]/.test(bad)) return `found '${bad.slice(0, 1)}', expected: identifier`;
  if (bad !== undefined) return `values[0][${key}]: Invalid value: ${JSON.stringify(bad)}: ${LABEL_RULE(bad)}`;
  return ({ metadata }) => values.includes(metadata.labels?.[key] ?? '\0') !== isNot;
}

/** What is wrong with the value of a label. */
export const LABEL_RULE = (value: string): string =>
  value.length > 63
    ? 'must be no more than 63 characters'
    : "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

export const isLabelValue = (value: string): boolean => value.length <= 63 && VALUE.test(value);

/** Fields of which a kind knows that they can be asked for. */
export function fieldSelector(kind: Kind, text: string): Parsed {
  const matches: Matches[] = [];
  for (const part of text.split(',')) {
    if (part === '') continue;
    const [, field = '', operator = '', value = ''] = /^([^=!]+)(==?|!=)(.*)$/.exec(part) ?? [];
    if (operator === '') return `invalid selector: '${part}'; can't understand '${part}'`;
    const { name, fields = [] } = RESOURCES[kind];
    if (!['metadata.name', 'metadata.namespace', ...fields].includes(field)) {
      return `field label "${field}" not supported for ${name}`;
    }
    matches.push((object) => (fieldOf(object, field) === value) === (operator !== '!='));
  }
  return (object) => matches.every((match) => match(object));
}

function fieldOf(object: Stored, path: string): string {
  let value: unknown = object;
  for (const step of path.split('.')) {
    value = typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined;
  }
  return value === undefined || value === null ? '' : String(value);
}
