import type { Ticket } from '../contracts/admission.js';
import { rounded, sum, type Table } from './figures.js';
import { type Played, playOut, type Work } from './virtual-pool.js';

const SLOTS = 40;
const CASE_MS = 1_000;
const LARGE = 10_000;
const SMALL = 100;
const SMALL_ONES = 9;

const ticketOf = (workspace: string, index: number, parts: Partial<Ticket> = {}): Ticket => ({
  ...{ holder: `case:${workspace}.${index}`, to: workspace, workspace, class: 'batch', demand: {}, askedAt: 0 },
  ...parts,
});

/** One workspace with 10,000 cases, nine with 100, all submitted at once, the large one first; virtual time. */
export function fairness(): Table {
  const worksOf = (workspace: string, count: number): Work[] =>
    Array.from({ length: count }, (_, i) => ({ at: 0, ms: CASE_MS, ticket: ticketOf(workspace, i) }));
  const small = Array.from({ length: SMALL_ONES }, (_, i) => `small-${i}`);
  const works = [...worksOf('large', LARGE), ...small.flatMap((workspace) => worksOf(workspace, SMALL))];
  const limits = { envelope: { slots: SLOTS }, workspaces: {}, pausedScorecards: [] };
  const played = playOut(works, limits, Math.max(20, 2 * SLOTS));

  const finishOf = (workspace: string): number =>
    Math.max(...played.filter(({ ticket }) => ticket.workspace === workspace).map(({ endedAt }) => endedAt));
  const finishes = small.map(finishOf);
  const contendedMs = Math.min(...finishes);
  const shares = ['large', ...small].map((workspace) => heldMs(played, workspace, contendedMs));
  const fairMs = (SMALL * CASE_MS * (SMALL_ONES + 1)) / SLOTS;
  return {
    'one of 10,000 against nine of 100': {
      'Jain index': rounded(sum(shares) ** 2 / (shares.length * sum(shares.map((share) => share ** 2))), 3),
      'fair finish of a small one, s': rounded(fairMs / 1_000, 1),
      'first, s': rounded(Math.min(...finishes) / 1_000, 1),
      'last, s': rounded(Math.max(...finishes) / 1_000, 1),
      'all, s': rounded(finishOf('large') / 1_000, 1),
    },
  };
}

/** Slot-ms that a workspace held up to a moment. */
const heldMs = (played: readonly Played[], workspace: string, until: number): number =>
  sum(
    played
      .filter(({ ticket }) => ticket.workspace === workspace)
      .map(({ startedAt, endedAt }) => Math.max(0, Math.min(until, endedAt) - startedAt)),
  );

const BUDGET_MB = 1_000;
const LIGHT = { mb: 100, everyMs: 90, count: 5_000 };
const HEAVY_MB = 900;

/** A heavy case against a stream of light ones that alone fills the memory: how long it waits; virtual time. */
export function heavyAgainstLight(): Table {
  const row = (areDurationsKnown: boolean): Record<string, number> => {
    const expected = areDurationsKnown ? { expectedMs: CASE_MS } : {};
    const works = Array.from({ length: LIGHT.count }, (_, i): Work => {
      const at = i * LIGHT.everyMs;
      const ticket = ticketOf('default', i, { askedAt: at, demand: { memoryMb: LIGHT.mb }, ...expected });
      return { at, ms: CASE_MS, ticket: { ...ticket, holder: `case:light.${i}` } };
    });
    const at = 10_000;
    const heavy = ticketOf('default', 0, { askedAt: at, demand: { memoryMb: HEAVY_MB }, ...expected });
    works.push({ at, ms: CASE_MS, ticket: { ...heavy, holder: 'case:heavy.0' } });
    const limits = { envelope: { slots: 100, memoryMb: BUDGET_MB }, workspaces: {}, pausedScorecards: [] };
    const played = playOut(works, limits);
    const found = played.find(({ ticket }) => ticket.holder === 'case:heavy.0');
    const meanLight = sum(played.map(({ at: asked, startedAt }) => startedAt - asked)) / played.length;
    return { 'heavy waits, ms': rounded((found?.startedAt ?? 0) - at), 'light ones wait, mean ms': rounded(meanLight) };
  };
  return { 'durations not known': row(false), 'durations known': row(true) };
}
