import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { furnish, openDataDir } from './data-dir.js';
import { admitPostgresData, explainInitFailure, keepPostgresData } from './postgres-data.js';

const root = mkdtempSync(path.join(tmpdir(), 'everdict-postgres-data-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('a database that was there once is not replaced by an empty one', async () => {
  const paths = openDataDir(root);
  furnish(paths);
  // The first start may be cut short at any moment.
  await admitPostgresData(paths);
  mkdirSync(paths.postgres);
  await admitPostgresData(paths);

  writeFileSync(path.join(paths.postgres, 'PG_VERSION'), '18');
  keepPostgresData(paths);
  await admitPostgresData(paths);
  rmSync(paths.postgres, { recursive: true });
  await expect(admitPostgresData(paths)).rejects.toThrow(/is damaged: it is gone.*reset --keep/s);
  mkdirSync(paths.postgres);
  await expect(admitPostgresData(paths)).rejects.toThrow(/it is gone/);
});

test.each([
  ['initdb: could not look up effective user ID 12345: user does not exist', 'has no name here'],
  ['initdb: error: could not write file: No space left on device', 'make room'],
  ['initdb: error: could not create directory: Permission denied', 'must belong to the user'],
])('%s is followed by what helps', (said, wayOut) => {
  const told = explainInitFailure(said, '/d/postgres');
  expect(told).toContain(`no database could be made in /d/postgres: ${said}`);
  expect(told).toContain(wayOut);
});
