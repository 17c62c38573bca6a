import type { Dial } from '../contracts/admission.js';
import type { DialChange, LoweredLimits } from '../contracts/dial.js';
import type { Envelope } from '../contracts/runtime.js';

/** A dial with who set it, and why. */
export interface SetDial extends Dial {
  reason?: string;
  by?: string;
}

/** A dial that changes nothing. */
export const OPEN: SetDial = { mode: 'open', limits: {} };

const AXES = ['slots', 'memoryMb', 'cpuMillicores'] as const;

/**
 * The dial after a change:
 * 1. What the change does not name stays. Mode and limits each have an end of their own; what is set anew without one
 *    holds until it is taken back, and an end alone is that of both.
 * 2. `open` without limits takes all of it back.
 * 3. A dial that changes nothing has neither end, reason nor author.
 */
export function turned(before: SetDial, change: DialChange, by: string, now: number): SetDial {
  if (change.mode === 'open' && change.limits === undefined) return OPEN;
  const { mode = before.mode, reason = before.reason } = change;
  const limits = change.limits === null ? {} : mergedLimits(before.limits, change.limits ?? {});
  if (mode === 'open' && Object.keys(limits).length === 0) return OPEN;
  const isEndAlone = change.mode === undefined && change.limits === undefined && isEndSaid(change);
  const end = endOf(change, now);
  const until = change.mode !== undefined || isEndAlone ? end : before.until;
  const limitsUntil = change.limits !== undefined || isEndAlone ? end : before.limitsUntil;
  return {
    mode,
    limits,
    by,
    ...(mode !== 'open' && until !== undefined && { until }),
    ...(Object.keys(limits).length > 0 && limitsUntil !== undefined && { limitsUntil }),
    ...(reason !== null && { reason }),
  };
}

const isEndSaid = ({ until, forSec }: DialChange): boolean => until !== undefined || forSec !== undefined;

function endOf({ until, forSec }: DialChange, now: number): number | undefined {
  if (forSec !== undefined) return now + forSec * 1_000;
  return until ? Date.parse(until) : undefined;
}

function mergedLimits(before: Partial<Envelope>, change: LoweredLimits): Partial<Envelope> {
  const limits: Partial<Envelope> = {};
  for (const axis of AXES) {
    const limit = change[axis] === undefined ? before[axis] : change[axis];
    if (limit !== null && limit !== undefined) limits[axis] = limit;
  }
  return limits;
}

/** The limits that are above the runtime's own: these can be lowered only. */
export function limitsAbove(
  { limits }: DialChange,
  envelope: Envelope,
): { axis: (typeof AXES)[number]; asked: number; own: number }[] {
  return AXES.flatMap((axis) => {
    const [asked, own] = [limits?.[axis], envelope[axis]];
    return asked !== null && asked !== undefined && own !== undefined && asked > own ? [{ axis, asked, own }] : [];
  });
}
