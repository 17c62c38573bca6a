import type { Usage } from './case-result.js';

const numberAt = (report: object, key: string): number | undefined => {
  const value: unknown = Object.hasOwn(report, key) ? Reflect.get(report, key) : undefined;
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
};

/** The numbers of a usage report: `inputTokens`, `outputTokens` (or `tokens`), `costUsd` and `steps`. What is no such number is left out. */
export function usageOf(report: unknown): Usage {
  if (typeof report !== 'object' || report === null) return {};
  const [input, output] = [numberAt(report, 'inputTokens'), numberAt(report, 'outputTokens')];
  const parts = input === undefined && output === undefined ? undefined : (input ?? 0) + (output ?? 0);
  const tokens = numberAt(report, 'tokens') ?? parts;
  const [costUsd, steps] = [numberAt(report, 'costUsd'), numberAt(report, 'steps')];
  return {
    ...(tokens !== undefined && { tokens }),
    ...(costUsd !== undefined && { costUsd }),
    ...(steps !== undefined && { steps }),
  };
}
