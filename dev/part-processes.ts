import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import type { DataPaths } from './data-dir.js';
import { identify, type ProcessId } from './process-id.js';

/** In order of start. */
export const PART_NAMES = ['postgres', 'temporal', 'api', 'worker'] as const;
export type PartName = (typeof PART_NAMES)[number];

export interface PartProcess extends ProcessId {
  name: PartName;
}

const SCRIPTS: readonly (readonly [PartName, string])[] = [
  ['api', '/api/main.js'],
  ['worker', '/workers/main.js'],
];

/**
 * Every part that runs on a data directory, in order of start, told by its command line: a launcher that was killed
 * may have started it without having noted it.
 */
export function partsOn(paths: DataPaths): PartProcess[] {
  const found = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const name = partOf(Number(pid), paths);
      return name ? [{ name, ...identify(Number(pid)) }] : [];
    })
    .filter(({ startTime }) => startTime !== '');
  return PART_NAMES.flatMap((name) => found.filter((part) => part.name === name));
}

function partOf(pid: number, paths: DataPaths): PartName | undefined {
  const words = wordsOf(pid, 'cmdline');
  if (words.includes('--db-filename') && words.includes(paths.temporal)) return 'temporal';
  if (words[1] === '-D' && words[2] && [paths.postgres, realOf(paths.postgres)].includes(words[2])) return 'postgres';
  const script = SCRIPTS.find(([, end]) => words.some((word) => word.endsWith(end)));
  if (!script || !wordsOf(pid, 'environ').includes(`EVERDICT_STATE_DIR=${paths.state}`)) return undefined;
  return script[0];
}

/** Nothing for a process that is gone, or another user's. */
function wordsOf(pid: number, file: 'cmdline' | 'environ'): string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function realOf(dir: string): string {
  try {
    return realpathSync(dir);
  } catch {
    return dir;
  }
}
