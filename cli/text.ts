import { stripVTControlCharacters } from 'node:util';

/** C0, DEL and C1 controls, and the marks that reorder or hide text. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const UNSAFE_BUT_LAYOUT = /(?![\n\t])[\p{Cc}\p{Cf}]/gu;
/** Text of others on one line, safe for a terminal. */
export const plain = (text: string): string =>
  stripVTControlCharacters(text)
    .replace(/[\r\n\t]+/g, ' ')
    .replace(UNSAFE, '');

/** Output of a job for a terminal: lines and tabs stay, everything that moves the cursor goes. */
export const plainLines = (text: string): string => stripVTControlCharacters(text).replace(UNSAFE_BUT_LAYOUT, '');

/** Columns a terminal needs for the text: wide for East Asian letters and emoji, none for combining marks. */
export function widthOf(text: string): number {
  let width = 0;
  for (const letter of text) width += letterWidth(letter);
  return width;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

function letterWidth(letter: string): number {
  if (/\p{M}/u.test(letter)) return 0;
  return WIDE.test(letter) || (letter.codePointAt(0) ?? 0) >= 0x20000 ? 2 : 1;
}

/** Cut to so many columns, with a mark where something is missing. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  let width = 0;
  for (const letter of text) {
    width += letterWidth(letter);
    if (width > columns - 1) break;
    kept += letter;
  }
  return `${kept.trimEnd()}…`;
}

export const padEnd = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - widthOf(text)));
const padStart = (text: string, columns: number): string => ' '.repeat(Math.max(0, columns - widthOf(text))) + text;

export interface Column {
  title: string;
  align?: 'left' | 'right';
  /** Longer cells are cut. The last column is cut by the terminal's width only. */
  max?: number;
}

/** A table with a title row; cells are made safe here. `columns` is the width of the terminal. */
export function table(heads: readonly Column[], rows: readonly (readonly string[])[], columns: number): string {
  const cells = [heads.map(({ title }) => title), ...rows.map((row) => row.map(plain))];
  const widths = heads.map(({ max }, at) =>
    Math.min(max ?? Number.POSITIVE_INFINITY, Math.max(...cells.map((row) => widthOf(row[at] ?? '')))),
  );
  const lines = cells.map((row) =>
    heads
      .map(({ align }, at) => {
        const width = widths[at] ?? 0;
        const cell = cut(row[at] ?? '', width);
        return align === 'right' ? padStart(cell, width) : padEnd(cell, width);
      })
      .join('  ')
      .trimEnd(),
  );
  return lines.map((line) => `${cut(line, columns)}\n`).join('');
}

/** `m:ss`, or `h:mm:ss`. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const two = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
