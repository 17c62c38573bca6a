import type { Readable } from 'node:stream';
import { z } from 'zod';
import { Dataset, DatasetHead } from '../../contracts/dataset.js';
import { PlatformError } from '../../contracts/errors.js';
import { quoted } from '../../contracts/field-path.js';
import { caseFaults } from '../../policy/cases.js';
import { incoming } from '../common/incoming.js';
import { invalid, parseInput } from '../common/schema.pipe.js';
import { CaseReader } from './case-reader.js';
import { CASE_LIMIT, sizeFault } from './case-size.js';

/** Query of a JSONL upload, which has no other place for what describes the dataset. */
export const JsonLinesQuery = DatasetHead.extend({
  /** Repeated for more than one. */
  tags: z.union([z.string(), z.array(z.string())]).default([]),
});

/** A dataset out of a JSON body. */
export function parseDataset(body: unknown, query: unknown): Dataset {
  parseInput(z.strictObject({}), query, 'the query');
  const dataset = parseInput(Dataset, body, 'the dataset');
  const faults = dataset.cases.flatMap((evalCase, index) => {
    const bytes = Buffer.byteLength(JSON.stringify(evalCase));
    const path = `cases[${index}]`;
    const found = caseFaults(evalCase).map((fault) => ({ path: `${path}.${fault.path}`, message: fault.message }));
    return bytes > CASE_LIMIT ? [sizeFault(bytes, path, `case ${quoted(evalCase.id)}`), ...found] : found;
  });
  if (faults.length > 0) throw invalid('the dataset', faults);
  return dataset;
}

export function parseHead(query: unknown): DatasetHead {
  const { tags, ...rest } = parseInput(JsonLinesQuery, query, 'the query');
  return parseInput(DatasetHead, { ...rest, tags: [tags].flat() }, 'the query');
}

/** Cases as the body brings them, one a line. `announced`: its length, if the client said so. */
export function readCases(body: Readable, announced: string | undefined, limit: number): CaseReader {
  if (Number(announced) > limit) {
    throw new PlatformError('BODY_TOO_LARGE', `the upload has ${announced} bytes; the limit is ${limit}`);
  }
  return new CaseReader(incoming(body), limit);
}
