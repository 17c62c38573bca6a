import type { Amounts } from '../contracts/inspection.js';

const NAMES = ['cpuMhz', 'cpuMillicores', 'memoryMb', 'gpus'] as const;

/** Each amount that any part has. */
export function sumOf(parts: readonly Amounts[]): Amounts {
  const sum: Amounts = {};
  for (const part of parts) {
    for (const name of NAMES) {
      if (part[name] !== undefined) sum[name] = (sum[name] ?? 0) + part[name];
    }
  }
  return sum;
}
