import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startNodeProcess } from './node-process.js';
import { identify, isAlive } from './process-id.js';

const dir = mkdtempSync(path.join(tmpdir(), 'everdict-node-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function aProgram(name: string, source: string, readyWithinMs = 20_000) {
  const script = path.join(dir, `${name}.mjs`);
  writeFileSync(script, source);
  const isReady = (log: string) => log.includes('ready');
  return { name, script, env: process.env, logFile: path.join(dir, `${name}.log`), isReady, readyWithinMs };
}
const never = new AbortController().signal;
const STAYS = 'console.log("ready"); setInterval(() => {}, 1000);';

test('a program is up once it says so, and gone once it was stopped', async () => {
  const { pid, stop } = await startNodeProcess(aProgram('good', STAYS), never);
  const target = identify(pid);
  expect(isAlive(target)).toBe(true);
  await stop();
  await stop();
  expect(isAlive(target)).toBe(false);
});

test('one that ends while it starts is told with the end of its log, not of an earlier one', async () => {
  const program = aProgram('bad', 'console.error("the port is taken"); process.exit(1);');
  writeFileSync(program.logFile, 'ready long ago\n');
  await expect(startNodeProcess(program, never)).rejects.toThrow(
    /^bad ended while it started; the end of .*bad\.log:\nthe port is taken$/,
  );
});

test('one that logs why it fails is told with its reason', async () => {
  const line = {
    level: 'error',
    message: 'api failed',
    error: { name: 'Error', message: 'the "port"\nis taken', stack: 'at …' },
  };
  const program = aProgram('failing', `console.log(${JSON.stringify(JSON.stringify(line))}); process.exit(1);`);
  await expect(startNodeProcess(program, never)).rejects.toThrow(
    `failing ended while it started: the "port"\nis taken\nMore is in ${program.logFile}`,
  );
});

test('one that is not ready in time is stopped', async () => {
  const program = aProgram('slow', 'console.log(process.pid); setInterval(() => {}, 1000);', 700);
  await expect(startNodeProcess(program, never)).rejects.toThrow('slow is not ready after 0.7 s');
  const pid = Number(readFileSync(program.logFile, 'utf8'));
  expect(isAlive(identify(pid))).toBe(false);
});

test('one whose start is given up is stopped', async () => {
  const program = aProgram('late', 'console.log(process.pid); setInterval(() => {}, 1000);');
  await expect(startNodeProcess(program, AbortSignal.abort())).rejects.toThrow('late was stopped while it started');
});
