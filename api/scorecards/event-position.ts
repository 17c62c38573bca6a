import { z } from 'zod';
import { parseSnapshot } from '../../store/snapshot.js';

/**
 * Where a reader of a scorecard's events is. It knows every run that the snapshot `seen` sees as settled (none if there
 * is no snapshot), and of those that the snapshot `to` sees besides, all up to `after`.
 */
export interface EventPosition {
  seen?: string;
  part?: { to: string; after: { xid: string; run: number } };
}

const NOTHING = '-';
const PART = /^(\d{1,19})\.(\d{1,9})$/;

/** `seen`, or `seen~to~xid.run`. */
export function positionId({ seen = NOTHING, part }: EventPosition): string {
  return part ? `${seen}~${part.to}~${part.after.xid}.${part.after.run}` : seen;
}

function positionOf(id: string): EventPosition | undefined {
  const [seen = '', to, place, ...more] = id.split('~');
  if (seen !== NOTHING && !parseSnapshot(seen)) return undefined;
  const known = seen === NOTHING ? {} : { seen };
  if (to === undefined) return known;
  const [, xid, run] = PART.exec(place ?? '') ?? [];
  if (!parseSnapshot(to) || xid === undefined || run === undefined || more.length > 0) return undefined;
  return { ...known, part: { to, after: { xid, run: Number(run) } } };
}

/** The id of an event, which names a position. */
export const EventPositionId = z
  .string()
  .max(8_000)
  .transform((id, ctx) => {
    const position = positionOf(id);
    if (position) return position;
    ctx.addIssue({ code: 'custom', message: 'is not the id of an event of a scorecard' });
    return z.NEVER;
  });
