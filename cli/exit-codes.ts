import type { GateVerdict } from '../contracts/gate.js';
import type { ScorecardReply } from './wire.js';

/** What `everdict` ends with. */
export const EXIT = { passed: 0, failed: 1, unclear: 2, refused: 3, unreachable: 4, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_HELP = `
Exit codes:
  0    all cases passed (or the command did what it says), or it ended early with the verdict pass
  1    some case failed, or it ended early with the verdict block
  2    cannot tell: a case errored, was cancelled, or nothing ran; or an operator decided one
  3    wrong usage, or the platform refused the input
  4    the platform cannot be reached
  130  interrupted while waiting; the scorecard itself goes on`;

/**
 * A missing answer outweighs a wrong one: with an errored case, or one that was decided, the scorecard cannot be compared.
 * One that ended early did so for its verdict.
 */
export function exitCodeOf({
  status,
  counts,
  stoppedEarly,
}: Pick<ScorecardReply, 'status' | 'counts' | 'stoppedEarly'>): ExitCode {
  if (stoppedEarly && status === 'completed') return exitCodeOfVerdict(stoppedEarly.verdict);
  const answered = counts.passed + counts.failed;
  if (counts.decided > 0) return EXIT.unclear;
  if (status !== 'completed' || answered === 0 || answered < counts.submitted) return EXIT.unclear;
  return counts.failed > 0 ? EXIT.failed : EXIT.passed;
}

/** What stands for neither pass nor block says that nobody can tell. */
export function exitCodeOfVerdict(verdict: GateVerdict): ExitCode {
  if (verdict === 'pass') return EXIT.passed;
  return verdict === 'block' ? EXIT.failed : EXIT.unclear;
}
