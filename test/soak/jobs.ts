import { readFileSync, writeFileSync } from 'node:fs';
import type { Random } from '../seeded.js';

type Kind = 'plain' | 'loud' | 'late' | 'stubborn';

export interface SoakCase {
  id: string;
  task: string;
  timeoutSec: number;
  kind: Kind;
}

/** What a loud job prints to each stream. */
export const LOUD_BYTES = 2_000_000;
const FAILING_EXIT = 3;

/**
 * Notes its start and its end, with the attempt, its pid, the time since boot and a word that nobody can know before,
 * which is its answer, too. Its task is `<kind> <seconds> <exit code>`.
 */
const COMMAND = `
set -- $EVERDICT_TASK
read -r word </proc/sys/kernel/random/uuid
allocation=$(printenv EVERDICT_ATTEMPT)
note() {
  read -r now _ </proc/uptime
  echo "$1 $EVERDICT_RUN_ID \${allocation##*-} $$ $now $word $2" >>"$DIARY"
}
note start -
echo "$word"
[ "$1" != stubborn ] || trap '' TERM
if [ "$1" = loud ]; then
  yes out | head -c ${LOUD_BYTES - 37}
  yes err | head -c ${LOUD_BYTES} >&2
fi
sleep "$2"
note end "$3"
exit "$3"
`;

/**
 * Most are short, some outlive every heartbeat; some fail, print much, or run into their time limit. The first 20 hold
 * some of each.
 */
export function soakCases(random: Random, count: number): SoakCase[] {
  return Array.from({ length: count }, (_, i) => {
    const id = `case/${i}`;
    const draw = i < 20 ? 5 * i : random(0, 99);
    if (draw < 5) return { id, kind: 'late', timeoutSec: 1, task: 'late 60 0' };
    if (draw < 10) return { id, kind: 'stubborn', timeoutSec: 1, task: 'stubborn 60 0' };
    const exit = random(0, 3) === 0 ? FAILING_EXIT : 0;
    const kind = draw < 20 ? 'loud' : 'plain';
    const deciseconds = draw > 88 ? random(25, 60) : random(0, 18);
    return { id, kind, timeoutSec: 60, task: `${kind} ${deciseconds / 10} ${exit}` };
  });
}

export interface Note {
  what: 'start' | 'end';
  runId: string;
  attempt: number;
  pid: number;
  /** Seconds since boot: no change of the clock moves it. */
  at: number;
  word: string;
  exit?: number;
}

/** What the jobs of a scorecard wrote to disk, by themselves. A line this short is appended whole. */
export class Diary {
  constructor(readonly file: string) {
    writeFileSync(file, '');
  }

  get harness() {
    return { env: { DIARY: this.file }, command: COMMAND };
  }

  get notes(): Note[] {
    const lines = readFileSync(this.file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => {
      const [what, runId = '', attempt, pid, at, word = '', exit] = line.split(' ');
      if (what !== 'start' && what !== 'end') throw new Error(`not a note: ${line}`);
      const note = { what, runId, attempt: Number(attempt), pid: Number(pid), at: Number(at), word } as const;
      return exit === '-' ? note : { ...note, exit: Number(exit) };
    });
  }

  get length(): number {
    return readFileSync(this.file, 'latin1').split('\n').length - 1;
  }
}
