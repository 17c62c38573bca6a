/** `at` is the offset of the first byte in what the job wrote. No bytes: there are no more now. */
export interface LogBytes {
  kind: 'bytes';
  at: number;
  bytes: Uint8Array;
}

/** Why there is nothing to read of a log. */
export type LogTrouble =
  /** What would print has not started: nothing was collected. */
  | { kind: 'not-started' }
  /** It will not come back. */
  | { kind: 'gone'; text: string }
  /** It may be there, and cannot be read now. */
  | { kind: 'unreachable'; text: string };

/** What became of a log of which no more is written. */
export type LogEnd =
  | {
      kind: 'complete';
      /** All of it was read, by what the cluster says of its end. */
      isVerified: boolean;
      /** What it is, where that is not what was told of it: all that is left, from its oldest byte on. */
      instead?: readonly LogBytes[];
    }
  /** Less was read than there is, or something else each time. */
  | { kind: 'short' }
  | LogTrouble;

/** How long is waited between tries of what may pass; then it is given up. */
export interface LogPatience {
  firstMs: number;
  longestMs: number;
  tries: number;
}

/** Some ten seconds. */
export const LOG_PATIENCE: LogPatience = { firstMs: 250, longestMs: 2_000, tries: 8 };
