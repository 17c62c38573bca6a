/** Longer words are not compared. */
const LONGEST = 64;
/** A shared beginning of so many characters counts as near: `timeout` is meant to be `timeoutSec`. */
const SHORTEST_STEM = 4;

const plain = (word: string): string => word.toLowerCase().replaceAll(/[-_]/g, '');

/** Insertions, deletions, replacements and swaps of neighbors that turn one word into the other. */
function editDistance(from: string, to: string): number {
  let twoUp: number[] = [];
  let oneUp = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const replaced = (oneUp[column - 1] ?? 0) + (isSame ? 0 : 1);
      const grown = Math.min((oneUp[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      const swapped = isSwap ? (twoUp[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      current.push(Math.min(replaced, grown, swapped));
    }
    twoUp = oneUp;
    oneUp = current;
  }
  return oneUp[to.length] ?? 0;
}

function distance(word: string, candidate: string): number {
  const [from, to] = [plain(word), plain(candidate)];
  const stem = Math.min(from.length, to.length);
  if (stem >= SHORTEST_STEM && (from.startsWith(to) || to.startsWith(from))) return from === to ? 0 : 1;
  return editDistance(from, to);
}

/** The candidate that was probably meant: at most a third of the word differs, case, `-` and `_` aside. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > LONGEST) return undefined;
  const limit = Math.max(1, Math.floor(word.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    if (candidate === word || candidate.length > LONGEST) continue;
    const found = distance(word, candidate);
    if (found < bestDistance) [best, bestDistance] = [candidate, found];
  }
  return best;
}
