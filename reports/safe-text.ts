import { stripVTControlCharacters } from 'node:util';

/** Controls, halves of a letter, and the marks that reorder or hide text. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Text of others on one line, at most so many letters, without anything that does not show. */
export function oneLine(text: string, most: number): string {
  const cut = text.length > most ? `${text.slice(0, most - 1)}…` : text;
  return stripVTControlCharacters(cut).replace(/\s+/g, ' ').replace(UNSAFE, '');
}
