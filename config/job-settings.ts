import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { JobSettings } from '../policy/job-parts.js';
import type { Env } from './env.js';
import { PACKAGE_ROOT } from './package-root.js';

/** Beside the sources; the build leaves it there. */
const WRAPPER = fileURLToPath(new URL('wrapper/wrapper.sh', PACKAGE_ROOT));

/** What every job of this deployment is given alike. */
export const jobSettings = (env: Env): JobSettings => ({
  wrapper: readFileSync(WRAPPER, 'utf8'),
  timers: {
    setupSec: env.EVERDICT_SETUP_SEC,
    graderSec: env.EVERDICT_GRADER_SEC,
    graceSec: env.EVERDICT_GRACE_SEC,
    lingerSec: env.EVERDICT_LINGER_SEC,
  },
  answerLimit: env.EVERDICT_ANSWER_KB * 1_024,
  payloadLimit: env.EVERDICT_PAYLOAD_KB * 1_024,
});
