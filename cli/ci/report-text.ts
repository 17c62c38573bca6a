import type { Block, Section, Text } from '../../reports/blocks.js';
import type { ScorecardReportData } from '../../reports/data.js';
import { introOf, sectionsOf, titleOf } from '../../reports/sections.js';
import { plain, table } from '../text.js';

/** Entries of each list on a terminal; files have more. */
const SHOWN = 20;

/** The report for a terminal: its last line is what it comes to. */
export function reportText(data: ScorecardReportData, columns: number): string {
  const parts = sectionsOf(data, SHOWN).map((section) => sectionText(section, columns));
  return `\n${inline(introOf(data))}\n${parts.join('')}\n${plain(titleOf(data))}\n`;
}

const sectionText = ({ title, blocks }: Section, columns: number): string =>
  `\n${plain(title)}\n${blocks.map((block) => blockText(block, columns)).join('')}`;

function blockText(block: Block, columns: number): string {
  switch (block.kind) {
    case 'text':
      return `${inline(block.text)}\n`;
    case 'list':
      return block.items.map((item) => `  - ${inline(item)}\n`).join('') + moreText(block.more);
    case 'table': {
      const heads = block.heads.map(({ title, isNumber }) => ({ title, align: isNumber ? 'right' : 'left' }) as const);
      const rows = block.rows.map((row) => row.map(inline));
      return table(heads, rows, columns) + moreText(block.more);
    }
    case 'commands':
      return block.commands.map(({ command, why }) => `  ${plain(command)}   ${plain(why)}\n`).join('');
    case 'links':
      return block.links.map(({ title, url }) => `  ${plain(url)}   ${plain(title)}\n`).join('');
  }
}

const moreText = (more: number): string => (more > 0 ? `… and ${more} more\n` : '');

const inline = (text: Text): string =>
  text.map((piece) => plain(typeof piece === 'string' ? piece : piece.quoted)).join('');
