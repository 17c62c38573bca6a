/** A window as its root sees it. */
export interface OpenWindow {
  index: number;
  /** Cases it may have in flight; once it is drained, those it still has. */
  width: number;
  /** It has nothing left to ask for. */
  isDrained: boolean;
}

export interface Limits {
  /** Slots of the pools the scorecard runs in. */
  slots: number;
  /** At most so many cases in flight, if the scorecard says so. */
  concurrency?: number;
}

export interface Step {
  open: { index: number; width: number }[];
  widen: { index: number; width: number }[];
}

export const MAX_WINDOW_WIDTH = 100;
export const MAX_OPEN_WINDOWS = 50;
const FEWEST_IN_FLIGHT = 20;

/**
 * Cases of one scorecard in flight at once, waiting or running: twice the slots, so that a slot that comes free always
 * finds a ticket; and never more than the scorecard's own `concurrency`.
 */
export const inFlightBudget = ({ slots, concurrency = Number.POSITIVE_INFINITY }: Limits): number =>
  Math.min(concurrency, Math.max(FEWEST_IN_FLIGHT, 2 * slots), MAX_WINDOW_WIDTH * MAX_OPEN_WINDOWS);

/**
 * What to do with the width that no window uses.
 * 1. Windows that still have cases to ask for are widened first, up to their most.
 * 2. The rest opens further windows, while partitions and places for windows are left. The first `urgent` of them open
 *    at once, if need be with a width of one beyond the budget.
 */
export function shareWidth(
  windows: readonly OpenWindow[],
  budget: number,
  unopened: readonly number[],
  urgent = 0,
): Step {
  let free = budget - windows.reduce((sum, { width }) => sum + width, 0);
  const step: Step = { open: [], widen: [] };
  for (const { index, width, isDrained } of windows) {
    const more = Math.min(free, MAX_WINDOW_WIDTH - width);
    if (isDrained || more <= 0) continue;
    step.widen.push({ index, width: width + more });
    free -= more;
  }
  const places = MAX_OPEN_WINDOWS - windows.filter(({ isDrained }) => !isDrained).length;
  for (const [i, index] of unopened.slice(0, Math.max(0, places)).entries()) {
    const width = Math.max(i < urgent ? 1 : 0, Math.min(free, MAX_WINDOW_WIDTH));
    if (width === 0) break;
    step.open.push({ index, width });
    free -= width;
  }
  return step;
}

export const isWidenable = ({ width, isDrained }: OpenWindow): boolean => !isDrained && width < MAX_WINDOW_WIDTH;
