const [ESCAPE, BELL, STRING_END] = ['\u001b', '\u0007', '\u009c'];
/** Colours text, moves a cursor, sets a title, or talks to the terminal in another way. */
const SEQUENCE = new RegExp(
  `(?:${ESCAPE}\\[|\\u009b)[0-?]*[ -/]*[@-~]|(?:${ESCAPE}[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^${BELL}${ESCAPE}${STRING_END}]*(?:${BELL}|${ESCAPE}\\\\|${STRING_END})?|${ESCAPE}[ -/]*[0-~]`,
  'g',
);
/** What moves a cursor, hides text or reorders it; lines and tabs stay. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Text of others without anything that is not seen as it stands. */
export const seen = (text: string): string =>
  text
    .replaceAll(SEQUENCE, '')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/\p{Surrogate}/gu, '\ufffd')
    .replaceAll(UNSEEN, '');

/** Stands in a name that is not to be taken for the name of a tool. */
const BREAK = '·';

/** What stands on or around the letter before it. */
const MARKS = /\p{M}/gu;
const TWO_LETTERS = /^(\P{M}\p{M}*){2}/u;

/** Makes texts of others in which no name of ours stands whole, whatever hides it. */
export function nameBreaker(names: readonly string[]): (text: string) => string {
  const longestFirst = [...names].sort((a, b) => b.length - a.length);
  const plainly = new RegExp(longestFirst.join('|'), 'i');
  const marked = new RegExp(longestFirst.map((name) => [...name].join('\\p{M}*')).join('|'), 'giu');
  return (text) => {
    // Letters of other widths and styles read as the plain ones, and marks on them as none.
    const apart = text.normalize('NFKD');
    return plainly.test(apart.replaceAll(MARKS, '')) ? broken(apart, marked).normalize('NFKC') : text;
  };
}

function broken(text: string, known: RegExp): string {
  let before = text;
  for (;;) {
    const after = before.replaceAll(known, (name) => name.replace(TWO_LETTERS, `$&${BREAK}`));
    if (after === before) return after;
    before = after;
  }
}

/** The first `most` characters, with nothing cut in half. */
export function cutTo(text: string, most: number): { text: string; isCut: boolean } {
  if (text.length <= most) return { text, isCut: false };
  const end = /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most;
  return { text: text.slice(0, Math.max(0, end)), isCut: true };
}
