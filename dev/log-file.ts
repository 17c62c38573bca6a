import {
  closeSync,
  copyFileSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  statSync,
  truncateSync,
} from 'node:fs';
import path from 'node:path';
import type { DataPaths } from './data-dir.js';
import type { PartName } from './part-processes.js';

/** A log is rotated at this size; the part before it is kept as `<file>.1`, and nothing older. */
const LIMIT_BYTES = 16 * 1_024 * 1_024;
/** Of what a program printed since its start, as much is looked at. */
const SHOWN_BYTES = 256 * 1_024;

export interface OpenLog {
  fd: number;
  /** Where what comes now begins. */
  from: number;
}

/** Opens a log to append to. One that would soon be rotated is, before anything new is in it. */
export function openLog(file: string, limitBytes = LIMIT_BYTES): OpenLog {
  if (sizeOf(file) > limitBytes / 2) renameSync(file, `${file}.1`);
  const fd = openSync(file, 'a');
  return { fd, from: fstatSync(fd).size };
}

/** What was appended since `from`, of much the last part. */
export function readLog(file: string, from: number): string {
  const fd = openSync(file, 'r');
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(Math.max(0, size - from), SHOWN_BYTES));
    const length = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return bytes.subarray(0, length).toString('utf8');
  } finally {
    closeSync(fd);
  }
}

/** The last lines since `from`. */
export function tailOf(file: string, from: number, lines = 12): string {
  return readLog(file, from).trimEnd().split('\n').slice(-lines).join('\n') || '(nothing)';
}

/** Cuts every log of a directory that has grown too long. Its writer goes on at the new end: it only appends. */
export function boundLogs(dir: string, limitBytes = LIMIT_BYTES): void {
  for (const name of readdirSync(dir).filter((each) => each.endsWith('.log'))) {
    const file = path.join(dir, name);
    if (sizeOf(file) <= limitBytes) continue;
    try {
      copyFileSync(file, `${file}.1`);
      truncateSync(file, 0);
    } catch {
      // The disk may be full: it is tried again.
    }
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** Where a part of the platform says what it does. */
export const logOf = ({ logs }: DataPaths, part: PartName): string => path.join(logs, `${part}.log`);
