import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Notes its start and its end, whoever brings that about, with what it takes of what: its task is
 * `<seconds> <exit code> <memory in MB> <workspace> <pool>`.
 */
const COMMAND = `
set -- $EVERDICT_TASK
allocation=$(printenv EVERDICT_ATTEMPT)
note() {
  read -r now _ </proc/uptime
  echo "$1 $EVERDICT_RUN_ID \${allocation##*-} $now $memory $workspace $pool" >>"$LEDGER"
}
seconds=$1 exit=$2 memory=$3 workspace=$4 pool=$5
trap 'note end; exit 143' TERM
note start
sleep "$seconds"
trap '' TERM
note end
exit "$exit"
`;

/** What a job takes while it runs. */
export interface JobDemand {
  seconds: number;
  exit?: number;
  /** 0: it declares none. */
  memoryMb?: number;
}

export interface JobNote {
  what: 'start' | 'end';
  runId: string;
  attempt: number;
  /** Seconds since boot: no change of the clock moves it. */
  at: number;
  memoryMb: number;
  workspace: string;
  pool: string;
}

/** Who runs where and when, by the jobs themselves, in the order in which they wrote it. A line this short is appended whole. */
export class JobLedger {
  constructor(private readonly file: string) {
    writeFileSync(file, '');
  }

  get harness() {
    return { env: { LEDGER: this.file }, command: COMMAND };
  }

  caseOf(id: string, { seconds, exit = 0, memoryMb = 0 }: JobDemand, workspace: string, pool: string) {
    const resources = memoryMb > 0 ? { resources: { memoryMb } } : {};
    return { id, task: `${seconds} ${exit} ${memoryMb} ${workspace} ${pool}`, timeoutSec: 60, ...resources };
  }

  get notes(): JobNote[] {
    const lines = readFileSync(this.file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => {
      const [what, runId = '', attempt, at, memoryMb, workspace = '', pool = ''] = line.split(' ');
      if (what !== 'start' && what !== 'end') throw new Error(`not a note: ${line}`);
      return {
        ...{ what, runId, attempt: Number(attempt), at: Number(at) },
        ...{ memoryMb: Number(memoryMb), workspace, pool },
      };
    });
  }

  get length(): number {
    return readFileSync(this.file, 'latin1').split('\n').length - 1;
  }
}

/** Seconds since boot, as the jobs tell the time. */
export const uptime = (): number => Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]);
