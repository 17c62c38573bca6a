import type { DataSource } from 'typeorm';
import type { Demand } from '../contracts/admission.js';
import { EvalCase } from '../contracts/case.js';
import type { Dataset, DatasetSummary } from '../contracts/dataset.js';
import type { CaseFilter } from '../contracts/scorecard.js';
import { contentHash } from './content-hash.js';
import { filterParams, SELECTED_CASES } from './selected-cases.js';
import { compareRegistered, parseRef, type Registration, resolvePk } from './spec-ref.js';
import { type Queryable, row, rows, transaction } from './sql.js';

export interface RegisteredDataset extends DatasetSummary {
  pk: number;
}

export interface DatasetCase {
  /** Position in the dataset, from 0. */
  ordinal: number;
  case: EvalCase;
}

/** Selected cases of one target, with the largest demand among them on each axis. */
export interface SelectedTarget {
  /** Absent: these cases name none. */
  target?: string;
  cases: number;
  maxMemoryMb?: number;
  maxCpuMillicores?: number;
}

interface DatasetRow {
  pk: number;
  id: string;
  version: string;
  description: string | null;
  tags: string[];
  case_count: number;
  content_hash: string;
  created_at: Date;
}

const COLUMNS = 'pk, id, version, description, tags, case_count, content_hash, created_at';
/** Cases in one INSERT: with 1 MB a case it stays well below what one `jsonb` may hold. */
const INSERT_BATCH = 100;
const READ_BATCH = 500;

const toDataset = (stored: DatasetRow): RegisteredDataset => ({
  pk: stored.pk,
  id: stored.id,
  version: stored.version,
  ...(stored.description !== null && { description: stored.description }),
  tags: stored.tags,
  caseCount: stored.case_count,
  contentHash: stored.content_hash,
  createdAt: stored.created_at.toISOString(),
});

const toCase = ({ ordinal, content }: { ordinal: number; content: unknown }): DatasetCase => ({
  ordinal,
  case: EvalCase.parse(content),
});

export class DatasetStore {
  constructor(private readonly dataSource: DataSource) {}

  /** The dataset is seen whole or not at all. */
  async insert(workspaceId: string, dataset: Dataset): Promise<Registration> {
    const { id, version, description, tags, cases } = dataset;
    const hash = contentHash(dataset);
    return transaction(this.dataSource, async (db) => {
      const inserted = await row<{ pk: number }>(
        db,
        `INSERT INTO datasets (workspace_id, id, version, description, tags, case_count, content_hash)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING pk`,
        [workspaceId, id, version, description ?? null, tags, cases.length, hash],
      );
      if (!inserted) return compareRegistered(db, 'datasets', workspaceId, dataset, hash);
      for (let from = 0; from < cases.length; from += INSERT_BATCH) {
        await insertCases(db, inserted.pk, from, cases.slice(from, from + INSERT_BATCH));
      }
      return 'inserted';
    });
  }

  /** `ref`: `id` or `id@version`. */
  async find(workspaceId: string, ref: string): Promise<RegisteredDataset | undefined> {
    const pk = await resolvePk(this.dataSource, 'datasets', workspaceId, parseRef(ref));
    if (pk === undefined) return undefined;
    const found = await row<DatasetRow>(this.dataSource, `SELECT ${COLUMNS} FROM datasets WHERE pk = $1`, [pk]);
    return found && toDataset(found);
  }

  /** Every registered version, by id and in the order of registration. */
  async list(workspaceId: string): Promise<RegisteredDataset[]> {
    const sql = `SELECT ${COLUMNS} FROM datasets WHERE workspace_id = $1 ORDER BY id COLLATE "C", pk`;
    return (await rows<DatasetRow>(this.dataSource, sql, [workspaceId])).map(toDataset);
  }

  /** Cases after `afterOrdinal` (-1: from the first). */
  async pageCases(pk: number, afterOrdinal: number, limit: number): Promise<DatasetCase[]> {
    const sql = `SELECT ordinal, content FROM dataset_cases WHERE dataset_pk = $1 AND ordinal > $2 ORDER BY ordinal LIMIT $3`;
    return (await rows<{ ordinal: number; content: unknown }>(this.dataSource, sql, [pk, afterOrdinal, limit])).map(
      toCase,
    );
  }

  async readCase(pk: number, ordinal: number): Promise<EvalCase | undefined> {
    return (await this.pageCases(pk, ordinal - 1, 1)).find((found) => found.ordinal === ordinal)?.case;
  }

  async findCase(pk: number, caseId: string): Promise<DatasetCase | undefined> {
    const sql = 'SELECT ordinal, content FROM dataset_cases WHERE dataset_pk = $1 AND case_id = $2';
    const found = await row<{ ordinal: number; content: unknown }>(this.dataSource, sql, [pk, caseId]);
    return found && toCase(found);
  }

  /** What a filter selects, by target. `fallback` is the demand of cases that declare none themselves, per axis. */
  async selection(pk: number, filter: CaseFilter = {}, fallback: Demand = {}): Promise<SelectedTarget[]> {
    const found = await rows<{ target: string | null; cases: number; memory_mb: number | null; cpu: number | null }>(
      this.dataSource,
      `SELECT target, count(*) AS cases, max(coalesce(memory_mb, $5::int)) AS memory_mb,
              max(coalesce(cpu_millicores, $6::int)) AS cpu
       FROM (${SELECTED_CASES}) selected GROUP BY target ORDER BY target COLLATE "C" NULLS FIRST`,
      [...filterParams(pk, filter), fallback.memoryMb ?? null, fallback.cpuMillicores ?? null],
    );
    return found.map(({ target, cases, memory_mb, cpu }) => ({
      ...(target !== null && { target }),
      cases,
      ...(memory_mb !== null && { maxMemoryMb: memory_mb }),
      ...(cpu !== null && { maxCpuMillicores: cpu }),
    }));
  }

  /** The ids that name no case of the dataset. */
  async unknownIds(pk: number, ids: readonly string[]): Promise<string[]> {
    const sql = `SELECT id FROM unnest($2::text[]) WITH ORDINALITY asked (id, position)
      WHERE NOT EXISTS (SELECT FROM dataset_cases WHERE dataset_pk = $1 AND case_id = asked.id) ORDER BY position`;
    return (await rows<{ id: string }>(this.dataSource, sql, [pk, ids])).map(({ id }) => id);
  }

  /** The selected cases in order, read a page at a time. */
  async *selectedCases(pk: number, filter: CaseFilter = {}): AsyncGenerator<DatasetCase> {
    for (let after = -1; ; ) {
      const page = await rows<{ ordinal: number; content: unknown }>(
        this.dataSource,
        `SELECT c.ordinal, c.content FROM (${SELECTED_CASES}) selected
         JOIN dataset_cases c ON c.dataset_pk = $1 AND c.ordinal = selected.ordinal
         WHERE selected.ordinal > $5 ORDER BY selected.ordinal LIMIT $6`,
        [...filterParams(pk, filter), after, READ_BATCH],
      );
      for (const found of page) yield toCase(found);
      const last = page.at(-1);
      if (!last || page.length < READ_BATCH) return;
      after = last.ordinal;
    }
  }
}

/** What is selected and counted on is taken from the content by the database, so the two cannot differ. */
async function insertCases(db: Queryable, pk: number, from: number, cases: EvalCase[]): Promise<void> {
  await rows(
    db,
    `INSERT INTO dataset_cases (dataset_pk, ordinal, case_id, tags, target, memory_mb, cpu_millicores, content)
     SELECT $1, $2::int + position - 1, content ->> 'id',
       ARRAY(SELECT jsonb_array_elements_text(content -> 'tags')), content #>> '{placement,target}',
       (content #>> '{resources,memoryMb}')::int, (content #>> '{resources,cpu}')::int, content
     FROM jsonb_array_elements($3::jsonb) WITH ORDINALITY AS sent (content, position)`,
    [pk, from, JSON.stringify(cases)],
  );
}
