const LONGEST = 100;

/** What a cluster said, on one line, without what moves a cursor or reorders text, and short. */
export const oneLine = (text: string, longest = LONGEST): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, longest);
