import type { EvalCase } from '../contracts/case.js';
import type { HarnessSpec } from '../contracts/harness.js';
import type { JobSettings } from './job-parts.js';

export interface LifeLimit {
  /** After its start. */
  ms: number;
  /** Why a job is ended that had no result by then; `sinceMs` after its start. */
  reason(sinceMs: number): string;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/**
 * When the platform ends a job itself. A process has no timer but this one. A wrapper has its own, and cannot outlive
 * all of them, with a minute to start and to end, unless the job stopped it.
 */
export function lifeLimit(evalCase: EvalCase, { kind }: HarnessSpec, timers: JobSettings['timers']): LifeLimit {
  const { timeoutSec, graders } = evalCase;
  if (kind === 'process') {
    return {
      ms: timeoutSec * 1_000,
      reason: (sinceMs) => `stopped after ${seconds(sinceMs)}: \`timeoutSec\` is ${timeoutSec}`,
    };
  }
  const { setupSec, graderSec, graceSec } = timers;
  const commands = graders.filter((grader) => grader.kind === 'command').length;
  const ms = (setupSec + timeoutSec + commands * graderSec + (2 + commands) * graceSec + 60) * 1_000;
  return {
    ms,
    reason: (sinceMs) =>
      `had no result ${seconds(sinceMs)} after it was started: its own timers, ${ms / 1_000} s in all, did not end it`,
  };
}
