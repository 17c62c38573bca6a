import type { FieldError } from '../../contracts/errors.js';

/** Largest case, bytes of JSON. */
export const CASE_LIMIT = 1024 * 1024;

export const sizeFault = (bytes: number, path: string, named: string): FieldError => ({
  path,
  message: `${named} has ${bytes} bytes; the limit of a case is ${CASE_LIMIT}`,
});
