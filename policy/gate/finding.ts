import { quoted } from '../../contracts/field-path.js';
import type { GateReason, GateReasonCode, GateVerdict } from '../../contracts/gate.js';
import type { ExpectedCase } from './expected-cases.js';

/** Something that keeps a candidate from passing. */
export interface Finding {
  /** What the gate says if nothing worse is found. */
  verdict: Exclude<GateVerdict, 'pass'>;
  reason: GateReason;
  /** Cases whose outcome would decide it. */
  open: readonly ExpectedCase[];
}

/** Ids that a list holds, and that a sentence does. */
export const MOST_LISTED = 100;
const MOST_NAMED = 5;

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export const percent = (share: number): string => `${Math.round(share * 1_000) / 10} %`;

/** The first of them by name, and how many there are more. */
export function named(ids: readonly string[]): string {
  const first = ids.slice(0, MOST_NAMED).map((id) => quoted(id));
  return ids.length > first.length ? `${first.join(', ')} and ${ids.length - first.length} more` : first.join(', ');
}

interface Ground {
  code: GateReasonCode;
  message: string;
  rule?: string;
  limit?: number;
  actual?: number;
  caseIds?: readonly string[];
}

export const reasonOf = ({ code, message, rule, limit, actual, caseIds = [] }: Ground): GateReason => ({
  code,
  message,
  rule: rule ?? null,
  limit: limit ?? null,
  actual: actual ?? null,
  cases: caseIds.slice(0, MOST_LISTED),
  count: caseIds.length,
});

export const idsOf = (cases: readonly ExpectedCase[]): string[] => cases.map(({ caseId }) => caseId);
