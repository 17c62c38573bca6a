const LONGEST = 100;
/** Of what a cluster said of one thing. */
const LONGEST_QUOTE = 300;

/** What a cluster said, on one line, without what moves a cursor or reorders text, and short. */
export const oneLine = (text: string, longest = LONGEST): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, longest);

/** Words of a cluster, safe to show. */
export const quoted = (text: string): string => oneLine(text, LONGEST_QUOTE);

/** The same behind what they are the reason of; nothing where there are none. */
export const because = (why: string | undefined): string => (why ? `: ${quoted(why)}` : '');
