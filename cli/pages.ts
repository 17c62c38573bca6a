import { z } from 'zod';
import type { Call, HttpClient } from './http.client.js';
import { pageOf } from './wire.js';

/** The most items the platform gives on one page. */
const PAGE = 500;

/** What a list command prints: so many items, and the cursor of what follows. */
export interface Listing<Item> {
  items: Item[];
  /** The items as they came, for `--json`. */
  raw: unknown[];
  next: string | null;
}

export interface ListQuery {
  limit: number;
  cursor?: string;
}

/** What reads of the platform. */
export interface Reader {
  client: Pick<HttpClient, 'get'>;
}

/** Reads pages until there are `limit` items or no more. */
export async function list<Item extends z.ZodType>(
  { client }: Reader,
  path: string,
  item: Item,
  { limit, cursor }: ListQuery,
  filter: NonNullable<Call['query']> = {},
  /** Is given each page as it came. */
  look: (page: unknown) => void = () => {},
): Promise<Listing<z.infer<Item>>> {
  const found: Listing<z.infer<Item>> = { items: [], raw: [], next: cursor ?? null };
  do {
    const query = { ...filter, limit: Math.min(PAGE, limit - found.items.length), cursor: found.next ?? undefined };
    const { reply, raw } = await client.get(path, pageOf(item), { query });
    found.items.push(...reply.items);
    found.raw.push(...rawItems.parse(raw).items);
    found.next = reply.next ?? null;
    look(raw);
  } while (found.next !== null && found.items.length < limit);
  return found;
}

const rawItems = z.object({ items: z.array(z.unknown()) });

/** Says how to see what a bounded list leaves out. */
export const moreOf = ({ next }: Pick<Listing<unknown>, 'next'>): string =>
  next === null ? '' : `more: the same command with --cursor ${next}\n`;
