import { readdirSync, realpathSync, statfsSync, statSync } from 'node:fs';
import path from 'node:path';

const MB = 1_024 * 1_024;
const BLOCK_BYTES = 512;

/** Room left where a directory is, in MB. */
export function freeMb(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return Math.floor((bavail * bsize) / MB);
}

/** What a directory takes, in MB; what a link in it leads to counts. What vanishes meanwhile does not. */
export const usedMb = (dir: string): number => Math.round(usedBytes(dir) / MB);

function usedBytes(place: string): number {
  try {
    const stats = statSync(place);
    const own = stats.blocks * BLOCK_BYTES;
    if (!stats.isDirectory()) return own;
    const names = readdirSync(realpathSync(place));
    return names.reduce((sum, name) => sum + usedBytes(path.join(place, name)), own);
  } catch {
    return 0;
  }
}
