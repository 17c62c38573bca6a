const QUANTITY = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)|[eE]([+-]?\d{1,3}))?$/;
const SMALL = ['m', 'u', 'n'];
const LARGE = ['k', 'M', 'G', 'T', 'P', 'E'];

/** In thousandths, which is as far as quotas and capacities count; no quantity: NaN. */
export function milliOf(text: unknown): number {
  const [, digits, suffix = '', exponent] = QUANTITY.exec(String(text)) ?? [];
  if (digits === undefined) return Number.NaN;
  const binary = suffix.endsWith('i') ? 1024 ** (['K', 'M', 'G', 'T', 'P', 'E'].indexOf(suffix.slice(0, 1)) + 1) : 1;
  const power = 3 * (LARGE.indexOf(suffix) + 1) - 3 * (SMALL.indexOf(suffix) + 1) + Number(exponent ?? 0);
  return Math.ceil(Number(`${digits}e${power + 3}`) * binary - 1e-6);
}

const STEPS: readonly (readonly [string, number])[] = [
  ['Ti', 1024 ** 4],
  ['Gi', 1024 ** 3],
  ['Mi', 1024 ** 2],
  ['Ki', 1024],
];

/** The shortest way to write it. */
export function quantityOf(milli: number): string {
  if (milli % 1_000 !== 0) return `${milli}m`;
  const whole = milli / 1_000;
  const [suffix, factor] = STEPS.find(([, each]) => whole > 0 && whole % each === 0) ?? ['', 1];
  return `${whole / factor}${suffix}`;
}
