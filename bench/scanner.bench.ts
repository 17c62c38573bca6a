import { RecordScanner } from '../policy/record-scanner.js';
import { type Figures, rounded } from './figures.js';

const PIECE = 256 * 1_024;
const PIECES = 1_000;

const FILLED: Record<string, Buffer> = {
  'lines of one character': Buffer.alloc(PIECE, 'y\n'),
  'one long line': Buffer.alloc(PIECE, 'x'),
  'almost our marker': Buffer.alloc(PIECE, '__EVERDICT_RESULT__ 0000\n'),
};

/** What looking for the record costs the worker, in the pieces in which a job's output is read. */
export async function benchScanner(): Promise<Figures> {
  const table = Object.entries(FILLED).map(([what, piece]) => {
    const scanner = new RecordScanner('c0ffee00c0ffee00c0ffee00c0ffee00');
    const began = performance.now();
    for (let i = 0; i < PIECES; i += 1) scanner.push(piece);
    const seconds = (performance.now() - began) / 1_000;
    return [what, { 'MB/s': rounded((PIECE * PIECES) / 1_000_000 / seconds) }] as const;
  });
  return { scanner: Object.fromEntries(table) };
}
