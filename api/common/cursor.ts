import { z } from 'zod';
import { PlatformError } from '../../contracts/errors.js';

/** A page of a list: `next` is an opaque cursor, absent-as-null on the last page. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ items: z.array(item), next: z.string().nullable() });
}

export interface Page<Item> {
  items: Item[];
  next: string | null;
}

/** Query of every list; lists with filters extend it. */
export const ListQuery = z.strictObject({
  cursor: z.string().max(1_000).optional().describe('`next` of the page before'),
  limit: z.coerce.number().int().min(1).max(500).default(100).describe('Items on one page'),
});
export type ListQuery = z.infer<typeof ListQuery>;

export function encodeCursor(position: unknown): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

export function decodeCursor<Schema extends z.ZodType>(
  schema: Schema,
  cursor: string | undefined,
): z.infer<Schema> | undefined {
  if (cursor === undefined) return undefined;
  const position = schema.safeParse(parse(Buffer.from(cursor, 'base64url').toString()));
  if (position.success) return position.data;
  const message = 'is not a cursor of this list: pass `next` of the page before, unchanged';
  throw new PlatformError('BAD_REQUEST', `cursor ${message}`, { errors: [{ path: 'cursor', message }] });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Makes a page of `limit` items out of rows that were read with one more than that. */
export function toPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
  position: (row: Row) => unknown,
): Page<Item> {
  const kept = rows.slice(0, limit);
  const last = kept.at(-1);
  const next = rows.length > limit && last !== undefined ? encodeCursor(position(last)) : null;
  return { items: kept.map(toItem), next };
}
