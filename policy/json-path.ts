const STEP = /\.?([^.[\]]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/gy;

/** A name of an object's own property, or an index of an array. */
type Step = string | number;

/** The steps of a path like `$.items[0]["any name"]`; undefined when it is none. */
export function stepsOf(path: string): Step[] | undefined {
  const steps: Step[] = [];
  const rest = /^\$(?=$|[.[])/.test(path) ? path.slice(1) : path;
  let end = 0;
  for (const match of rest.matchAll(STEP)) {
    const [whole, name, index, quotedName] = match;
    end = match.index + whole.length;
    if (name !== undefined) steps.push(name);
    else if (index !== undefined) steps.push(Number(index));
    else {
      const parsed = parseJson(quotedName ?? '');
      if (typeof parsed?.value !== 'string') return undefined;
      steps.push(parsed.value);
    }
  }
  return end === rest.length ? steps : undefined;
}

/** Parsed JSON in a box, so that `null` differs from a failure. */
export function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What stands at a path, boxed; undefined when nothing does. Inherited properties do not count. */
export function valueAt(root: unknown, path: string): { value: unknown } | undefined {
  let value = root;
  for (const step of stepsOf(path) ?? [undefined]) {
    if (typeof step === 'number') {
      if (!Array.isArray(value) || step >= value.length) return undefined;
      value = value[step];
    } else {
      if (step === undefined || !isObject(value) || !Object.hasOwn(value, step)) return undefined;
      value = value[step];
    }
  }
  return { value };
}

/** Equal as JSON: the order of keys does not count, the order of items does. */
export function isEqualJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => isEqualJson(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && isEqualJson(a[key], b[key]));
}
