import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { aTerminal } from '../test/cli-fakes.js';
import { streamedFile } from './file-upload.js';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'everdict-upload-'));
});
afterAll(() => rm(dir, { recursive: true }));

/** A terminal on which a second passes each time somebody looks at the clock. */
function aSlowTerminal(isTty: boolean) {
  const terminal = aTerminal({ isTty });
  let now = 0;
  return {
    ...terminal,
    now: () => {
      now += 1_000;
      return now;
    },
  };
}

async function send(isTty: boolean): Promise<{ length: number; sent: string; progress: string }> {
  const file = path.join(dir, 'cases.jsonl');
  await writeFile(file, `${'x'.repeat(99)}\n\n`.repeat(2_000));
  const terminal = aSlowTerminal(isTty);
  const { length, chunks } = await streamedFile(file, terminal);
  let sent = '';
  for await (const chunk of chunks) sent += Buffer.from(chunk).toString();
  return { length, sent, progress: terminal.err.text };
}

test('a file is sent as it is, and a terminal shows bytes and cases in one line', async () => {
  const { length, sent, progress } = await send(true);
  expect([length, sent.length, sent.slice(0, 3)]).toEqual([202_000, 202_000, 'xxx']);
  expect(progress).toContain('\r\u001b[2K0.1 of 0.2 MB sent, 649 cases');
  expect(progress).not.toContain('\n');
  expect(progress.endsWith('\r\u001b[2K')).toBe(true);
});

test('without a terminal there is a line now and then', async () => {
  const { progress } = await send(false);
  expect(progress.split('\n').filter(Boolean).length).toBeLessThan(3);
});

test.each([
  ['is not there', 'none.jsonl', 'there is no file'],
  ['is a directory', '.', 'is a directory'],
])('a file that %s is named', async (_title, name, part) => {
  await expect(streamedFile(path.join(dir, name), aTerminal())).rejects.toThrow(part);
});
