import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { EvalCase } from '../../contracts/case.js';
import type { DatasetHead, DatasetSummary } from '../../contracts/dataset.js';
import { type DatasetCase, DatasetStore, type RegisteredDataset } from '../../store/dataset.store.js';
import { decodeCursor, encodeCursor, type ListQuery, type Page, pageOfAll } from '../common/cursor.js';
import { Operator } from '../common/operator.js';
import { accepted, notFound, type Registered, refOf } from '../common/registration.js';
import { Turns } from '../common/turns.js';
import { parseDataset, parseHead, readCases } from './upload.js';

/** Streamed uploads at a time. Each takes a database connection as long as it lasts; further ones wait. */
const MOST_UPLOADS = 4;

interface Registration {
  outcome: Registered;
  summary: DatasetSummary;
}

@Injectable()
export class DatasetsService {
  private readonly uploads = new Turns(MOST_UPLOADS);

  constructor(
    private readonly datasets: DatasetStore,
    private readonly operator: Operator,
  ) {}

  /** All of it in a JSON body. */
  async register(workspace: string, body: unknown, query: unknown): Promise<Registration> {
    const dataset = parseDataset(body, query);
    return this.registered(workspace, dataset, await this.datasets.insert(workspace, dataset));
  }

  /** Cases one a line, stored while they come, and what describes the dataset in the query. */
  async upload(workspace: string, body: IncomingMessage, query: unknown): Promise<Registration> {
    const head = parseHead(query);
    const reader = readCases(body, body.headers['content-length'], this.operator.uploadLimit);
    const outcome = await this.uploads.take(() =>
      this.datasets.insertPages(workspace, head, reader.pages(), (ordinal, earlier) =>
        reader.repeated(ordinal, earlier),
      ),
    );
    return this.registered(workspace, head, outcome);
  }

  private async registered(
    workspace: string,
    head: DatasetHead,
    outcome: Registered | 'conflict',
  ): Promise<Registration> {
    const { id, version } = head;
    return { outcome: accepted(outcome, 'dataset', head), summary: await this.read(workspace, id, version) };
  }

  async list(workspace: string, query: ListQuery): Promise<Page<DatasetSummary>> {
    const rows = (await this.datasets.list(workspace)).map((spec) => ({ spec, pk: spec.pk }));
    return pageOfAll(rows, query, ({ spec }) => summaryOf(spec));
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
    if (!found) throw notFound('dataset', `${id}@${version}`);
    return found;
  }
}

const summaryOf = ({ pk: _, ...summary }: RegisteredDataset): DatasetSummary => summary;

async function* linesOf(cases: AsyncIterable<DatasetCase>): AsyncGenerator<string> {
  for await (const found of cases) yield `${JSON.stringify(found.case)}\n`;
}
