import type { DataSource } from 'typeorm';
import type { Demand } from '../contracts/admission.js';
import { EvalCase } from '../contracts/case.js';
import type { Dataset, DatasetHead, DatasetSummary } from '../contracts/dataset.js';
import type { CaseFilter } from '../contracts/scorecard.js';
import { auditWithin, noteAudit } from './audit-draft.js';
import { DatasetHash } from './content-hash.js';
import { datasetDifferences, insertCases, reservePk } from './dataset-insert.js';
import { type Registrant, type Registration, register } from './registration.js';
import { filterParams, selectedCases } from './selected-cases.js';
import { KNOWN, type KnownVersion, parseRef, resolvePk } from './spec-ref.js';
import { keptAwake, row, rows, transactionOnce } from './sql.js';

export type RegisteredDataset = DatasetSummary & KnownVersion;

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

/** Cases in their order, a page at a time. */
export type CasePages = AsyncIterable<EvalCase[]> | Iterable<EvalCase[]>;

interface StoredCase {
  ordinal: number;
  content: unknown;
}

interface DatasetRow extends KnownVersion {
  description: string | null;
  tags: string[];
  case_count: number;
  created_at: Date;
}

/** Cases in one INSERT: with 1 MB a case it stays well below what one `jsonb` may hold. */
const INSERT_BATCH = 100;
const READ_BATCH = 500;
/** A page of cases ends with the one that passes this. */
const PAGE_BYTES = 2 * 1024 * 1024;

const toCase = ({ ordinal, content }: StoredCase): DatasetCase => ({
  ordinal,
  case: EvalCase.parse(content),
});

export class DatasetStore {
  constructor(private readonly dataSource: DataSource) {}

  insert(workspaceId: string, { cases, ...head }: Dataset, by: Registrant): Promise<Registration> {
    return this.insertPages(workspaceId, head, pagesOf(cases), by);
  }

  /**
   * Inserts cases as they come. The dataset is seen whole or not at all: what `pages` throws leaves nothing.
   * `repeated` is told of each case that has the id of an earlier one, by their positions; `pages` must throw then.
   */
  async insertPages(
    workspaceId: string,
    head: DatasetHead,
    pages: CasePages,
    by: Registrant,
    repeated: (ordinal: number, earlier: number) => void = () => {},
  ): Promise<Registration> {
    const { id, version, description, tags } = head;
    const hash = new DatasetHash();
    const known = await row<{ pk: number; content_hash: string }>(
      this.dataSource,
      'SELECT pk, content_hash FROM datasets WHERE workspace_id = $1 AND id = $2 AND version = $3',
      [workspaceId, id, version],
    );
    if (known) {
      let count = 0;
      for await (const page of pages) {
        for (const evalCase of page) hash.add(evalCase);
        count += page.length;
      }
      noteAudit({ before: known.content_hash, after: known.content_hash });
      const kind = hash.digest(head) === known.content_hash ? 'unchanged' : 'conflict';
      return datasetDifferences(this.dataSource, { kind, pk: known.pk, isConfirmed: true }, head, count);
    }
    return transactionOnce(this.dataSource, async (db) => {
      const pk = await reservePk(db);
      let count = 0;
      for await (const page of keptAwake(db, pages)) {
        await insertCases(db, pk, count, page, repeated);
        for (const evalCase of page) hash.add(evalCase);
        count += page.length;
      }
      const contentHash = hash.digest(head);
      // Last, so that nobody waits for this name, or for the workspace, as long as cases come.
      const registration = await register(db, 'datasets', {
        ...{ workspaceId, id, version, tags, by, hash: contentHash },
        columns: { pk, description: description ?? null, tags, case_count: count },
      });
      if (registration.kind === 'inserted') {
        await auditWithin(db, { object: `${id}@${version}`, after: contentHash });
        return registration;
      }
      await rows(db, 'DELETE FROM dataset_cases WHERE dataset_pk = $1', [pk]);
      return datasetDifferences(db, registration, head, count);
    });
  }

  /** `ref`: `id` or `id@version`. */
  async find(workspaceId: string, ref: string): Promise<RegisteredDataset | undefined> {
    const pk = await resolvePk(this.dataSource, 'datasets', workspaceId, parseRef(ref));
    if (pk === undefined) return undefined;
    const found = await row<DatasetRow>(
      this.dataSource,
      `SELECT ${KNOWN}, t.description, t.tags, t.case_count, t.created_at FROM datasets t WHERE t.pk = $1`,
      [pk],
    );
    if (!found) return undefined;
    const { description, tags, case_count: caseCount, created_at, ...known } = found;
    const createdAt = created_at.toISOString();
    return { ...known, ...(description !== null && { description }), tags, caseCount, createdAt };
  }

  /** Cases after `afterOrdinal` (-1: from the first): at most `limit`, fewer if they are large, none at the end only. */
  async pageCases(pk: number, afterOrdinal: number, limit: number): Promise<DatasetCase[]> {
    const sql = `SELECT ordinal, content FROM (
        SELECT ordinal, content, sum(bytes) OVER (ORDER BY ordinal) - bytes AS before FROM dataset_cases
        WHERE dataset_pk = $1 AND ordinal > $2 ORDER BY ordinal LIMIT $3
      ) page WHERE before < $4 ORDER BY ordinal`;
    return (await rows<StoredCase>(this.dataSource, sql, [pk, afterOrdinal, limit, PAGE_BYTES])).map(toCase);
  }

  async readCase(pk: number, ordinal: number): Promise<EvalCase | undefined> {
    return (await this.pageCases(pk, ordinal - 1, 1)).find((found) => found.ordinal === ordinal)?.case;
  }

  async findCase(pk: number, caseId: string): Promise<DatasetCase | undefined> {
    const sql = 'SELECT ordinal, content FROM dataset_cases WHERE dataset_pk = $1 AND case_id = $2';
    const found = await row<StoredCase>(this.dataSource, sql, [pk, caseId]);
    return found && toCase(found);
  }

  /** What a filter selects, by target. `fallback` is the demand of cases that declare none themselves, per axis. */
  async selection(pk: number, filter: CaseFilter = {}, fallback: Demand = {}): Promise<SelectedTarget[]> {
    const found = await rows<{ target: string | null; cases: number; memory_mb: number | null; cpu: number | null }>(
      this.dataSource,
      `SELECT target, count(*) AS cases, max(coalesce(memory_mb, $5::int)) AS memory_mb,
              max(coalesce(cpu_millicores, $6::int)) AS cpu
       FROM (${selectedCases()}) selected GROUP BY target ORDER BY target COLLATE "C" NULLS FIRST`,
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
  async *selectedCases(pk: number, { limit, ...filter }: CaseFilter = {}): AsyncGenerator<DatasetCase> {
    let left = limit ?? Number.POSITIVE_INFINITY;
    for (let after = -1; left > 0; ) {
      const page = await rows<StoredCase>(
        this.dataSource,
        `SELECT ordinal, content FROM (
           SELECT ordinal, content, sum(bytes) OVER (ORDER BY ordinal) - bytes AS before FROM (
             ${selectedCases('ordinal, content, bytes', 'ordinal > $5')}
           ) selected
         ) page WHERE before < $6 ORDER BY ordinal`,
        [...filterParams(pk, { ...filter, limit: Math.min(left, READ_BATCH) }), after, PAGE_BYTES],
      );
      for (const found of page) yield toCase(found);
      left -= page.length;
      const last = page.at(-1);
      if (!last) return;
      after = last.ordinal;
    }
  }
}

function* pagesOf(cases: readonly EvalCase[]): Generator<EvalCase[]> {
  for (let from = 0; from < cases.length; from += INSERT_BATCH) yield cases.slice(from, from + INSERT_BATCH);
}
