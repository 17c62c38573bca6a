import type { RunErrorCode } from '../contracts/attempt.js';
import type { Verdict } from './results.js';

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 60_000;

/** Infrastructure broke, by positive evidence, and another try may find it whole. Other infra codes are final. */
const RETRIED: ReadonlySet<RunErrorCode> = new Set([
  'NODE_LOST',
  'EVICTED',
  'IMAGE_PULL_FAILED',
  'ALLOCATION_LOST',
  'RESULT_LOST',
  'PLACEMENT_TIMEOUT',
  'START_TIMEOUT',
  'CLUSTER_UNREACHABLE',
]);

export type NextStep = { kind: 'settle' } | { kind: 'retry'; delayMs: number };

/**
 * What follows attempt number `attempt` (from 1). A run gets at most `infraRetries` further attempts; the slot is given
 * back while it waits 1 s, 2 s, 4 s, … and at most 60 s.
 */
export function nextStep(verdict: Verdict, attempt: number, infraRetries: number): NextStep {
  const isRetried = verdict.outcome === 'errored' && RETRIED.has(verdict.errorCode) && attempt <= infraRetries;
  if (!isRetried) return { kind: 'settle' };
  return { kind: 'retry', delayMs: Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1)) };
}
