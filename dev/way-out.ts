export const DISK_FULL = 'The disk is full: make room and start again. Nothing that was committed is lost.';

/** As Node says it, also in what a process of ours logged last. */
const NO_RIGHT = /\b(EACCES|EPERM|EROFS): /;
const NO_ROOM = /\bENOSPC: /;

/** Adds what helps to a failure of the file system that was met somewhere in a data directory. */
export function withWayOut(error: unknown, dir: string): unknown {
  if (!(error instanceof Error)) return error;
  const wayOut = wayOutOf(error.message, dir);
  return wayOut ? new Error(`${error.message}\n${wayOut}`, { cause: error }) : error;
}

function wayOutOf(message: string, dir: string): string | undefined {
  if (NO_ROOM.test(message)) return DISK_FULL;
  if (!NO_RIGHT.test(message)) return undefined;
  return `Everything in ${dir} must belong to the user that starts it, and be writable: run as its owner, or choose another --dir.`;
}
