const QUANTITY = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)|[eE]([+-]?\d{1,3}))?$/;
const LONGEST = 64;

const FACTORS: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The number that a Kubernetes quantity stands for (`250m`, `1Gi`, `1e3`), in its base unit: cores, bytes, pieces. */
export function parseQuantity(text: string): number | undefined {
  const [, digits, suffix, exponent] = (text.length <= LONGEST && QUANTITY.exec(text)) || [];
  if (digits === undefined) return undefined;
  if (exponent !== undefined) return finite(Number(`${digits}e${exponent}`));
  // Divided where that is exact: 0.1 has no exact factor, 10 has.
  const factor = suffix === undefined ? 1 : (FACTORS[suffix] ?? 1);
  return finite(factor < 1 ? Number(digits) / Math.round(1 / factor) : Number(digits) * factor);
}

const finite = (value: number): number | undefined => (Number.isFinite(value) ? value : undefined);

const scaled = (text: string, perUnit: number): number | undefined => {
  const value = parseQuantity(text);
  // Six digits below the unit: what is left of a decimal fraction in binary is no part of it.
  return value === undefined ? undefined : Math.floor(Number((value * perUnit).toFixed(6)));
};

/** Thousandths of a core, rounded down. */
export const toMillicores = (text: string): number | undefined => scaled(text, 1_000);

/** Mebibytes, rounded down: what `memoryMb` counts. */
export const toMemoryMb = (text: string): number | undefined => scaled(text, 1 / 2 ** 20);

/** Whole pieces. */
export const toCount = (text: string): number | undefined => scaled(text, 1);
