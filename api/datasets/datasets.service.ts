import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { EvalCase } from '../../contracts/case.js';
import type { DatasetSummary } from '../../contracts/dataset.js';
import { DatasetStore, type RegisteredDataset } from '../../store/dataset.store.js';
import { decodeCursor, type ListQuery, type Page, pageOfAll, toPage } from '../common/cursor.js';
import { accepted, notFound, type Registered, refOf } from '../common/registration.js';
import { parseUpload } from './upload.js';

@Injectable()
export class DatasetsService {
  constructor(private readonly datasets: DatasetStore) {}

  async register(
    workspace: string,
    body: unknown,
    query: unknown,
  ): Promise<{ outcome: Registered; summary: DatasetSummary }> {
    const dataset = parseUpload(body, query);
    const outcome = accepted(await this.datasets.insert(workspace, dataset), 'dataset', dataset);
    return { outcome, summary: await this.read(workspace, dataset.id, dataset.version) };
  }

  async list(workspace: string, query: ListQuery): Promise<Page<DatasetSummary>> {
    const rows = (await this.datasets.list(workspace)).map((spec) => ({ spec, pk: spec.pk }));
    return pageOfAll(rows, query, ({ spec }) => summaryOf(spec));
  }

  async read(workspace: string, id: string, version: string): Promise<DatasetSummary> {
    return summaryOf(await this.find(workspace, id, version));
  }

  async cases(workspace: string, id: string, version: string, { cursor, limit }: ListQuery): Promise<Page<EvalCase>> {
    const { pk } = await this.find(workspace, id, version);
    const after = decodeCursor(z.int().min(0), cursor) ?? -1;
    const rows = await this.datasets.pageCases(pk, after, limit + 1);
    return toPage(
      rows,
      limit,
      (row) => row.case,
      ({ ordinal }) => ordinal,
    );
  }

  private async find(workspace: string, id: string, version: string): Promise<RegisteredDataset> {
    const found = await this.datasets.find(workspace, refOf(id, version));
    if (!found) throw notFound('dataset', `${id}@${version}`);
    return found;
  }
}

const summaryOf = ({ pk: _, ...summary }: RegisteredDataset): DatasetSummary => summary;
