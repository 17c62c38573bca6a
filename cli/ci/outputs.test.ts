import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeRoom } from './outputs.js';

const dir = mkdtempSync(path.join(tmpdir(), 'everdict-outputs-'));
afterAll(() => rmSync(dir, { recursive: true }));
writeFileSync(path.join(dir, 'file'), '');

test('there is room for reports of one directory that was not there', async () => {
  const [html, junit] = ['report.html', 'junit.xml'].map((name) => path.join(dir, 'a/b/c', name));
  await makeRoom({ html, junit });
  await makeRoom({ html, junit });
  expect(statSync(path.join(dir, 'a/b/c')).isDirectory()).toBe(true);
});

test.each(['/proc/x/y/report.html', '/dev/null/x/report.html', path.join(dir, 'file/report.html')])(
  'that there can be no %s is said at once',
  async (html) => {
    await expect(makeRoom({ html })).rejects.toThrow(`${html} cannot be written`);
  },
);
