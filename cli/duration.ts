import { InvalidArgumentError } from 'commander';

const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** `90s`, `30m`, `2h` or `1d`, as seconds. */
export function duration(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (SECONDS[unit] ?? Number.NaN);
  if (seconds >= 1) return seconds;
  throw new InvalidArgumentError('write it as 90s, 30m, 2h or 1d.');
}
