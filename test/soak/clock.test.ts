import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fetched } from '../fetched.js';
import { signalAll } from './dev-site.js';
import { moments, SOAK_MS, survives } from './soak-run.js';

const HOUR = '+3600';

/** Lies about the time of day to whom it is preloaded, as a file says. */
const library = fetched('libfaketime.so', {
  steps: [
    ['apt-get', 'download', 'libfaketime'],
    ['sh', '-c', 'dpkg-deb -x libfaketime*.deb .'],
  ],
  file: /libfaketimeMT\.so\.1$/,
});
if (!library) process.stderr.write('the clock is not tested: `apt-get download libfaketime` brings nothing here\n');

/** At once: an empty file is no time. */
function set(clock: string, offset: string): void {
  writeFileSync(`${clock}.new`, offset);
  renameSync(`${clock}.new`, clock);
}

(library ? test : test.skip)(
  'no result is lost, doubled or changed, and nothing is left, when the clock jumps an hour ahead',
  async () => {
    let clock = '';
    await survives({
      name: 'clock',
      site: (dir) => {
        clock = path.join(path.dirname(dir), 'time-of-day');
        set(clock, '+0');
        return {
          LD_PRELOAD: library ?? '',
          FAKETIME_TIMESTAMP_FILE: clock,
          FAKETIME_NO_CACHE: '1',
          // As with a real clock that is set.
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
        };
      },
      at: moments('clock', 4),
      // What is running when the clock jumps is then adopted by workers that know no other time.
      strike: async ({ site }, index) => {
        if (index > 0) return signalAll(await site.up(index === 3 ? 'api' : 'worker'), 'SIGKILL');
        set(clock, HOUR);
        return 1;
      },
    });
  },
  SOAK_MS,
);
