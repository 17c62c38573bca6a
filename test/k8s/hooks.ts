import { exec } from 'node:child_process';
import { promisify } from 'node:util';

const { EVERDICT_TEST_NODE_STOP, EVERDICT_TEST_NODE_START, EVERDICT_TEST_API_STOP, EVERDICT_TEST_API_START } =
  process.env;

/** Faults that no call of the API makes: commands that end once it is done. */
const HOOKS = {
  node: [EVERDICT_TEST_NODE_STOP, EVERDICT_TEST_NODE_START],
  'api-server': [EVERDICT_TEST_API_STOP, EVERDICT_TEST_API_START],
} as const;
type Part = keyof typeof HOOKS;

/** A test that stops a part of the cluster: skipped where nothing says how that is done. */
export const testStopping = (part: Part) => (HOOKS[part].every((command) => command) ? test : test.skip);

const run = promisify(exec);

export const stopped = (part: Part) => run(HOOKS[part][0] ?? 'false');
export const started = (part: Part) => run(HOOKS[part][1] ?? 'false');
