/** Whether an error of the system has one of these codes. Not by `instanceof`: such errors come from another realm. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' && codes.includes(code);
}

const REASONS: Record<string, string> = {
  EAGAIN: 'it has too many processes (EAGAIN)',
  ENOMEM: 'it is out of memory (ENOMEM)',
  EMFILE: 'this worker has too many open files (EMFILE)',
  ENFILE: 'it has too many open files (ENFILE)',
  ENOSPC: 'its disk is full (ENOSPC)',
  EDQUOT: 'its disk quota is used up (EDQUOT)',
  EROFS: 'its state directory is read-only (EROFS)',
  ENOENT: '/bin/sh or the job directory does not exist (ENOENT)',
};

/** Why this host could not do something, for people. */
export function reasonOf(error: unknown): string {
  const code = Object.keys(REASONS).find((known) => hasCode(error, known));
  return (code && REASONS[code]) ?? (error instanceof Error ? error.message : String(error));
}
