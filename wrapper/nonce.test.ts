import { Attempt, discardAttempts } from './attempts.js';
import { inEveryShell, removeShells } from './shells.js';

afterEach(discardAttempts);
afterAll(removeShells);

/** Prints the environments and command lines of all processes, and the files of the attempt. */
const SNOOP = `cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>&-
for file in "$HOME"/../* "$TMPDIR"/* "$EVERDICT_TASK_FILE"; do [ ! -f "$file" ] || cat "$file"; done`;

/** Names the descriptors, other than the standard ones, that a script has or that the wrapper holds for it to read. */
const DESCRIPTORS = `read -r wrapper _ <"$HOME/../pid"
for fd in 3 4 5 6 7 8 9; do
  [ ! -e "/proc/self/fd/$fd" ] || echo "inherited $fd"
done
[ ! -e "/proc/$wrapper/fd/9" ] || echo 'readable 9'`;

describe('the nonce', () => {
  inEveryShell('is in no environment, command line or file while the job runs', async (shell) => {
    const attempt = new Attempt(shell, { setup: [SNOOP], command: SNOOP });
    const { log, record } = await attempt.run();

    expect(log.toString('latin1').split('say hello').length).toBeGreaterThan(2);
    expect(log.includes(attempt.nonce)).toBe(false);
    expect(record).toMatchObject({ status: 0 });
  });

  inEveryShell('is behind no descriptor that a script can reach', async (shell) => {
    const attempt = new Attempt(shell, { setup: [DESCRIPTORS], command: DESCRIPTORS, graders: [DESCRIPTORS] });
    const { log, record } = await attempt.run();

    expect(log.toString()).toBe('');
    expect(record?.graders[0]?.output).toHaveLength(0);
  });
});
