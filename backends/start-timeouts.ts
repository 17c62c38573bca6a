import type { AttemptFailure } from '../contracts/attempt.js';

/** A job that was not placed within the patience for it. */
export const placementTimeout = (detail: string, patienceSec: number): AttemptFailure => ({
  code: 'PLACEMENT_TIMEOUT',
  message: `not placed within ${patienceSec} s (\`placementPatienceSec\`): ${detail}`,
});

/** A job that was placed, and has come no further than this. */
export const startTimeout = (progress: string, afterSec: number): AttemptFailure => ({
  code: 'START_TIMEOUT',
  message: `not started ${afterSec} s after it was placed: ${progress}`,
});
