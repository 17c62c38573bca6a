import type { Rate } from '../contracts/scorecard-numbers.js';

export const NOTHING = '–';

export const percent = (share: number | null): string => (share === null ? NOTHING : `${(share * 100).toFixed(1)} %`);

/** With its sign, for a difference of two shares, in points. */
export const points = (difference: number | null): string =>
  difference === null ? NOTHING : `${signed((difference * 100).toFixed(1))} points`;

const signed = (digits: string): string => (digits.startsWith('-') ? `−${digits.slice(1)}` : `+${digits}`);

export const interval = (low: number | null, high: number | null, write = percent): string =>
  low === null || high === null ? NOTHING : `${write(low)} to ${write(high)}`;

/** `80.0 % of 10 (49.0 % to 94.3 %)` */
export const rateText = ({ n, rate, low, high }: Rate): string =>
  rate === null ? 'nothing measured' : `${percent(rate)} of ${n} (${interval(low, high)})`;

const THOUSANDS = /\B(?=(\d{3})+(?!\d))/g;

export const whole = (value: number): string => Math.round(value).toString().replace(THOUSANDS, ' ');

export const dollars = (value: number): string => `${value.toFixed(Math.abs(value) < 1 ? 4 : 2)} USD`;

/** `820 ms`, `4.2 s` or `3:05 min` */
export function lasting(ms: number): string {
  const size = Math.abs(ms);
  if (size < 1_000) return `${Math.round(ms)} ms`;
  if (size < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(size / 1_000);
  return `${ms < 0 ? '-' : ''}${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`;
}

/** `1 case`, `3 cases` */
export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${whole(count)} ${count === 1 ? one : several}`;

export const withSign = (value: number, write: (value: number) => string): string =>
  value < 0 ? `−${write(-value)}` : `+${write(value)}`;
