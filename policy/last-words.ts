const [ESCAPE, BELL] = ['\u001b', '\u0007'];
/** Colours text, moves a cursor, or sets a title. */
const SEQUENCE = new RegExp(`${ESCAPE}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${BELL}${ESCAPE}]*${BELL}?)`, 'g');
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
const MOST_CHARACTERS = 300;

/** The end of what a job said, on one line that is safe to show anywhere; empty if it said nothing. */
export function lastWords(bytes: Uint8Array): string {
  const lines = new TextDecoder()
    .decode(bytes)
    .replaceAll(SEQUENCE, '')
    .split(/[\r\n]+/)
    .map((line) => line.replaceAll(UNSAFE, ' ').trim())
    .filter((line) => line !== '');
  const characters = [...lines.join(' ↵ ')];
  return characters.length <= MOST_CHARACTERS
    ? characters.join('')
    : `…${characters.slice(1 - MOST_CHARACTERS).join('')}`;
}
