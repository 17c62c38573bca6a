import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { JsonLog, linesTo } from './log.js';

test('a line is written at once, and lost on a full disk without harm', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'everdict-log-'));
  const file = path.join(dir, 'log');
  for (const target of [file, '/dev/full']) {
    const fd = openSync(target, 'w');
    new JsonLog(linesTo(fd)).info('slot granted', { runId: 'run_1' });
    closeSync(fd);
  }
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ message: 'slot granted', runId: 'run_1' });
  rmSync(dir, { recursive: true });
});
