import { oneLine } from './safe-text.js';

const LONGEST_TEXT = 1_000;
const LONGEST_QUOTE = 300;

/** Stops what Git hosts make of names and numbers after a mark: it does not show. */
const BREAK = '\u200b';

/**
 * Running text that stays text. A backslash alone is not enough: hosts look for mentions, references and addresses in
 * what is left once Markdown was read, so these are broken in two.
 */
export function escaped(text: string): string {
  return broken(oneLine(text, LONGEST_TEXT))
    .replace(/[\\`*_[\]|~]/g, '\\$&')
    .replace(/^([-+=#])(?=\1*(\s|$))/, '\\$1')
    .replace(/^\d+(?=[.)](\s|$))/, `$&${BREAK}`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('$', '&#36;');
}

const broken = (text: string): string =>
  text
    .replace(/[@#!~%&^](?=[\p{L}\p{N}_"'-])/gu, `$&${BREAK}`)
    .replace(/:(?=\/\/)/g, `$&${BREAK}`)
    .replace(/\bwww(?=\.)/gi, `$&${BREAK}`)
    .replace(/\b[0-9a-f]{6}(?=[0-9a-f]+\b)/gi, `$&${BREAK}`)
    .replace(/\b(?:GH|[A-Z]{2,10})-(?=\d)/g, `$&${BREAK}`);

/** Code: hosts leave it alone. It ends at more backticks than it has in a row, and a table would split it at a bar. */
export function quotedText(text: string): string {
  const line = oneLine(text, LONGEST_QUOTE)
    .replace(/\\(?=\|)/g, '\\ ')
    .replaceAll('|', '\\|');
  if (line === '') return '';
  const runs = line.match(/`+/g) ?? [];
  const fence = '`'.repeat(Math.max(0, ...runs.map(({ length }) => length)) + 1);
  const pad = runs.length > 0 ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** A link of ours. What is no address of the web is text. */
export function linkTo(title: string, url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return `${escaped(title)} ${quotedText(url)}`;
  return `[${escaped(title)}](<${new URL(url).href.replace(/[<>]/g, encodeURIComponent)}>)`;
}
