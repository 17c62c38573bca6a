import type { ScorecardReply } from './wire.js';

/** What `everdict` ends with. */
export const EXIT = { passed: 0, failed: 1, unclear: 2, refused: 3, unreachable: 4, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_HELP = `
Exit codes:
  0    all cases passed (or the command did what it says)
  1    some case failed
  2    cannot tell: a case errored, was cancelled, or nothing ran; or an operator decided one
  3    wrong usage, or the platform refused the input
  4    the platform cannot be reached
  130  interrupted while waiting; the scorecard itself goes on`;

/** A missing answer outweighs a wrong one: with an errored case, or one that was decided, the scorecard cannot be compared. */
export function exitCodeOf({ status, counts }: Pick<ScorecardReply, 'status' | 'counts'>): ExitCode {
  const answered = counts.passed + counts.failed;
  if (counts.decided > 0) return EXIT.unclear;
  if (status !== 'completed' || answered === 0 || answered < counts.submitted) return EXIT.unclear;
  return counts.failed > 0 ? EXIT.failed : EXIT.passed;
}
