import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Env } from '../../config/env.js';
import type { OperatorFlags } from '../../policy/capabilities.js';
import type { JobSettings } from '../../policy/job-payload.js';

/** Beside the sources; the build leaves it there. */
const ROOT = import.meta.url.endsWith('.ts') ? '../..' : '../../..';
const WRAPPER = fileURLToPath(new URL(`${ROOT}/wrapper/wrapper.sh`, import.meta.url));

/** What the operator of this deployment allows, and its limits. */
export class Operator implements OperatorFlags {
  readonly allowLocalRuntimes: boolean;
  readonly allowUnisolatedDrivers: boolean;
  readonly allowAmbientKubeconfig: boolean;
  /** What every job is given alike. */
  readonly jobs: JobSettings;

  constructor(env: Env) {
    this.allowLocalRuntimes = env.EVERDICT_ALLOW_LOCAL_RUNTIMES;
    this.allowUnisolatedDrivers = env.EVERDICT_ALLOW_UNISOLATED_DRIVERS;
    this.allowAmbientKubeconfig = env.EVERDICT_ALLOW_AMBIENT_KUBECONFIG;
    this.jobs = {
      wrapper: readFileSync(WRAPPER, 'utf8'),
      timers: {
        setupSec: env.EVERDICT_SETUP_SEC,
        graderSec: env.EVERDICT_GRADER_SEC,
        graceSec: env.EVERDICT_GRACE_SEC,
        lingerSec: env.EVERDICT_LINGER_SEC,
      },
      answerLimit: env.EVERDICT_ANSWER_KB * 1_024,
      payloadLimit: env.EVERDICT_PAYLOAD_KB * 1_024,
    };
  }
}
