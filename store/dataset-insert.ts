import type { EvalCase } from '../contracts/case.js';
import type { DatasetHead } from '../contracts/dataset.js';
import { differences } from '../policy/differences.js';
import type { Registration } from './registration.js';
import { type Queryable, row, rows } from './sql.js';

/** Takes the key of a dataset that is inserted after its cases. */
export async function reservePk(db: Queryable): Promise<number> {
  await rows(db, 'SET CONSTRAINTS dataset_cases_dataset_pk_fkey DEFERRED');
  const reserved = await row<{ pk: number }>(db, `SELECT nextval(pg_get_serial_sequence('datasets', 'pk')) AS pk`);
  if (!reserved) throw new Error('no key was reserved');
  return reserved.pk;
}

/** What is selected and counted on is taken from the content by the database, so the two cannot differ. */
export async function insertCases(
  db: Queryable,
  pk: number,
  from: number,
  cases: readonly EvalCase[],
  repeated: (ordinal: number, earlier: number) => void,
): Promise<void> {
  const inserted = await rows<{ ordinal: number }>(
    db,
    `INSERT INTO dataset_cases (dataset_pk, ordinal, case_id, tags, target, memory_mb, cpu_millicores, content, bytes)
     SELECT $1, $2::int + position - 1, content ->> 'id',
       ARRAY(SELECT jsonb_array_elements_text(content -> 'tags')), content #>> '{placement,target}',
       (content #>> '{resources,memoryMb}')::int, (content #>> '{resources,cpu}')::int, content,
       octet_length(content::text)
     FROM jsonb_array_elements($3::jsonb) WITH ORDINALITY AS sent (content, position) ORDER BY position
     ON CONFLICT (dataset_pk, case_id) DO NOTHING RETURNING ordinal`,
    [pk, from, JSON.stringify(cases)],
  );
  if (inserted.length === cases.length) return;
  const fresh = new Set(inserted.map(({ ordinal }) => ordinal));
  for (const [index, { id }] of cases.entries()) {
    if (fresh.has(from + index)) continue;
    const earlier = await row<{ ordinal: number }>(
      db,
      'SELECT ordinal FROM dataset_cases WHERE dataset_pk = $1 AND case_id = $2',
      [pk, id],
    );
    repeated(from + index, earlier?.ordinal ?? from);
  }
}

/** Says where what describes a dataset differs from the one that is registered under the same name; of cases, that they do. */
export async function datasetDifferences(
  db: Queryable,
  registration: Registration,
  { description, tags }: DatasetHead,
  caseCount: number,
): Promise<Registration> {
  if (registration.kind !== 'conflict') return registration;
  const known = await row<{ description: string | null; tags: string[]; caseCount: number }>(
    db,
    'SELECT description, tags, case_count AS "caseCount" FROM datasets WHERE pk = $1',
    [registration.pk],
  );
  const differs = differences(known, { description: description ?? null, tags, caseCount });
  return { ...registration, differs: differs.length > 0 ? differs : ['cases'] };
}
