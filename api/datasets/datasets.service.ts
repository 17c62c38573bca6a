import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { EvalCase } from '../../contracts/case.js';
import type { DatasetHead, DatasetSummary } from '../../contracts/dataset.js';
import { type DatasetCase, DatasetStore, type RegisteredDataset } from '../../store/dataset.store.js';
import type { Registration } from '../../store/registration.js';
import type { Principal } from '../common/caller.js';
import { decodeCursor, encodeCursor, type ListQuery, type Page } from '../common/cursor.js';
import { Operator } from '../common/operator.js';
import { type Accepted, accepted, refOf, registrantOf } from '../common/registration.js';
import { RegistryService } from '../common/registry.service.js';
import { Turns } from '../common/turns.js';
import { parseDataset, parseHead, readCases } from './upload.js';

/** Streamed uploads at a time. Each takes a database connection as long as it lasts; further ones wait. */
const MOST_UPLOADS = 4;

/** Cases one a line. `bytes`: how many are announced, if that is known. */
export interface CaseLines {
  body: Readable;
  bytes?: string;
}

interface Registered {
  outcome: Accepted;
  summary: DatasetSummary;
}

@Injectable()
export class DatasetsService {
  private readonly uploads = new Turns(MOST_UPLOADS);

  constructor(
    private readonly datasets: DatasetStore,
    private readonly registry: RegistryService,
    private readonly operator: Operator,
  ) {}

  /** All of it in a JSON body. */
  async register(principal: Principal, body: unknown, query: unknown): Promise<Registered> {
    const dataset = parseDataset(body, query);
    const { workspace } = principal;
    return this.registered(workspace, dataset, await this.datasets.insert(workspace, dataset, registrantOf(principal)));
  }

  /** Cases one a line, stored while they come, and what describes the dataset in the query. */
  async upload(principal: Principal, { body, bytes }: CaseLines, query: unknown): Promise<Registered> {
    const { workspace } = principal;
    const head = parseHead(query);
    const reader = readCases(body, bytes, this.operator.uploadLimit);
    const outcome = await this.uploads.take(() =>
      this.datasets.insertPages(workspace, head, reader.pages(), registrantOf(principal), (ordinal, earlier) =>
        reader.repeated(ordinal, earlier),
      ),
    );
    return this.registered(workspace, head, outcome);
  }

  private async registered(workspace: string, head: DatasetHead, registration: Registration): Promise<Registered> {
    const { id, version } = head;
    return { outcome: accepted(registration, 'dataset', head), summary: await this.read(workspace, id, version) };
  }

  async read(workspace: string, id: string, version: string): Promise<DatasetSummary> {
    return summaryOf(await this.find(workspace, id, version));
  }

  /** Fewer than asked for where cases are large. */
  async cases(workspace: string, id: string, version: string, { cursor, limit }: ListQuery): Promise<Page<EvalCase>> {
    const { pk, caseCount } = await this.find(workspace, id, version);
    const after = decodeCursor(z.int().min(0), cursor) ?? -1;
    const rows = await this.datasets.pageCases(pk, after, limit);
    const last = rows.at(-1)?.ordinal ?? caseCount;
    return { items: rows.map((row) => row.case), next: last + 1 < caseCount ? encodeCursor(last) : null };
  }

  /** All cases, one a line. */
  async download(workspace: string, id: string, version: string): Promise<AsyncIterable<string>> {
    const { pk } = await this.find(workspace, id, version);
    return linesOf(this.datasets.selectedCases(pk));
  }

  private async find(workspace: string, id: string, version: string): Promise<RegisteredDataset> {
    const found = await this.datasets.find(workspace, refOf(id, version));
    if (!found) throw await this.registry.missing('datasets', workspace, refOf(id, version));
    return found;
  }
}

const summaryOf = (found: RegisteredDataset): DatasetSummary => ({
  id: found.id,
  version: found.version,
  ...(found.description !== undefined && { description: found.description }),
  tags: found.tags,
  caseCount: found.caseCount,
  contentHash: found.contentHash,
  createdAt: found.createdAt,
});

async function* linesOf(cases: AsyncIterable<DatasetCase>): AsyncGenerator<string> {
  for await (const found of cases) yield `${JSON.stringify(found.case)}\n`;
}
