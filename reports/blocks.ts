/** A piece of running text: words, or what is quoted as it is: an id, a command, the words of a job. */
export type Piece = string | { quoted: string };
export type Text = readonly Piece[];

export const quoted = (text: string): Piece => ({ quoted: text });

export interface Column {
  title: string;
  isNumber?: boolean;
}

/** What a report is made of, whatever it is written in. Every text in it is unsafe until a writer has escaped it. */
export type Block =
  | { kind: 'text'; text: Text }
  | { kind: 'list'; items: readonly Text[]; more: number }
  | { kind: 'table'; heads: readonly Column[]; rows: readonly (readonly Text[])[]; more: number }
  | { kind: 'commands'; commands: readonly { command: string; why: string }[] }
  | { kind: 'links'; links: readonly { title: string; url: string }[] };

export interface Section {
  title: string;
  blocks: readonly Block[];
}

/** At most `most` of them, and how many that leaves out. `total` counts those that were not even given. */
export function bounded<Item>(items: readonly Item[], most: number, total = items.length) {
  const shown = items.slice(0, most);
  return { shown, more: Math.max(total, items.length) - shown.length };
}
