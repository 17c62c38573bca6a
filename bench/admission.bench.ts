import { benchDecisions } from './decisions.js';
import { fairness, heavyAgainstLight } from './fairness.js';
import type { Figures } from './figures.js';
import { benchIsolation } from './isolation.bench.js';
import type { BenchPlatform } from './platform.js';
import { publishedScenario } from './published-scenario.js';

/** How fast the policy decides, how well it orders and packs, and what a full runtime costs an idle one. */
export async function benchAdmission(platform: BenchPlatform): Promise<Figures> {
  return {
    ...benchDecisions(),
    'a published scenario, seconds: wall, and mean wait by size': publishedScenario(),
    fairness: fairness(),
    'a heavy case against a stream of light ones': heavyAgainstLight(),
    ...(await benchIsolation(platform)),
  };
}
