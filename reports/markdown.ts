import type { Block, Piece, Section, Text } from './blocks.js';
import type { ScorecardReportData } from './data.js';
import { escaped, linkTo, quotedText } from './markdown-text.js';
import { introOf, sectionsOf, titleOf } from './sections.js';

/** A job summary of GitHub may have 1 MB, a comment 65,536 letters. */
const DEFAULT_LIMIT_BYTES = 60_000;

/** Entries of each list, tried until the whole fits. */
const LIST_SIZES = [100, 40, 15, 5, 1];

const CUT = '\n\n*This report was cut: it is too long to be shown here.*\n';

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/**
 * The report as GitHub flavoured Markdown of at most so many bytes, for job summaries and comments. No text of a job in
 * it links, mentions anybody, breaks a table or is HTML.
 */
export function markdownReport(data: ScorecardReportData, limitBytes = DEFAULT_LIMIT_BYTES): string {
  let text = '';
  for (const most of LIST_SIZES) {
    text = write(data, most);
    if (bytesOf(text) <= limitBytes) return text;
  }
  const room = limitBytes - bytesOf(CUT);
  let kept = '';
  for (const line of text.split('\n')) {
    if (bytesOf(kept) + bytesOf(line) + 1 > room) break;
    kept += `${line}\n`;
  }
  return kept + CUT;
}

function write(data: ScorecardReportData, most: number): string {
  const head = `## ${escaped(titleOf(data))}\n\n${inline(introOf(data))}\n`;
  return head + sectionsOf(data, most).map(section).join('');
}

const section = ({ title, blocks }: Section): string => `\n### ${escaped(title)}\n${blocks.map(block).join('')}`;

function block(each: Block): string {
  switch (each.kind) {
    case 'text':
      return `\n${inline(each.text)}\n`;
    case 'list':
      return `\n${each.items.map((item) => `- ${inline(item)}\n`).join('')}${moreLine(each.more)}`;
    case 'table':
      return table(each);
    case 'commands':
      return `\n${each.commands.map(({ command, why }) => `- ${quotedText(command)} ${escaped(why)}\n`).join('')}`;
    case 'links':
      return `\n${each.links.map(({ title, url }) => `- ${linkTo(title, url)}\n`).join('')}`;
  }
}

function table({ heads, rows, more }: Block & { kind: 'table' }): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  const titles = line(heads.map(({ title }) => escaped(title) || ' '));
  const rules = line(heads.map(({ isNumber }) => (isNumber ? '--:' : '---')));
  return `\n${titles}${rules}${rows.map((row) => line(row.map(inline))).join('')}${moreLine(more)}`;
}

const moreLine = (more: number): string => (more > 0 ? `\n… and ${more} more\n` : '');

const inline = (text: Text): string => text.map(piece).join('');

const piece = (each: Piece): string => (typeof each === 'string' ? escaped(each) : quotedText(each.quoted));
