import type { Census } from '../store/census.js';
import { takeCensus } from '../store/census.js';
import { createDataSource } from '../store/data-source.js';

/** What the database of a data directory holds; nothing if it cannot say. */
export async function censusOf(databaseUrl: string): Promise<Census | undefined> {
  const db = createDataSource({ url: databaseUrl, poolSize: 1, applicationName: 'everdict-dev' });
  try {
    await db.initialize();
    return await takeCensus(db);
  } catch {
    return undefined;
  } finally {
    if (db.isInitialized) await db.destroy();
  }
}

/** `2 scorecards and 1 single run`; nothing if nothing is unfinished. */
export function unfinishedOf({ unfinishedScorecards, unfinishedRuns }: Census): string | undefined {
  const parts = [
    ...(unfinishedScorecards > 0 ? [counted(unfinishedScorecards, 'scorecard')] : []),
    ...(unfinishedRuns > 0 ? [counted(unfinishedRuns, 'single run')] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(' and ');
}

/** One line for each of the newest unfinished scorecards. */
export const linesOf = ({ newest }: Census): string[] =>
  newest.map(({ id, dataset, harness, settled, total }) => `  ${id}  ${settled}/${total}  ${dataset} × ${harness}`);

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
