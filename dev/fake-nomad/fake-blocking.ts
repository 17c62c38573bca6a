import type { Answer } from '../fake-http/fake-answer.js';
import type { Call } from './fake-routes.js';
import type { FakeState } from './fake-state.js';

const LONGEST_WAIT_MS = 300_000;

/** What answers to writes end with. */
export const meta = (index: number) => ({ Index: index, LastContact: 0, KnownLeader: false, NextToken: '' });
export const json = (body: unknown, index: number, next?: string): Answer => ({
  status: 200,
  body,
  headers: {
    ...{ 'x-nomad-index': String(index || 1), 'x-nomad-lastcontact': '0', 'x-nomad-knownleader': 'true' },
    ...(next !== undefined && { 'x-nomad-nexttoken': next }),
  },
});
export const text = (status: number, body: string): Answer => ({ status, body });

/**
 * Answers once `indexOf` is above the index that was asked with, or the wait is over. What a list answers with is the
 * index of its table, so a change of another job may let it answer at once.
 */
export async function blocking(state: FakeState, call: Call, key: string, indexOf: () => number, answer: () => Answer) {
  const asked = Number(call.query.get('index') ?? 0);
  if (!Number.isInteger(asked) || asked < 0) return text(400, 'Invalid index');
  const waitMs = durationMs(call.query.get('wait') ?? '300s');
  if (waitMs === undefined) return text(400, 'Invalid wait time');
  const until = Date.now() + Math.min(waitMs || LONGEST_WAIT_MS, LONGEST_WAIT_MS);
  while (asked > 0 && indexOf() <= asked && !call.gone.aborted) {
    const leftMs = until - Date.now();
    if (leftMs <= 0) break;
    await state.changed(key, leftMs, call.gone);
  }
  return answer();
}

const UNIT_MS = { ns: 1e-6, us: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

function durationMs(duration: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ns|us|ms|s|m|h))+$/.test(duration)) return undefined;
  let total = 0;
  for (const [, number, unit] of duration.matchAll(/(\d+(?:\.\d+)?)(ns|us|ms|s|m|h)/g)) {
    total += Number(number) * UNIT_MS[unit as keyof typeof UNIT_MS];
  }
  return total;
}

const order = (a: string, b: string): number => Number(a > b) - Number(a < b);
/** Items in the order of their keys, or a page of them. */
export function listed(
  state: FakeState,
  call: Call,
  table: 'jobs' | 'allocs' | 'nodes',
  items: () => (readonly [string, object])[],
) {
  const { query } = call;
  if (query.has('filter')) return text(501, 'the fake does not know filters');
  return blocking(
    state,
    call,
    table,
    () => state.tables[table],
    () => {
      const from = query.get('next_token') ?? '';
      const rest = items()
        .filter(([key]) => key >= from)
        .sort(([a], [b]) => order(a, b));
      const size = Number(query.get('per_page')) || rest.length;
      const page = rest.slice(0, size).map(([, item]) => item);
      return json(page, state.tables[table], rest[size]?.[0]);
    },
  );
}
