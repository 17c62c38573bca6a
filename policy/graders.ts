import type { Grader } from '../contracts/grader.js';
import type { Score } from '../contracts/run.js';
import { isEqualJson, parseJson, valueAt } from './json-path.js';
import { search } from './pattern.js';
import type { JobRecord } from './record.js';

/** What the wrapper brought home. */
export interface Evidence {
  /** Null when the command never ran. */
  exitCode: number | null;
  answer: Uint8Array;
  /** The answer was longer than what was kept of it. */
  answerCut: boolean;
  /** Outcomes of the `command` graders, which ran in the job. */
  commandGraders: JobRecord['graders'];
  /** How long each of them was allowed. */
  graderSec?: number;
}

interface Found {
  passed: boolean;
  detail: string;
}

/** The answer, decoded once for all graders. */
interface Answer {
  bytes: Uint8Array;
  text: string;
  isCut: boolean;
}

const LONGEST_DETAIL = 500;
const LONGEST_SHOWN = 120;
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

const passed = (detail: string): Found => ({ passed: true, detail });
const failed = (detail: string): Found => ({ passed: false, detail });
const cut = (kind: string): Found => failed(`the answer was cut: ${kind} needs all of it`);

function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const kept = text.slice(0, longest - 1);
  return `${/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept}…`;
}

/** Details are shown in terminals and stored as JSON: one line, no control characters, at most 500 characters. */
const asDetail = (text: string): string =>
  shortened(text.replaceAll(/\p{Cc}+/gu, ' ').replaceAll(/\p{Surrogate}/gu, '�'), LONGEST_DETAIL);

const shown = (text: string): string => JSON.stringify(shortened(text, LONGEST_SHOWN));

function shownValue(value: unknown): string {
  if (typeof value === 'string') return shown(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return `an object of ${Object.keys(value).length}`;
  return String(value);
}

/** Bytes without one final line feed, or carriage return and line feed. */
function withoutFinalNewline(bytes: Uint8Array): Uint8Array {
  if (bytes.at(-1) !== 0x0a) return bytes;
  return bytes.subarray(0, bytes.at(-2) === 0x0d ? -2 : -1);
}

/** On bytes, because replaced invalid UTF-8 must not equal a real U+FFFD. */
const isEqualBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, index) => byte === b[index]);

const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

function gradeExitCode(expected: number, exitCode: number | null): Found {
  if (exitCode === null) return failed('the command never ran');
  return exitCode === expected
    ? passed(`exit code ${exitCode}`)
    : failed(`exit code ${exitCode}, expected ${expected}`);
}

function gradeEquals(value: string, { bytes, isCut }: Answer): Found {
  if (isCut) return cut('equals');
  const trimmed = withoutFinalNewline(bytes);
  const expected = new TextEncoder().encode(value);
  if (isEqualBytes(trimmed, expected) || isEqualBytes(bytes, expected)) return passed('the answer is equal');
  const text = decode(trimmed);
  let same = 0;
  while (same < text.length && text[same] === value[same]) same++;
  const from = Math.max(0, same - LONGEST_SHOWN / 2);
  const where = from > 0 ? ` from character ${from}` : '';
  return failed(`expected${where} ${shown(value.slice(from))}, got ${shown(text.slice(from))}`);
}

function gradeContains(value: string, { text, isCut }: Answer): Found {
  if (text.includes(value)) return passed(`contains ${shown(value)}`);
  return failed(`does not contain ${shown(value)}${isCut ? ' in the part that was kept; the answer was cut' : ''}`);
}

function gradeRegex(pattern: string, { bytes, text, isCut }: Answer): Found {
  const trimmed = decode(withoutFinalNewline(bytes));
  let found = search(pattern, text);
  if (found === undefined && trimmed !== text && !isCut) found = search(pattern, trimmed);
  if (found === undefined) return failed(`${shown(pattern)} matches nothing${isCut ? '; the answer was cut' : ''}`);
  if ('fault' in found) return failed(`the pattern ${found.fault}`);
  // What follows the cut is unknown, so `$` or a negated class could match there by accident.
  if (isCut && found.end === text.length)
    return failed(`${shown(pattern)} matches only up to where the answer was cut`);
  return passed(`${shown(pattern)} matches`);
}

function gradeJson(path: string, value: unknown, { text, isCut }: Answer): Found {
  if (isCut) return cut('json');
  const parsed = parseJson(text.trim());
  if (!parsed) return failed(`the answer is not JSON: ${shown(text.trim())}`);
  const found = valueAt(parsed.value, path);
  if (!found) return failed(`the answer has nothing at ${path || '$'}`);
  const isEqual = isEqualJson(found.value, value);
  const detail = `${path || '$'} is ${shownValue(found.value)}`;
  return isEqual ? passed(detail) : failed(`${detail}, expected ${shownValue(value)}`);
}

function gradeNumeric(value: number, tolerance: number, { text, isCut }: Answer): Found {
  if (isCut) return cut('numeric');
  const trimmed = text.trim();
  const number = DECIMAL.test(trimmed) ? Number(trimmed) : Number.NaN;
  if (!Number.isFinite(number)) return failed(`the answer is not a number: ${shown(trimmed)}`);
  const range = tolerance > 0 ? `${value} ± ${tolerance}` : `${value}`;
  return Math.abs(number - value) <= tolerance
    ? passed(`${number} is ${range}`)
    : failed(`${number}, expected ${range}`);
}

/** How most languages begin the line that names a failure. */
const FAILURE_LINE = /^[\w.]*(Error|Exception)\b/;

/** The line that most likely says why: the last one that names an error, else the last one. */
function tellingLine(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return (lines.findLast((line) => FAILURE_LINE.test(line)) ?? lines.at(-1) ?? '').trim();
}

function gradeCommand(outcome: JobRecord['graders'][number] | undefined, graderSec: number | undefined): Found {
  if (!outcome) return failed('the grader did not run');
  if (outcome.timedOut) {
    const allowed = graderSec === undefined ? '' : `, more than the allowed ${graderSec} s`;
    return failed(`took ${(outcome.ms / 1_000).toFixed(1)} s${allowed}`);
  }
  const line = tellingLine(decode(outcome.output));
  const said = line ? `: ${shortened(line, 400)}` : '';
  return outcome.status === 0 ? passed(`exit code 0${said}`) : failed(`exit code ${outcome.status}${said}`);
}

/**
 * Measures an attempt, one score a grader, in their order. Never throws, whatever bytes the answer has.
 *
 * - `exit-code`: the command ended with exactly that code.
 * - `equals`: the answer, as it is or after removing one final newline (`\n` or `\r\n`), is the value, byte for byte.
 * - `contains`, `regex`: found anywhere in the answer, decoded as UTF-8; `$` also matches before one final newline.
 * - `json`: the answer is JSON whose value at the path equals the value; the order of keys does not count.
 * - `numeric`: the whole answer, white space around it aside, is a decimal number within `value ± tolerance`.
 * - `command`: the n-th command grader of the job ended with 0, in time.
 *
 * An answer that was cut never passes `equals`, `json` or `numeric`.
 */
export function grade(graders: readonly Grader[], evidence: Evidence): Score[] {
  const { exitCode, commandGraders, graderSec } = evidence;
  const answer: Answer = { bytes: evidence.answer, text: decode(evidence.answer), isCut: evidence.answerCut };
  let commands = 0;
  const measure = (grader: Grader): Found => {
    switch (grader.kind) {
      case 'exit-code':
        return gradeExitCode(grader.expected, exitCode);
      case 'equals':
        return gradeEquals(grader.value, answer);
      case 'contains':
        return gradeContains(grader.value, answer);
      case 'regex':
        return gradeRegex(grader.pattern, answer);
      case 'json':
        return gradeJson(grader.path, grader.value, answer);
      case 'numeric':
        return gradeNumeric(grader.value, grader.tolerance, answer);
      case 'command': {
        commands += 1;
        const index = commands;
        return gradeCommand(
          commandGraders.find((outcome) => outcome.index === index),
          graderSec,
        );
      }
    }
  };
  return graders.map((grader) => {
    const found = measure(grader);
    return { grader: grader.id, kind: grader.kind, passed: found.passed, detail: asDetail(found.detail) };
  });
}
