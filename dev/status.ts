import { readFileSync } from 'node:fs';
import path from 'node:path';
import { VERSION } from '../config/version.js';
import type { Census } from '../store/census.js';
import { censusOf, counted, linesOf, unfinishedOf } from './census.js';
import { type DataPaths, findDataDir, readMarker } from './data-dir.js';
import { type Occupant, readOccupant } from './data-dir-lock.js';
import { freeMb, usedMb } from './disk.js';
import { logOf } from './log-file.js';
import { PART_NAMES, partsOn } from './part-processes.js';
import { embeddedUrl } from './postgres.js';
import { isAlive } from './process-id.js';

/**
 * `running`: all of it is up and the API is ready. `incomplete`: its launcher lives, and is bringing up what is missing.
 * `left-over`: the launcher is gone, and parts of it live. `absent`: there is no such data directory.
 */
export type DevState = 'running' | 'incomplete' | 'left-over' | 'stopped' | 'absent';

export interface DevStatus {
  state: DevState;
  dataDir: string;
  launcherPid?: number;
  /** `at` is where it answers, or its log. */
  parts: { name: string; state: 'up' | 'down' | 'elsewhere'; pid?: number; at: string }[];
  /** What the API says of itself when it is not ready. */
  trouble?: string;
  /** Of what runs now, and of what made the data. */
  versions: { everdict: string; dataBy?: string; postgres?: string; temporalServer?: string };
  diskMb?: { used: number; free: number };
  /** Only known while Postgres is up. */
  census?: Census;
}

/** What runs on a data directory, as far as the process table, the directory and the platform itself tell. */
export async function readStatus(dir: string): Promise<DevStatus> {
  const paths = findDataDir(dir);
  const versions = { everdict: VERSION };
  if (!paths) return { state: 'absent', dataDir: dir, parts: [], versions };
  const occupant = readOccupant(paths);
  const isLauncherAlive = occupant !== undefined && isAlive(occupant.launcher);
  const parts = partLines(paths, occupant);
  const isUp = parts.every((part) => part.state !== 'down');
  const trouble = isUp ? await troubleOf(occupant?.url) : undefined;
  const isPostgresUp = parts.some(({ name, pid }) => name === 'postgres' && pid !== undefined);
  const census = isPostgresUp ? await censusIn(paths, occupant?.postgresPort ?? 0) : undefined;
  const { everdict: dataBy, temporalServer } = readMarker(paths);
  return {
    state: stateOf(isLauncherAlive, parts, isUp && !trouble),
    dataDir: dir,
    ...(isLauncherAlive && { launcherPid: occupant.launcher.pid }),
    parts,
    ...(trouble && isLauncherAlive && { trouble }),
    versions: { ...versions, dataBy, postgres: majorOf(paths), temporalServer },
    diskMb: { used: usedMb(dir), free: freeMb(dir) },
    ...(census && { census }),
  };
}

function stateOf(isLauncherAlive: boolean, parts: DevStatus['parts'], isReady: boolean): DevState {
  if (isLauncherAlive) return isReady ? 'running' : 'incomplete';
  return parts.some((part) => part.state === 'up') ? 'left-over' : 'stopped';
}

function partLines(paths: DataPaths, occupant: Occupant | undefined): DevStatus['parts'] {
  const { url, temporalUiUrl, temporalAddress, postgresPort } = occupant ?? {};
  const places: Record<string, string | undefined> = {
    postgres: postgresPort === undefined ? undefined : `port ${postgresPort}`,
    temporal: temporalUiUrl ? `${temporalAddress}, UI ${temporalUiUrl}` : temporalAddress,
    api: url,
  };
  const found = partsOn(paths);
  return PART_NAMES.map((name) => {
    const pid = found.find((part) => part.name === name)?.pid;
    if (pid) return { name, state: 'up', pid, at: places[name] ?? `log ${logOf(paths, name)}` };
    // Only a server of our own has a UI address.
    const isElsewhere = name === 'temporal' && temporalAddress !== undefined && !temporalUiUrl;
    if (isElsewhere) return { name, state: 'elsewhere', at: temporalAddress };
    return { name, state: 'down', at: `log ${logOf(paths, name)}` };
  });
}

const censusIn = ({ postgres }: DataPaths, port: number): Promise<Census | undefined> =>
  embeddedUrl(postgres, port).then(censusOf, () => undefined);

/** Why the API is not ready; nothing if it is. */
async function troubleOf(url: string | undefined): Promise<string | undefined> {
  if (!url) return 'it is starting';
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) });
    const body: unknown = await response.json();
    return response.ok ? undefined : String(Reflect.get(Object(body), 'detail') ?? response.status);
  } catch (error) {
    return `the API does not answer: ${error instanceof Error ? error.message : error}`;
  }
}

function majorOf({ postgres }: DataPaths): string | undefined {
  try {
    return readFileSync(path.join(postgres, 'PG_VERSION'), 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** The same for people. */
export function describeStatus({
  state,
  dataDir,
  launcherPid,
  parts,
  trouble,
  versions,
  diskMb,
  census,
}: DevStatus): string {
  const lines = [`${HEADLINES[state]}${launcherPid ? ` (launcher pid ${launcherPid})` : ''}`, `  data      ${dataDir}`];
  if (state === 'absent') return lines.join('\n');
  if (state !== 'stopped') {
    for (const part of parts) {
      lines.push(`  ${part.name.padEnd(9)} ${(part.pid ? `pid ${part.pid}` : part.state).padEnd(12)} ${part.at}`);
    }
  }
  if (trouble) lines.push(`  not ready: ${trouble}`);
  const { everdict, dataBy, postgres, temporalServer } = versions;
  lines.push(
    `  versions  everdict ${everdict}; data by everdict ${dataBy}, Postgres ${postgres ?? '?'}, Temporal server ${temporalServer ?? '?'}`,
  );
  if (diskMb) lines.push(`  disk      ${diskMb.used} MB used, ${diskMb.free} MB free`);
  if (census) {
    lines.push(`  content   ${counted(census.scorecards, 'scorecard')}; unfinished: ${unfinishedOf(census) ?? 'none'}`);
    lines.push(...linesOf(census).map((line) => `  ${line}`));
  }
  return lines.join('\n');
}

const HEADLINES: Record<DevState, string> = {
  running: 'running',
  incomplete: 'incomplete: not all of it is up',
  'left-over':
    'left over: the launcher is gone, and parts of it still run; `npx everdict dev` takes over, `npx everdict dev stop` ends them',
  stopped: 'stopped: `npx everdict dev` starts it',
  absent: 'nothing there: `npx everdict dev` makes one',
};
