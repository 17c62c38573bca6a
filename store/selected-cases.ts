import type { CaseFilter } from '../contracts/scorecard.js';

const COLUMNS = 'ordinal, case_id, target, memory_mb, cpu_millicores';

/** The cases of dataset $1 that a filter selects, in order. Its parameters come first in a statement. */
export const selectedCases = (columns = COLUMNS, condition = 'true'): string => `
  SELECT ${columns} FROM dataset_cases
  WHERE dataset_pk = $1 AND ($2::text[] IS NULL OR case_id = ANY ($2)) AND ($3::text[] IS NULL OR tags @> $3)
    AND ${condition}
  ORDER BY ordinal LIMIT $4::bigint`;

export const filterParams = (datasetPk: number, { ids, tags, limit }: CaseFilter): unknown[] => [
  datasetPk,
  ids ?? null,
  tags ?? null,
  limit ?? null,
];
