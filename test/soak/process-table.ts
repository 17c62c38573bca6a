import { readdirSync, readFileSync } from 'node:fs';

export interface LiveProcess {
  pid: number;
  /** Clock ticks since the machine started: with the pid, a process for ever. */
  startTime: string;
  command: string;
  environment: Record<string, string>;
}

function startTimeOf(pid: number): string | undefined {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

function readProcess(pid: number): LiveProcess | undefined {
  try {
    const startTime = startTimeOf(pid);
    if (startTime === undefined) return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
    const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').filter(Boolean);
    const environment = Object.fromEntries(
      variables.map((each) => [each.split('=', 1)[0], each.replace(/^.*?=/s, '')]),
    );
    return { pid, startTime, command, environment };
  } catch {
    // It ended while we looked.
    return undefined;
  }
}

export function isAlive({ pid, startTime }: Pick<LiveProcess, 'pid' | 'startTime'>): boolean {
  try {
    return startTimeOf(pid) === startTime;
  } catch {
    return false;
  }
}

/** All processes that lived at one and the same instant: the end of the look. */
export function liveProcesses(): LiveProcess[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => readProcess(Number(pid)) ?? []).filter(isAlive);
}
