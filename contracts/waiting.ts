import { z } from 'zod';

/**
 * Why a run does not start yet: the runtime's slots, memory or CPU are in use, or kept for a case that waited longer
 * (`reservation`); a live session pool is full (`pool`); its workspace is at its quota; the runtime or the scorecard is
 * paused; the runtime failed too often (`circuit`); it waits out the pause before another attempt (`back-off`); or it
 * has its slot, and the cluster has not placed it (`placement`).
 */
export const WaitingReason = z.enum([
  'slots',
  'memory',
  'cpu',
  'pool',
  'quota',
  'reservation',
  'paused',
  'circuit',
  'back-off',
  'placement',
]);
export type WaitingReason = z.infer<typeof WaitingReason>;

/** What one waiting ticket can say of itself, by its ledger. */
export const Waiting = z.strictObject({
  reason: WaitingReason,
  /** Whose limit it is: `runtime <id>`, `workspace <id>`, `scorecard <id>` or `pool <name>`. */
  scope: z.string(),
  /** In the unit of the reason: slots, MB, millicores, sessions, runs. Null where there is no number to it. */
  limit: z.number().nullable(),
  used: z.number().nullable(),
  /** Tickets that are considered before it. */
  ahead: z.int(),
});
export type Waiting = z.infer<typeof Waiting>;
