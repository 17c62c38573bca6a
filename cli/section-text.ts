import type { Block, Piece, Section, Text } from '../reports/blocks.js';
import { plain, table } from './text.js';

const pieceText = (piece: Piece): string => (typeof piece === 'string' ? piece : piece.quoted);

const textOf = (text: Text): string => plain(text.map(pieceText).join(''));

const moreOf = (more: number): string => (more > 0 ? `… and ${more} more\n` : '');

function blockText(block: Block, columns: number): string {
  switch (block.kind) {
    case 'text':
      return `${textOf(block.text)}\n`;
    case 'list':
      return `${block.items.map((item) => `  ${textOf(item)}\n`).join('')}${moreOf(block.more)}`;
    case 'table': {
      if (block.rows.length === 0) return moreOf(block.more);
      const last = block.heads.length - 1;
      const heads = block.heads.map(({ title, isNumber }, at) => ({
        title,
        align: isNumber ? ('right' as const) : ('left' as const),
        ...(at < last && { max: 40 }),
      }));
      const rows = block.rows.map((row) => row.map((cell) => cell.map(pieceText).join('')));
      return `${table(heads, rows, columns)}${moreOf(block.more)}`;
    }
    case 'commands':
      return block.commands.map(({ command, why }) => `  ${plain(command)}   ${plain(why)}\n`).join('');
    case 'links':
      return block.links.map(({ title, url }) => `  ${plain(title)}: ${plain(url)}\n`).join('');
  }
}

/** A section of a report for a terminal. */
export const sectionText = ({ title, blocks }: Section, columns: number): string =>
  `${plain(title)}\n${blocks.map((block) => blockText(block, columns)).join('')}`;
