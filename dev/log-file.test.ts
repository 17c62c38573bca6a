import { appendFileSync, closeSync, mkdtempSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { boundLogs, openLog, readLog, tailOf } from './log-file.js';

const dir = mkdtempSync(path.join(tmpdir(), 'everdict-logs-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const aFile = (name: string): string => path.join(dir, `${name}.log`);

test('only what comes after it was opened is read', () => {
  const file = aFile('fresh');
  writeFileSync(file, 'long ago\n');
  const { fd, from } = openLog(file);
  writeSync(fd, 'now\n');
  closeSync(fd);
  expect(readLog(file, from)).toBe('now\n');
  expect(tailOf(file, from + 4)).toBe('(nothing)');
});

test('of much, the end is read', () => {
  const file = aFile('much');
  writeFileSync(file, `${'x'.repeat(1_000_000)}\nthe end`);
  expect(readLog(file, 0).length).toBeLessThan(300_000);
  expect(tailOf(file, 0, 1)).toBe('the end');
});

test('a log that has grown too long is cut while its program goes on writing, and one earlier part is kept', () => {
  const file = aFile('grown');
  const { fd } = openLog(file);
  writeSync(fd, 'old '.repeat(50));
  boundLogs(dir, 150);
  writeSync(fd, 'new');
  closeSync(fd);
  expect(readFileSync(file, 'utf8')).toBe('new');
  expect(readFileSync(`${file}.1`, 'utf8')).toBe('old '.repeat(50));
});

test('a long log moves aside at a start', () => {
  const file = aFile('started');
  appendFileSync(file, 'x'.repeat(100));
  const { fd, from } = openLog(file, 150);
  closeSync(fd);
  expect(from).toBe(0);
  expect(readFileSync(`${file}.1`, 'utf8')).toHaveLength(100);
});
