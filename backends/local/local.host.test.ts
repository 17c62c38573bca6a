import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readLocalHost } from './local.host.js';

describe('readLocalHost', () => {
  let stateDir = '';
  beforeEach(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'everdict-host-'));
  });
  afterEach(() => rm(stateDir, { recursive: true }));

  test('gives every worker of a state directory the same id, also when they start at once', async () => {
    const first = await Promise.all(Array.from({ length: 8 }, () => readLocalHost(stateDir)));
    const again = await readLocalHost(stateDir);

    expect(new Set([...first, again].map(({ id }) => id)).size).toBe(1);
    expect(await readdir(stateDir)).toEqual(['host-id']);
  });

  test('tells two state directories apart', async () => {
    const other = await readLocalHost(join(stateDir, 'other'));

    expect(other.id).not.toBe((await readLocalHost(stateDir)).id);
  });
});
