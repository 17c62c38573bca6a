import type { FieldError } from './errors.js';
import { fieldPath, quoted } from './field-path.js';

const DEEPEST = 100;
const MOST_FAULTS = 100;
const UNSTORABLE = /[\0\p{Surrogate}]/u;

function textFault(text: string): string | undefined {
  if (!UNSTORABLE.test(text)) return undefined;
  return text.includes('\0') ? 'has a NUL character' : 'is not valid Unicode: half of a surrogate pair stands alone';
}

/** What a parser of JSON or of a query makes: no instance of a class, which may refer to itself and to all of the process. */
function isPlain(node: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(node);
  return Array.isArray(node) || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * What no input may hold, wherever it is: NUL, lone surrogates (Postgres stores neither), keys named `__proto__`, and
 * more than 100 levels. Takes any parsed JSON; empty when it is clean.
 */
export function jsonFaults(value: unknown): FieldError[] {
  const faults: FieldError[] = [];
  const at: PropertyKey[] = [];

  const report = (message: string) => {
    if (faults.length < MOST_FAULTS) faults.push({ path: fieldPath(at), message });
  };
  const enter = (key: PropertyKey, child: unknown) => {
    at.push(key);
    visit(child);
    at.pop();
  };
  const visitKey = (key: string) => {
    const fault = key === '__proto__' ? 'is not allowed as a key' : textFault(key);
    if (fault) report(`the key ${quoted(key)} ${fault}`);
  };
  const visit = (node: unknown): void => {
    if (typeof node === 'string') {
      const fault = textFault(node);
      if (fault) report(fault);
    } else if (typeof node === 'object' && node !== null) {
      if (!isPlain(node)) report('is no JSON value: send application/json');
      else if (at.length >= DEEPEST) report(`is nested more than ${DEEPEST} levels deep`);
      else if (Array.isArray(node)) for (const [index, child] of node.entries()) enter(index, child);
      else {
        for (const [key, child] of Object.entries(node)) {
          visitKey(key);
          enter(key, child);
        }
      }
    }
  };
  visit(value);
  return faults;
}
