/** Text as Postgres can hold it: NUL and unpaired surrogates become U+FFFD. */
export const storableText = (text: string): string => text.replaceAll(/[\0\p{Surrogate}]/gu, '\uFFFD');

/** JSON text of a value as `jsonb` can hold it: its strings as above. */
export const storableJson = (value: unknown): string => JSON.stringify(storable(value));

function storable(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [storableText(key), storable(member)]));
}
