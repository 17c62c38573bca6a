import type { SessionAnswer } from '../contracts/admission.js';
import { valueAt } from './json-path.js';

/** Where the numbers stand in what a session pool answers. */
export interface SessionPaths {
  total: string;
  used?: string;
}

/** What the answer of a session pool says. Whatever is no count says nothing: it is neither zero nor without limit. */
export function sessionAnswer(body: unknown, paths: SessionPaths): SessionAnswer {
  const total = countAt(body, paths.total);
  if (total === undefined) return { failure: noCount('total') };
  if (paths.used === undefined) return { total };
  const used = countAt(body, paths.used);
  if (used === undefined) return { failure: noCount('used') };
  return used > total ? { failure: `\`used\` is ${used}, above \`total\`, which is ${total}` } : { total, used };
}

const noCount = (name: string): string => `where \`${name}\` points there is no whole number from 0 on`;

function countAt(body: unknown, path: string): number | undefined {
  const value = valueAt(body, path)?.value;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
