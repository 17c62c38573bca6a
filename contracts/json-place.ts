/** Where a text stops being JSON, without repeating any of it; it begins in line `firstLine`. */
export function jsonPlace(text: string, firstLine = 1): string {
  const before = text.slice(0, faultPosition(text));
  return `line ${before.split('\n').length + firstLine - 1}, column ${before.length - before.lastIndexOf('\n')}`;
}

/** Offset of the first character that no JSON text could have there: the length of the longest prefix that is not wrong yet. */
function faultPosition(text: string): number {
  let [fine, wrong] = [0, text.length + 1];
  while (wrong - fine > 1) {
    const middle = (fine + wrong) >> 1;
    if (isUnfinished(text.slice(0, middle))) fine = middle;
    else wrong = middle;
  }
  return fine;
}

function isUnfinished(prefix: string): boolean {
  try {
    JSON.parse(prefix);
    return true;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const position = /at position (\d+)/.exec(message)?.[1];
    return position === undefined ? /Unexpected end|Unterminated/.test(message) : Number(position) >= prefix.length;
  }
}
