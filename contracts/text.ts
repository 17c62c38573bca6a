import { z } from 'zod';

/** Visible text of one line. */
export const line = (max: number) =>
  z
    .string()
    .min(1, 'is empty')
    .max(max, `is longer than ${max} characters`)
    .regex(/^[^\p{Cc}\p{Surrogate}]*$/u, 'has a control character or is not valid Unicode');
