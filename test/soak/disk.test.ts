import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode } from '../../dev/process-id.js';
import { moments, SOAK_MS, survives } from './soak-run.js';

/** A small disk of its own; false where that takes rights we do not have. */
function mount(dir: string, size: string): boolean {
  mkdirSync(dir, { recursive: true });
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', dir]).status === 0;
}

const unmount = (dir: string): void => void spawnSync('umount', [dir]);

function canMount(): boolean {
  const dir = mkdtempSync(path.join(tmpdir(), 'everdict-disk-'));
  const isMounted = mount(dir, '1m');
  if (isMounted) unmount(dir);
  else process.stderr.write('a full disk is not tested: a small one cannot be mounted here, which takes root\n');
  rmSync(dir, { recursive: true });
  return isMounted;
}

/** Takes whatever is free on the disk. Whether it is full now. */
function fill(file: string): boolean {
  const block = Buffer.alloc(1_024 * 1_024);
  try {
    for (;;) writeFileSync(file, block, { flag: 'a' });
  } catch (error) {
    return hasCode(error, 'ENOSPC');
  }
}

describe('no result is lost, doubled or changed, and nothing is left, when now and then', () => {
  // Postgres and Temporal may end themselves, and the launcher give up and take the jobs along.
  (canMount() ? test : test.skip).each([
    ['the disk of the jobs is full', 'full disk of jobs', 'state', '48m', 5_000],
    ['the disk of everything is full', 'full disk', '.', '400m', 3_000],
  ])(
    '%s',
    async (_title, name, below, size, longestMs) => {
      let disk = '';
      await survives({
        name,
        site: (dataDir) => {
          disk = path.join(dataDir, below);
          mount(disk, size);
          return {};
        },
        leave: () => unmount(disk),
        at: moments(name, 4),
        strike: async ({ random }) => {
          const isFull = fill(path.join(disk, 'filler'));
          await sleep(random(500, longestMs));
          rmSync(path.join(disk, 'filler'), { force: true });
          return isFull ? 1 : 0;
        },
        mayLoseJobs: true,
      });
    },
    SOAK_MS,
  );
});
