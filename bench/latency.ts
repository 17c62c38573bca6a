import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { spread, type Table } from './figures.js';
import type { BenchPlatform } from './platform.js';

const NS_PER_MS = 1_000_000;

/** What jobs note of themselves, on disk: epoch ms at which their commands began and ended. */
class Notes {
  private readonly file: string;

  constructor(dir: string) {
    this.file = path.join(dir, 'notes');
    writeFileSync(this.file, '');
  }

  /** A command that takes so long and notes when. */
  command(seconds: number): string {
    const note = (what: string): string => `echo ${what} "$(date +%s%N)" >> '${this.file}'`;
    return [note('start'), `sleep ${seconds}`, note('end')].join('\n');
  }

  /** Since the last call, in order. */
  take(): { what: string; at: number }[] {
    const lines = readFileSync(this.file, 'utf8').split('\n').slice(0, -1);
    writeFileSync(this.file, '');
    return lines.map((line) => {
      const [what = '', ns = ''] = line.split(' ');
      return { what, at: Number(ns) / NS_PER_MS };
    });
  }
}

/** What the platform itself takes: before a job starts, between two jobs, and after one ends. */
export async function benchLatency(platform: BenchPlatform): Promise<Table> {
  const notes = new Notes(platform.dir);
  await platform.register('short', 8, 1, notes.command(0.2));
  await platform.register('long', 8, 1, notes.command(3));
  await platform.register('in-turn', 1, 20, notes.command(0.2));

  const short = await lone(platform, notes, 'short', 10);
  const long = await lone(platform, notes, 'long', 4);
  await platform.complete('in-turn');
  const turns = notes.take();
  const gaps = turns.flatMap(({ what, at }, i) => (what === 'start' && i > 0 ? [at - (turns[i - 1]?.at ?? at)] : []));
  return {
    'submit → first start': spread([...short.starts, ...long.starts]),
    'job of 0.2 s ended → its result visible': spread(short.visible),
    'job of 3 s ended → its result visible': spread(long.visible),
    'job ended, its slot freed → next started': spread(gaps),
  };
}

/** Scorecards of one case, one after the other. */
async function lone(platform: BenchPlatform, notes: Notes, id: string, rounds: number) {
  const [starts, visible]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const submitted = Date.now();
    const scorecard = await platform.submit(id);
    await platform.until(scorecard, ({ counts }) => counts.settled === 1);
    const seen = Date.now();
    const [start, end] = notes.take();
    starts.push((start?.at ?? 0) - submitted);
    visible.push(seen - (end?.at ?? 0));
    await platform.until(scorecard, ({ status }) => status === 'completed');
  }
  return { starts, visible };
}
