import { Readable } from 'node:stream';
import type { Figures, Table } from './figures.js';
import type { BenchPlatform } from './platform.js';
import { forgetPeak, peakMb } from './usage.js';

const MB = 1024 * 1024;

/** Streamed as JSONL: the most cases a dataset may have, and the most bytes; a tenth of both shows what does not grow. */
export async function benchUpload(platform: BenchPlatform): Promise<Figures> {
  const table: Table = {};
  for (const [title, cases, taskBytes] of [
    ['10,000 small', 10_000, 200],
    ['100,000 small', 100_000, 200],
    ['100 of 1 MB', 100, MB - 200],
    ['1,020 of 1 MB', 1_020, MB - 200],
  ] as const) {
    const id = title.replace(/\W+/g, '-').toLowerCase();
    const { ms, bytes, peakMb, idleMb } = await upload(platform, id, cases, taskBytes);
    const again = await upload(platform, id, cases, taskBytes);
    const downloadMs = await download(platform, id);
    table[title] = { MB: bytes / MB, uploadMs: ms, againMs: again.ms, downloadMs, idleMb, peakMb };
  }
  return { 'dataset as JSONL; memory is that of the API': table };
}

async function upload(platform: BenchPlatform, id: string, cases: number, taskBytes: number) {
  const { api = 0 } = platform.pids;
  forgetPeak(api);
  const idleMb = peakMb(api);
  let bytes = 0;
  const lines = async function* () {
    for (let index = 0; index < cases; index += 1) {
      const line = Buffer.from(`${JSON.stringify({ id: `case-${index}`, task: textOf(index, taskBytes) })}\n`);
      bytes += line.length;
      yield line;
    }
  };
  const began = performance.now();
  await platform.upload(`id=${id}&version=1.0.0`, Readable.from(lines()));
  return { ms: Math.round(performance.now() - began), peakMb: peakMb(api), idleMb, bytes };
}

async function download(platform: BenchPlatform, id: string): Promise<number> {
  const began = performance.now();
  await platform.drain(`/datasets/${id}/versions/1.0.0/cases.jsonl`);
  return Math.round(performance.now() - began);
}

/** Text of so many characters that is not the same over and over, as real tasks are not. */
function textOf(seed: number, length: number): string {
  const words: string[] = [];
  let state = seed + 1;
  for (let made = 0; made < length; ) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    const word = state.toString(36);
    words.push(word);
    made += word.length + 1;
  }
  return words.join(' ').slice(0, length);
}
