import { z } from 'zod';

/** What was free, where there is a limit. */
const Free = z.strictObject({
  slots: z.int(),
  memoryMb: z.int().optional(),
  cpuMillicores: z.int().optional(),
});

const decided = { at: z.int(), holder: z.string() };

/**
 * What a ledger did, and why it could. `by` of a grant: it was first in order (`order`), batch work that waited long
 * (`ageing`), what room was kept for (`reservation`), or it ends before the ticket that room is kept for can start
 * (`back-fill`).
 */
export const DecisionRecord = z.discriminatedUnion('what', [
  z.strictObject({
    ...{ what: z.literal('granted'), ...decided },
    by: z.enum(['order', 'ageing', 'reservation', 'back-fill']),
    /** Before it was granted. */
    free: Free,
    /** Grants that went past it while it did not fit. */
    passes: z.int(),
  }),
  z.strictObject({
    ...{ what: z.literal('refused'), ...decided },
    axis: z.enum(['memoryMb', 'cpuMillicores']),
    asked: z.int(),
    limit: z.int(),
  }),
  z.strictObject({
    ...{ what: z.literal('reserved'), ...decided },
    passes: z.int(),
    /** When it can start if what runs ends as expected, epoch ms; absent: not known. */
    startBy: z.int().optional(),
  }),
  z.strictObject({
    ...{ what: z.literal('evicted'), ...decided },
    /** The ticket that took its place. */
    madeRoomFor: z.string(),
  }),
]);
export type DecisionRecord = z.infer<typeof DecisionRecord>;
