import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** What jobs note themselves, independent of the platform: a line at their start and one at their end. */
export class JobNotes {
  private constructor(readonly file: string) {}

  static in(dir: string, name: string): JobNotes {
    const file = path.join(dir, name);
    writeFileSync(file, '');
    return new JobNotes(file);
  }

  /** A harness whose task is `<seconds> <exit code> <declared memory in MB>`. A line this short is appended whole. */
  get harness() {
    return {
      env: { NOTES: this.file },
      command: [
        'set -- $EVERDICT_TASK',
        'echo "start $EVERDICT_RUN_ID $3" >> "$NOTES"',
        'sleep "$1"',
        'echo "end $EVERDICT_RUN_ID $3" >> "$NOTES"',
        'exit "$2"',
      ].join('\n'),
    };
  }

  /** In the order in which they were noted. */
  get lines() {
    const lines = readFileSync(this.file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => {
      const [what = '', runId = '', memoryMb] = line.split(' ');
      return { what, runId, memoryMb: Number(memoryMb) };
    });
  }

  count(what: 'start' | 'end'): number {
    return this.lines.filter((line) => line.what === what).length;
  }

  /** How often each run was started. */
  get starts(): Map<string, number> {
    const starts = new Map<string, number>();
    for (const { what, runId } of this.lines) {
      if (what === 'start') starts.set(runId, (starts.get(runId) ?? 0) + 1);
    }
    return starts;
  }

  get ended(): Set<string> {
    return new Set(this.lines.filter(({ what }) => what === 'end').map(({ runId }) => runId));
  }

  /** Runs that noted their start and not their end. */
  get running(): string[] {
    const { ended } = this;
    return [...this.starts.keys()].filter((runId) => !ended.has(runId));
  }

  /** The most that ran at once, and the most memory that those together declare. */
  get most(): { jobs: number; memoryMb: number } {
    const now = { jobs: 0, memoryMb: 0 };
    const most = { jobs: 0, memoryMb: 0 };
    for (const { what, memoryMb } of this.lines) {
      const sign = what === 'start' ? 1 : -1;
      now.jobs += sign;
      now.memoryMb += sign * memoryMb;
      most.jobs = Math.max(most.jobs, now.jobs);
      most.memoryMb = Math.max(most.memoryMb, now.memoryMb);
    }
    return most;
  }
}
