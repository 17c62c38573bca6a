/** Shorter values stand in ordinary text by chance, so they are not looked for. */
export const SHORTEST_MASKED = 4;

const STAR = 0x2a;
const encoder = new TextEncoder();

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The digits of base64 that say nothing but these bytes, where `before` bytes stand in front of them, or with none after. */
function base64Of(bytes: Uint8Array, before: number, isEnd = false): string {
  const padded = new Uint8Array(before + bytes.length);
  padded.set(bytes, before);
  const first = Math.ceil((before * 8) / 6);
  const digits = (isEnd ? Math.ceil : Math.floor)((padded.length * 8) / 6);
  let core = '';
  for (let at = first; at < digits; at++) {
    const bit = at * 6;
    const pair = ((padded[bit >> 3] ?? 0) << 8) | (padded[(bit >> 3) + 1] ?? 0);
    core += BASE64[(pair >> (10 - (bit & 7))) & 63];
  }
  return core;
}

const hexOf = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/**
 * How a value may stand in text, longest first: as it is, as JSON and URLs escape it, in hex, and in base64 wherever it
 * begins there. None for a value that is too short.
 */
export function formsOf(value: string): string[] {
  const bytes = encoder.encode(value);
  if (bytes.length < SHORTEST_MASKED) return [];
  const base64 = [0, 1, 2].flatMap((before) => [base64Of(bytes, before), base64Of(bytes, before, true)]);
  const hex = hexOf(bytes);
  const forms = new Set([
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    hex,
    hex.toUpperCase(),
    ...base64,
    ...base64.map((digits) => digits.replaceAll('+', '-').replaceAll('/', '_')),
  ]);
  return [...forms].filter((form) => form.length >= SHORTEST_MASKED).toSorted((a, b) => b.length - a.length);
}

const MOST_HIDDEN = 500;

/** Values that no log shows. Of very many, the latest. */
export class HiddenValues {
  private readonly forms = new Map<string, string[]>();

  add(value: string): void {
    const forms = this.forms.get(value) ?? formsOf(value);
    this.forms.delete(value);
    if (forms.length > 0) this.forms.set(value, forms);
    for (const oldest of this.forms.keys()) {
      if (this.forms.size <= MOST_HIDDEN) break;
      this.forms.delete(oldest);
    }
  }

  without(text: string): string {
    let shown = text;
    for (const forms of this.forms.values()) for (const form of forms) shown = shown.replaceAll(form, '***');
    return shown;
  }
}

/** One form of a value, and for each of its prefixes the longest proper prefix of it that is also its end. */
interface Pattern {
  bytes: Uint8Array;
  fallback: Uint32Array;
}

function patternOf(form: string): Pattern {
  const bytes = encoder.encode(form);
  const fallback = new Uint32Array(bytes.length);
  for (let at = 1, length = 0; at < bytes.length; at++) {
    while (length > 0 && bytes[at] !== bytes[length]) length = fallback[length - 1] ?? 0;
    if (bytes[at] === bytes[length]) length += 1;
    fallback[at] = length;
  }
  return { bytes, fallback };
}

/** Masks the values of secrets in what a job says. Every byte of one becomes a star, so that offsets stay as they were. */
export class SecretMask {
  private readonly forms: readonly string[];
  private readonly patterns: readonly Pattern[];

  constructor(values: Iterable<string>) {
    this.forms = [...new Set([...values].flatMap(formsOf))].toSorted((a, b) => b.length - a.length);
    this.patterns = this.forms.map(patternOf);
  }

  get isEmpty(): boolean {
    return this.patterns.length === 0;
  }

  text(text: string): string {
    return this.forms.reduce((shown, form) => shown.replaceAll(form, '*'.repeat(encoder.encode(form).length)), text);
  }

  /** The same JSON with every text in it masked. */
  json<T>(value: T): T {
    if (this.isEmpty || value === undefined) return value;
    return JSON.parse(JSON.stringify(value), (_key, inner) => (typeof inner === 'string' ? this.text(inner) : inner));
  }

  /** Of bytes that nothing follows. */
  bytes(bytes: Uint8Array): Uint8Array {
    return this.isEmpty ? bytes : this.maskedIn(bytes, false).shown;
  }

  /**
   * Masks what is complete, and says from where on the bytes may be the beginning of a value that goes on in what
   * follows. With `isCut` that beginning is masked, too, as what follows will never be seen.
   */
  maskedIn(bytes: Uint8Array, isCut: boolean): { shown: Uint8Array; open: number } {
    const shown = Uint8Array.from(bytes);
    let open = bytes.length;
    for (const { bytes: pattern, fallback } of this.patterns) {
      let matched = 0;
      for (let at = 0; at < bytes.length; at++) {
        if (matched === 0) {
          at = bytes.indexOf(pattern[0] ?? 0, at);
          if (at < 0) break;
        }
        while (matched > 0 && bytes[at] !== pattern[matched]) matched = fallback[matched - 1] ?? 0;
        if (bytes[at] === pattern[matched]) matched += 1;
        if (matched === pattern.length) {
          shown.fill(STAR, at + 1 - matched, at + 1);
          matched = fallback[matched - 1] ?? 0;
        }
      }
      open = Math.min(open, bytes.length - matched);
      if (isCut && matched >= SHORTEST_MASKED) shown.fill(STAR, bytes.length - matched);
    }
    return { shown, open };
  }
}

interface Piece {
  at: number;
  bytes: Uint8Array;
}

/** One stream of a job, in order: what may be the beginning of a value waits for what follows. */
export class MaskedStream {
  /** As it came, and as far as it is masked already: the end of one value may be the beginning of the next. */
  private waiting: (Piece & { shown: Uint8Array }) | undefined;

  constructor(private readonly mask: SecretMask) {}

  /** What can be shown now. A piece that begins elsewhere than the last one ended follows a gap. */
  push(at: number, bytes: Uint8Array): Piece[] {
    if (this.mask.isEmpty) return [{ at, bytes }];
    const { waiting } = this;
    if (waiting && waiting.at + waiting.bytes.length !== at) return [...this.end(true), ...this.push(at, bytes)];
    const begin = waiting?.at ?? at;
    const whole = waiting ? joined(waiting.bytes, bytes) : bytes;
    const { shown, open } = this.mask.maskedIn(whole, false);
    keepStars(shown, waiting);
    this.waiting =
      open < whole.length ? { at: begin + open, bytes: whole.slice(open), shown: shown.slice(open) } : undefined;
    return open > 0 ? [{ at: begin, bytes: shown.subarray(0, open) }] : [];
  }

  /** What waited, at the end of the stream or, with `isCut`, at a gap. */
  end(isCut = false): Piece[] {
    const { waiting } = this;
    this.waiting = undefined;
    if (!waiting) return [];
    const { shown } = this.mask.maskedIn(waiting.bytes, isCut);
    keepStars(shown, waiting);
    return [{ at: waiting.at, bytes: shown }];
  }
}

function keepStars(shown: Uint8Array, earlier: { bytes: Uint8Array; shown: Uint8Array } | undefined): void {
  for (const [at, byte] of earlier?.shown.entries() ?? []) if (byte !== earlier?.bytes[at]) shown[at] = STAR;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
