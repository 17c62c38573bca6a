import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aTerminal, everdict } from '../test/cli-fakes.js';
import { runCommandLine } from './program.js';

const TEXT = '{"kind":"scorecard"}\n{"kind":"run"}\n';
const answer = () => ({ body: TEXT, type: 'application/x-ndjson' });

describe('scorecard export', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'export-'));
    file = join(folder, 'results.jsonl');
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('is passed on byte for byte into a pipe', async () => {
    const { out, asked } = await everdict(['scorecard', 'export', 'sc_1', '--format', 'csv', '--answers'], answer);
    expect(out).toBe(TEXT);
    expect(asked[0]).toMatchObject({ path: '/scorecards/sc_1/export', query: { format: 'csv', answers: 'true' } });
  });

  test('cannot clear a terminal', async () => {
    const hostile = () => ({ body: 'a\u001b[2Jb\u009bc\n', type: 'text/csv; charset=utf-8' });
    expect((await everdict(['scorecard', 'export', 'sc_1'], hostile, { isTty: true })).out).toBe('ab\n');
  });

  test('is in the file that was named once it is whole, in place of what was there', async () => {
    await writeFile(file, 'older');
    const { out, exitCode } = await everdict(['scorecard', 'export', 'sc_1', '-o', file, '--json'], answer);
    expect([JSON.parse(out), exitCode]).toEqual([{ scorecard: 'sc_1', file, bytes: TEXT.length }, 0]);
    expect([await readdir(folder), await readFile(file, 'utf8')]).toEqual([['results.jsonl'], TEXT]);
  });

  test('leaves no file where it is broken off, and ends with 4', async () => {
    const server = createServer((_request, response) => {
      response.write(TEXT, () => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const terminal = aTerminal({ url: `http://127.0.0.1:${port}` });
    await runCommandLine(['scorecard', 'export', 'sc_1', '-o', file], terminal);
    server.close();
    expect([terminal.exitCode, await readdir(folder)]).toEqual([4, []]);
  });

  test('says which file it cannot write', async () => {
    const away = join(folder, 'not', 'there.csv');
    const { err, exitCode } = await everdict(['scorecard', 'export', 'sc_1', '-o', away], answer);
    expect([exitCode, err]).toEqual([3, expect.stringContaining(away)]);
  });

  test('is no JSON document without a file', async () => {
    const { err, exitCode } = await everdict(['scorecard', 'export', 'sc_1', '--json'], answer);
    expect([exitCode, err]).toEqual([3, expect.stringContaining('no single JSON document')]);
  });
});
