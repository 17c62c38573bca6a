import { Matcher, SHORTEST_MATCHED } from './matcher.js';

/** Shorter values stand in ordinary text by chance, so they are not looked for. */
export const SHORTEST_MASKED = SHORTEST_MATCHED;
/** Lines of a value that are looked for on their own. */
const SHORTEST_LINE = 8;

const STAR = 0x2a;
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

const digitsOf = (text: string): Uint8Array => encoder.encode(text);
const BASE64 = digitsOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const BASE64_URL = digitsOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');
const HEX = digitsOf('0123456789abcdef');
const HEX_UPPER = digitsOf('0123456789ABCDEF');

/** The digits of base64 that say nothing but these bytes, where `before` bytes stand in front of them, or with none after. */
function base64Of(bytes: Uint8Array, before: number, alphabet: Uint8Array, isEnd: boolean): Uint8Array {
  const first = Math.ceil((before * 8) / 6);
  const end = (isEnd ? Math.ceil : Math.floor)(((before + bytes.length) * 8) / 6);
  const digits = new Uint8Array(end - first);
  for (let at = first; at < end; at++) {
    const bit = at * 6 - before * 8;
    const pair = ((bytes[bit >> 3] ?? 0) << 8) | (bytes[(bit >> 3) + 1] ?? 0);
    digits[at - first] = alphabet[(pair >> (10 - (bit & 7))) & 63] ?? 0;
  }
  return digits;
}

function hexOf(bytes: Uint8Array, alphabet: Uint8Array): Uint8Array {
  const digits = new Uint8Array(bytes.length * 2);
  for (const [at, byte] of bytes.entries()) {
    digits[at * 2] = alphabet[byte >> 4] ?? 0;
    digits[at * 2 + 1] = alphabet[byte & 15] ?? 0;
  }
  return digits;
}

/** What a value is looked for as: whole, without white space around it, and each line of it that is long enough. */
function partsOf(value: string): Set<string> {
  const lines = /[\r\n]/.test(value) ? value.split(/[\r\n]+/).map((line) => line.trim()) : [];
  return new Set([value, value.trim(), ...lines.filter((line) => line.length >= SHORTEST_LINE)]);
}

/** How a text may stand in others: as it is, as JSON and URLs escape it, in hex, and in base64 wherever it begins there. */
function spellingsOf(text: string): Uint8Array[] {
  const bytes = encoder.encode(text);
  const hex = [HEX, HEX_UPPER].map((alphabet) => hexOf(bytes, alphabet));
  const base64 = [BASE64, BASE64_URL].flatMap((alphabet) =>
    [0, 1, 2].flatMap((before) => [false, true].map((isEnd) => base64Of(bytes, before, alphabet, isEnd))),
  );
  const escaped = [JSON.stringify(text).slice(1, -1), encodeURIComponent(text)].map((each) => encoder.encode(each));
  const all = [bytes, ...escaped, ...hex, ...base64];
  return all.filter((each, at) => !all.slice(0, at).some((other) => isSame(each, other)));
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, at) => byte === other[at]);

/** Whether a value is one that is looked for. */
export const isMasked = (value: string): boolean => encoder.encode(value).length >= SHORTEST_MASKED;

/** Every form of a value; none for one that is too short. */
function* formsOf(value: string): Generator<Uint8Array> {
  if (!isMasked(value)) return;
  for (const part of partsOf(value)) if (isMasked(part)) yield* spellingsOf(part);
}

/** Of values that no log shows, so many bytes in all their forms; of more, the latest. */
const MOST_HIDDEN_BYTES = 64 * 1_024 * 1_024;

/** Values that no log shows. */
export class HiddenValues {
  private matcher = new Matcher();
  /** Bytes of the forms of each, oldest first. */
  private readonly known = new Map<string, number>();
  private bytes = 0;

  add(value: string): void {
    if (this.known.has(value)) return;
    this.take(value);
    if (this.bytes <= MOST_HIDDEN_BYTES) return;
    const latest = [...this.known.keys()].slice(Math.floor(this.known.size / 2));
    this.known.clear();
    this.matcher = new Matcher();
    this.bytes = 0;
    for (const each of latest) this.take(each);
  }

  without(text: string): string {
    if (this.matcher.isEmpty) return text;
    const bytes = encoder.encode(text);
    const places: [start: number, end: number][] = [];
    this.matcher.scan(bytes, (start, end) => places.push([start, end]));
    let shown = '';
    let after = 0;
    for (const [start, end] of places.sort(([a], [b]) => a - b)) {
      // One that begins within another shows no more of it.
      if (start >= after) shown += `${decoder.decode(bytes.subarray(after, start))}***`;
      after = Math.max(after, end);
    }
    return after === 0 ? text : shown + decoder.decode(bytes.subarray(after));
  }

  private take(value: string): void {
    let size = 0;
    for (const form of formsOf(value)) {
      this.matcher.add(form);
      size += form.length;
    }
    this.known.set(value, size);
    this.bytes += size;
  }
}

/** Masks the values of secrets in what a job says. Every byte of one becomes a star, so that offsets stay as they were. */
export class SecretMask {
  private readonly matcher = new Matcher();

  constructor(values: Iterable<string>) {
    for (const value of values) for (const form of formsOf(value)) this.matcher.add(form);
  }

  get isEmpty(): boolean {
    return this.matcher.isEmpty;
  }

  text(text: string): string {
    return this.isEmpty ? text : decoder.decode(this.bytes(encoder.encode(text)));
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
    const open = this.matcher.scan(bytes, (start, end) => shown.fill(STAR, start, end));
    if (isCut && bytes.length - open >= SHORTEST_MASKED) shown.fill(STAR, open);
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
