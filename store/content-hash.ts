import { createHash } from 'node:crypto';
import type { EvalCase } from '../contracts/case.js';
import type { DatasetHead } from '../contracts/dataset.js';
import { canonicalJson } from '../policy/canonical.js';

/** Hash of a value's content: the order of its keys does not count. */
export const contentHash = (value: unknown): string => createHash('sha256').update(canonicalJson(value)).digest('hex');

/** `contentHash` of a dataset whose cases come one after another: `cases` is the first of its keys. */
export class DatasetHash {
  private readonly hash = createHash('sha256');
  private separator = '{"cases":[';

  add(evalCase: EvalCase): void {
    this.hash.update(this.separator).update(canonicalJson(evalCase));
    this.separator = ',';
  }

  /** Once, at the end. */
  digest(head: DatasetHead): string {
    return this.hash.update(`],${canonicalJson(head).slice(1)}`).digest('hex');
  }
}
