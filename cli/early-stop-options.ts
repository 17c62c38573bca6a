import type { Command } from 'commander';
import { askedPolicy } from './ci/policy.js';
import { usageError } from './failures.js';
import { share, wholeNumber } from './options.js';

export interface EarlyStopOptions {
  earlyStop?: string;
  baseline?: string;
  errorRate?: number;
  minCases?: number;
}

export const withEarlyStop = (command: Command): Command =>
  command
    .option(
      '--early-stop <policy>',
      'end as soon as the verdict of these rules is certain: id, id@version, or a .json file',
    )
    .option('--baseline <scorecard>', 'with --early-stop: what regressions count against, an id or a pinned name')
    .option('--error-rate <share>', 'with --early-stop: how often the verdict may be wrong, 0.05 if not given', share)
    .option('--min-cases <n>', 'with --early-stop: not before so many cases have a verdict', wholeNumber(1));

/** Their part of the body of `POST /scorecards`. */
export async function earlyStopOf(options: EarlyStopOptions): Promise<Record<string, unknown> | undefined> {
  const { earlyStop, baseline, errorRate, minCases } = options;
  if (earlyStop !== undefined) return { policy: await askedPolicy(earlyStop), baseline, errorRate, minCases };
  const given = Object.entries({ '--baseline': baseline, '--error-rate': errorRate, '--min-cases': minCases });
  const [alone] = given.find(([, value]) => value !== undefined) ?? [];
  if (alone) throw usageError(`${alone} goes with --early-stop <policy>`);
  return undefined;
}
