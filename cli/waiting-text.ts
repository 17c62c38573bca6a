import type { Waiting } from '../contracts/waiting.js';
import { clock } from './text.js';

const UNITS: Partial<Record<Waiting['reason'], string>> = {
  slots: 'slots',
  memory: 'MB',
  cpu: 'millicores',
  pool: 'sessions',
  quota: 'runs',
};

const SENTENCES: Record<Waiting['reason'], string> = {
  slots: 'a slot',
  memory: 'memory',
  cpu: 'CPU',
  pool: 'a session',
  quota: 'room under the quota',
  reservation: 'a turn: what comes free is kept for one that waited longer',
  paused: 'what is paused to be resumed',
  circuit: 'the runtime to work again: it failed too often',
  'back-off': 'the pause before another attempt to be over',
  placement: 'the cluster to place its job',
};

/** `workspace research has 3 of 3 runs`; empty where there is no number to it. */
export function useOf({ reason, scope, limit, used }: Omit<Waiting, 'ahead'>): string {
  if (limit === null && used === null) return scope;
  const all = limit === null ? '' : ` of ${limit}`;
  return `${scope} has ${used ?? '?'}${all} ${UNITS[reason] ?? ''} in use`.trim();
}

/** What is waited for, in words. */
export const waitedFor = (reason: Waiting['reason']): string => SENTENCES[reason];

/** `likely in 2:10, 9 of 10 within 5:00`; empty where nobody can say. */
export function etaText({ etaP50, etaP90 }: { etaP50: number | null; etaP90: number | null }): string {
  const soon = etaP50 === null ? '' : `likely to start in ${clock(etaP50 * 1_000)}`;
  const late = etaP90 === null ? '' : `9 of 10 such runs start within ${clock(etaP90 * 1_000)}`;
  return [soon, late].filter(Boolean).join('; ');
}
