import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { E2ePlatform, MINUTE } from '../e2e/platform.js';
import { Sampler } from '../e2e/scorecard/sampler.js';
import { eventually } from '../eventually.js';
import { type Random, randomFor, SEED } from '../seeded.js';
import { type Checked, violationsOf } from './checker.js';
import { DevSite } from './dev-site.js';
import { Diary, soakCases } from './jobs.js';
import { Observer } from './observer.js';

const CASES = 60;
const SLOTS = 6;
const COMPLETE_WITHIN_MS = 4 * MINUTE;
/** Characters of what the programs printed, when a test fails. */
const OUTPUT_SHOWN = 4_000;
/** Of one test. */
export const SOAK_MS = 8 * MINUTE;

/** How far a scorecard has come: lines in the diary of its jobs, two for most cases. And a pause after that. */
interface Moment {
  line: number;
  pauseMs: number;
}

/** Half of them follow the one before within moments, and so may meet a part that is just coming up again. */
export function moments(name: string, count: number, longestMs = 2_500): Moment[] {
  const random = randomFor(`moments of ${name}`);
  const lines = Array.from({ length: count }, () => random(2, CASES + CASES / 2)).sort((a, b) => a - b);
  return lines.map((line) => ({ line: random(0, 1) === 0 ? 0 : line, pauseMs: random(0, longestMs) }));
}

interface Scene {
  platform: E2ePlatform;
  site: DevSite;
  dataDir: string;
  random: Random;
}

export interface Fault {
  name: string;
  at: Moment[];
  /** Returns how many things it hit. */
  strike(scene: Scene, index: number): Promise<number> | number;
  /** Before the platform is started, with its data directory to be; returns what its environment has besides. */
  site?(dataDir: string): Record<string, string>;
  /** Before the scorecard is submitted. */
  prepare?(scene: Scene): Promise<void>;
  /** After the platform has stopped. */
  leave?(): void;
  /** After all that, before it is checked. */
  tamper?(checked: Checked): Promise<void>;
  /** How long what was struck may go on after the scorecard has completed, before all is checked. */
  aftermathMs?: number;
  /** The fault itself takes jobs away, so that attempts end as infrastructure failures. */
  mayLoseJobs?: boolean;
}

/** Those of a test that is going on, or that ran out of time. */
const platforms = new Set<E2ePlatform>();
afterEach(async () => {
  for (const platform of platforms) await stop(platform);
}, 2 * MINUTE);

async function stop(platform: E2ePlatform): Promise<void> {
  platforms.delete(platform);
  await platform.stop();
}

export async function survives(fault: Fault): Promise<void> {
  expect(await violationsUnder(fault)).toEqual([]);
}

/** Starts a platform as users start it, runs a scorecard of 60 cases, strikes, and has everything checked from outside. */
export async function violationsUnder(fault: Fault): Promise<string[]> {
  let site: DevSite | undefined;
  let dataDir = '';
  const platform = await E2ePlatform.start(async (options) => {
    dataDir = options.dataDir;
    site = await DevSite.start({ dataDir, env: { ...options.env, ...fault.site?.(dataDir) }, leave: fault.leave });
    return site;
  });
  platforms.add(platform);
  try {
    if (!site) throw new Error('nothing was started');
    return await runScorecard(fault, { platform, site, dataDir, random: randomFor(fault.name) });
  } catch (error) {
    process.stderr.write(`${String(error)}\n${site?.output.slice(-OUTPUT_SHOWN)}\n`);
    throw error;
  } finally {
    await stop(platform);
  }
}

async function runScorecard(fault: Fault, scene: Scene): Promise<string[]> {
  const { platform, site, dataDir, random } = scene;
  const { name, at, mayLoseJobs } = fault;
  await Observer.prepare(platform);
  const diary = new Diary(path.join(platform.dir, name.replaceAll(' ', '-')));
  const cases = soakCases(random, CASES);
  const specs = cases.map(({ kind: _, ...spec }) => spec);
  const request = await platform.register({ runtime: { maxConcurrent: SLOTS }, harness: diary.harness, cases: specs });
  await fault.prepare?.(scene);
  const shown = at.map(({ line, pauseMs }) => `${line}+${pauseMs}ms`).join(' ');
  process.stderr.write(`${name}: EVERDICT_TEST_SEED=${SEED}, ${at.length} strikes at note+pause ${shown}\n`);

  const begun = performance.now();
  const id = await platform.submit(request);
  const sampler = new Sampler(platform, id);
  const observer = Observer.start(platform, id, SLOTS);
  const strikes: Strike[] = [];
  try {
    for await (const strike of strikeThrough(fault, scene, diary)) strikes.push(strike);
    await platform.until(id, 'completes', ({ status }) => status === 'completed', COMPLETE_WITHIN_MS);
    await sleep(fault.aftermathMs ?? 0);
    await site.untilUp();
  } finally {
    await sampler.stop();
    await observer.stop();
  }
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  const hits = strikes.map((strike) => strike.hits).join(' ');
  process.stderr.write(`${name}: ${seconds} s, hits ${hits || 'none'}, looked at ${observer.looks} times\n`);
  sampler.expectConserved(CASES);
  const { runtime } = request;
  const checked = { platform, id, runtime, slots: SLOTS, cases, diary, dataDir, mayLoseJobs };
  await fault.tamper?.(checked);
  return [...observer.violations, ...strikeFaults(strikes, diary), ...(await violationsOf(checked))];
}

interface Strike {
  hits: number;
  /** Notes of the jobs when it began. */
  line: number;
}

async function* strikeThrough({ at, strike }: Fault, scene: Scene, diary: Diary): AsyncGenerator<Strike> {
  for (const [index, { line, pauseMs }] of at.entries()) {
    await eventually(`note ${line}`, async () => diary.length >= line, COMPLETE_WITHIN_MS);
    await sleep(pauseMs);
    const { length } = diary;
    yield { hits: await strike(scene, index), line: length };
  }
}

/** Nothing is shown by strikes that hit nothing, or that came when all was over. */
function strikeFaults(strikes: Strike[], diary: Diary): string[] {
  const misses = strikes.flatMap(({ hits }, index) => (hits > 0 ? [] : [`strike ${index + 1} hit nothing`]));
  const inTime = strikes.filter(({ line }) => line < diary.length).length;
  if (inTime * 2 >= strikes.length) return misses;
  return [...misses, `only ${inTime} of ${strikes.length} strikes came while jobs ran or were to run`];
}
