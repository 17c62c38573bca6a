import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type DataPaths, dataPaths, readMarker } from './data-dir.js';
import { admitTemporalData, explainTemporalFailure, keepTemporalData } from './temporal-data.js';

const dirs: string[] = [];
afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
});

const HISTORIES = 'SQLite format 3\0 and histories';

/** A directory whose server made its database; `isUp`: and came up. */
function aDatabase({ by = '1.32.0', isUp = true } = {}): DataPaths {
  const dir = mkdtempSync(path.join(tmpdir(), 'everdict-temporal-'));
  dirs.push(dir);
  const paths = dataPaths(dir);
  admitTemporalData(paths, by);
  writeFileSync(paths.temporal, HISTORIES);
  if (isUp) keepTemporalData(paths);
  return paths;
}

test('a server of the same series opens what an earlier one made', () => {
  const paths = aDatabase();
  admitTemporalData(paths, '1.32.7');
  expect(readMarker(paths).temporalServer).toBe('1.32.0');
});

test.each(['1.33.0', '1.31.9', '2.32.0'])('server %s is refused with both versions and two ways out', (version) => {
  const paths = aDatabase();
  const admit = () => admitTemporalData(paths, version);
  expect(admit).toThrow(`made by Temporal server 1.32.0, and this is ${version}`);
  expect(admit).toThrow('set EVERDICT_TEMPORAL_CLI to a `temporal` with server 1.32');
  expect(admit).toThrow(`mv ${paths.temporal}* ${paths.dir}/old-temporal/`);
  expect(readFileSync(paths.temporal, 'utf8')).toBe(HISTORIES);
});

test('garbage is refused and left as it is', () => {
  const paths = aDatabase();
  writeFileSync(paths.temporal, 'garbage');
  expect(() => admitTemporalData(paths, '1.32.0')).toThrow('is damaged: it is no SQLite database');
  expect(readFileSync(paths.temporal, 'utf8')).toBe('garbage');
});

test('a database that was moved away is made anew by whatever server there is', () => {
  const paths = aDatabase();
  rmSync(paths.temporal);
  admitTemporalData(paths, '1.40.0');
  expect(readMarker(paths)).toMatchObject({ temporalServer: '1.40.0', isTemporalDraft: true });
});

test('one whose making was cut short holds nothing, and is made again', () => {
  const paths = aDatabase({ isUp: false });
  writeFileSync(`${paths.temporal}-wal`, '');
  admitTemporalData(paths, '1.32.0');
  expect([paths.temporal, `${paths.temporal}-wal`].map((file) => existsSync(file))).toEqual([false, false]);
});

test('what the server says of damage is told with the way out, other failures as they are', () => {
  const paths = aDatabase();
  const told = explainTemporalFailure(new Error('database disk image is malformed'), paths);
  expect(String(told)).toMatch(/temporal\.db, is damaged.*malformed\n.*old-temporal/s);
  const readOnly = explainTemporalFailure(new Error('attempt to write a readonly database (8)'), paths);
  expect(String(readOnly)).toMatch(/temporal\.db, cannot be written: it must belong to the user/);
  const full = explainTemporalFailure(new Error('database or disk is full (13)'), paths);
  expect(String(full)).toMatch(/temporal\.db, has no room: the disk is full; make room/);
  const other = new Error('bind: address already in use');
  expect(explainTemporalFailure(other, paths)).toBe(other);
});
