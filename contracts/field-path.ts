const PLAIN_NAME = /^[A-Za-z_$][A-Za-z0-9_$-]*$/;
const LONGEST_NAME = 100;

/** A place in an input, as people write it: `cases[3].graders[0].pattern`, `env["a b"]`, empty for the whole. */
export function fieldPath(segments: readonly PropertyKey[]): string {
  let path = '';
  for (const segment of segments) {
    if (typeof segment === 'number') path += `[${segment}]`;
    else if (typeof segment === 'string' && PLAIN_NAME.test(segment)) path += path ? `.${segment}` : segment;
    else path += `[${quoted(String(segment))}]`;
  }
  return path;
}

/** Text of an input as a message shows it: quoted, escaped, cut. */
export function quoted(text: string, longest = LONGEST_NAME): string {
  const characters = text.length > longest ? `${[...text.slice(0, longest)].slice(0, -1).join('')}…` : text;
  return JSON.stringify(characters).replaceAll(/[\u007f-\u009f\u2028\u2029]/g, '');
}
