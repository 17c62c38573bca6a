import { EvalCase } from '../../contracts/case.js';
import { MOST_CASES } from '../../contracts/dataset.js';
import { type FieldError, PlatformError } from '../../contracts/errors.js';
import { quoted } from '../../contracts/field-path.js';
import { readValue } from '../../contracts/read-value.js';
import { caseFaults } from '../../policy/cases.js';
import { jsonFault } from '../common/body-parsers.js';
import { type Line, linesOf } from '../common/json-lines.js';
import { invalid } from '../common/schema.pipe.js';
import { CASE_LIMIT, sizeFault } from './case-size.js';

const PAGE_CASES = 100;
const PAGE_BYTES = 1024 * 1024;
const MOST_FAULTS = 100;
/** Of a longer line nothing is parsed, not even the id of its case. */
const KEPT_BYTES = 4 * CASE_LIMIT;

/** Reads cases one a line. Holds a page of them, and the number of each one's line. */
export class CaseReader {
  private readonly faults: FieldError[] = [];
  /** By the position of the case. */
  private readonly lines: number[] = [];
  private readonly decoder = new TextDecoder('utf-8', { fatal: true });
  private bytes = 0;
  private last = 'before the first case';

  constructor(
    private readonly body: AsyncIterable<Uint8Array>,
    /** Bytes of all lines. */
    private readonly limit: number,
  ) {}

  /** Throws at the end, or before, if there are faults. */
  async *pages(): AsyncGenerator<EvalCase[]> {
    let page: EvalCase[] = [];
    let pageBytes = 0;
    for await (const line of linesOf(this.counted(), KEPT_BYTES)) {
      const found = this.read(line);
      if (this.faults.length >= MOST_FAULTS) break;
      if (!found) continue;
      this.lines.push(line.number);
      page.push(found);
      pageBytes += line.bytes;
      if (page.length < PAGE_CASES && pageBytes < PAGE_BYTES) continue;
      yield page;
      page = [];
      pageBytes = 0;
    }
    if (page.length > 0) yield page;
    if (this.lines.length + this.faults.length === 0) this.faults.push({ path: '', message: 'has no cases' });
    if (this.faults.length > 0) throw invalid('the dataset', this.faults);
  }

  /** The case at this position has the id of an earlier one. */
  repeated(ordinal: number, earlier: number): void {
    const message = `repeats the id of line ${this.lines[earlier]}`;
    this.faults.push({ path: place(this.lines[ordinal] ?? 0, 'id'), message });
  }

  private async *counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.body) {
      this.bytes += chunk.length;
      if (this.bytes > this.limit) {
        const message = `the upload has more than ${this.limit} bytes, which is the limit: ${this.bytes} came ${this.last}`;
        throw new PlatformError('BODY_TOO_LARGE', message);
      }
      yield chunk;
    }
  }

  private read(line: Line): EvalCase | undefined {
    const { number } = line;
    const value = this.parse(line);
    if (value === undefined) return undefined;
    const named =
      typeof value === 'object' && value !== null && 'id' in value ? `case ${quoted(String(value.id))}` : 'a case';
    this.last = `up to line ${number}, ${named}`;
    if (line.bytes > CASE_LIMIT) return this.refuse(number, [sizeFault(line.bytes, '', named)]);
    if (this.lines.length >= MOST_CASES) {
      const message = `${named} is case number ${this.lines.length + 1}; the limit is ${MOST_CASES}`;
      throw invalid('the dataset', [...this.faults, { path: place(number), message }]);
    }
    const read = readValue(EvalCase, value);
    if ('faults' in read) return this.refuse(number, read.faults);
    const faults = caseFaults(read.data);
    return faults.length === 0 ? read.data : this.refuse(number, faults);
  }

  /** The value of a line; nothing for a blank one, or one with a fault. */
  private parse({ number, bytes, content }: Line): unknown {
    if (bytes > content.length) return this.refuse(number, [sizeFault(bytes, '', 'a case')]);
    let text: string;
    try {
      text = this.decoder.decode(content);
    } catch {
      return this.refuse(number, [{ path: '', message: 'is not valid UTF-8' }]);
    }
    if (text.trim() === '') return undefined;
    try {
      return JSON.parse(text);
    } catch (error) {
      return this.refuse(number, [{ path: '', message: `is not valid JSON: ${jsonFault(text, error, number)}` }]);
    }
  }

  private refuse(line: number, faults: readonly FieldError[]): undefined {
    this.faults.push(...faults.map(({ path, message }) => ({ path: place(line, path), message })));
  }
}

const place = (line: number, path = ''): string => (path ? `line ${line}: ${path}` : `line ${line}`);
