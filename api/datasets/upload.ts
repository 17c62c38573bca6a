import { z } from 'zod';
import { EvalCase } from '../../contracts/case.js';
import { jsonFaults } from '../../contracts/clean-json.js';
import { Dataset, DatasetHead } from '../../contracts/dataset.js';
import type { FieldError } from '../../contracts/errors.js';
import { fieldErrors } from '../../contracts/issues.js';
import { caseFaults } from '../../policy/cases.js';
import { JsonLines, jsonFault } from '../common/body-parsers.js';
import { invalid, parseInput } from '../common/schema.pipe.js';

/** Largest case, bytes of JSON. */
const CASE_LIMIT = 1024 * 1024;
const MOST_CASES = 100_000;
const MOST_FAULTS = 100;

/** Query of a JSONL upload, which has no other place for what describes the dataset. */
export const JsonLinesQuery = DatasetHead.extend({
  /** Repeated for more than one. */
  tags: z.union([z.string(), z.array(z.string())]).default([]),
});

/** A dataset out of a request: all of it in a JSON body, or cases line by line and the rest in the query. */
export function parseUpload(body: unknown, query: unknown): Dataset {
  if (body instanceof JsonLines) return parseJsonLines(body, query);
  parseInput(z.strictObject({}), query, 'the query');
  const dataset = parseInput(Dataset, body, 'the dataset');
  const faults = dataset.cases.flatMap((evalCase, index) => [
    ...sizeFaults(Buffer.byteLength(JSON.stringify(evalCase)), `cases[${index}]`),
    ...caseFaults(evalCase).map(({ path, message }) => ({ path: `cases[${index}].${path}`, message })),
  ]);
  if (faults.length > 0) throw invalid('the dataset', faults);
  return dataset;
}

function parseJsonLines({ text }: JsonLines, query: unknown): Dataset {
  const { tags, ...rest } = parseInput(JsonLinesQuery, query, 'the query');
  const head = parseInput(DatasetHead, { ...rest, tags: [tags].flat() }, 'the query');
  const cases: EvalCase[] = [];
  const faults: FieldError[] = [];
  const lineOf = new Map<string, number>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const number = index + 1;
    const parsed = parseLine(line, number);
    if ('faults' in parsed) faults.push(...parsed.faults);
    else {
      const { id } = parsed.evalCase;
      const earlier = lineOf.get(id);
      if (earlier === undefined) lineOf.set(id, number);
      else faults.push({ path: place(number, 'id'), message: `repeats the id of line ${earlier}` });
      cases.push(parsed.evalCase);
    }
    if (faults.length >= MOST_FAULTS) break;
  }
  if (cases.length === 0 && faults.length === 0) faults.push({ path: '', message: 'has no cases' });
  if (cases.length > MOST_CASES) {
    faults.push({ path: '', message: `has ${cases.length} cases; the limit is ${MOST_CASES}` });
  }
  if (faults.length > 0) throw invalid('the dataset', faults);
  return { ...head, cases };
}

function parseLine(line: string, number: number): { evalCase: EvalCase } | { faults: FieldError[] } {
  const tooLarge = sizeFaults(Buffer.byteLength(line), place(number));
  if (tooLarge.length > 0) return { faults: tooLarge };
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return { faults: [{ path: place(number), message: `is not valid JSON: ${jsonFault(line, error, number)}` }] };
  }
  const unclean = jsonFaults(value);
  if (unclean.length > 0) return { faults: unclean.map((fault) => onLine(number, fault)) };
  const parsed = EvalCase.safeParse(value);
  const faults = parsed.success ? caseFaults(parsed.data) : fieldErrors(parsed.error, value, EvalCase);
  if (parsed.success && faults.length === 0) return { evalCase: parsed.data };
  return { faults: faults.map((fault) => onLine(number, fault)) };
}

function sizeFaults(bytes: number, path: string): FieldError[] {
  return bytes > CASE_LIMIT ? [{ path, message: `is a case of ${bytes} bytes; the limit is ${CASE_LIMIT}` }] : [];
}

const place = (line: number, path = ''): string => (path ? `line ${line}: ${path}` : `line ${line}`);
const onLine = (line: number, { path, message }: FieldError): FieldError => ({ path: place(line, path), message });
