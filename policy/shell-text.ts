const ESCAPED = /\\[\s\S]/g;
/** Pieces of a script: an escape, a quoted text, a comment, the word that ends a here-document, a newline, the rest. */
const PIECE =
  /\\[\s\S]|'[^']*'|"(?:\\[\s\S]|[^"\\])*"|(?<![^\s;&|()])#.*|<<-?[ \t]*(?<end>\\?\w+|'\w+'|"\w+")|\n|[^\\'"#<\n]+|[\s\S]/g;

/**
 * What a shell looks for variables in: the script without its comments, its escapes, and what stands between single
 * quotes or in a here-document whose end is quoted.
 */
export function expandedText(script: string): string {
  let text = '';
  const ends: string[] = [];
  PIECE.lastIndex = 0;
  for (let match = PIECE.exec(script); match; match = PIECE.exec(script)) {
    const [piece] = match;
    const end = match.groups?.end;
    if (end !== undefined) ends.push(end);
    else if (piece.startsWith('"')) text += piece.replace(ESCAPED, '');
    else if (!/^(\\|'.|#)/s.test(piece)) text += piece;
    if (piece !== '\n') continue;
    for (const word of ends.splice(0)) {
      const { body, next } = documentAt(script, PIECE.lastIndex, word.replace(/\W/g, ''));
      if (/^\w/.test(word)) text += body.replace(ESCAPED, '');
      PIECE.lastIndex = next;
    }
  }
  return text;
}

/** The here-document that begins at `start`: up to the line that is its end, or to the end of the script. */
function documentAt(script: string, start: number, end: string): { body: string; next: number } {
  for (let at = start; at < script.length; ) {
    const newline = script.indexOf('\n', at);
    const next = newline < 0 ? script.length : newline + 1;
    if (script.slice(at, next).trim() === end) return { body: script.slice(start, at), next };
    at = next;
  }
  return { body: script.slice(start), next: script.length };
}
