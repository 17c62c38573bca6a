import type { FutureView, Simulation, SpreadSec } from '../../contracts/simulation.js';
import { fateName } from '../../policy/admission/load.js';
import { peakOf, type Simulated, type Spread, spreadOf, waitsBy } from '../../policy/admission/simulate.js';

const secondsOf = (ms: number | null): number | null => (ms === null ? null : Math.round(ms / 100) / 10);

export const inSeconds = ({ p50, p90 }: Spread): SpreadSec => ({ p50: secondsOf(p50), p90: secondsOf(p90) });

/** `nameOf`: what a workspace is called towards who asks. */
export function futureView(simulated: Simulated, nameOf: (workspace: string) => string): FutureView {
  const waits = waitsBy(simulated, nameOf);
  const { courses } = simulated;
  return {
    cases: waits.reduce((sum, { cases }) => sum + cases, 0),
    wallSec: inSeconds(spreadOf(courses.map(({ endMs }) => endMs))),
    waits: waits.map(({ wait, ...rest }) => ({ ...rest, wait: inSeconds(wait) })),
    peak: peakOf(simulated),
    refused: Math.max(0, ...courses.map(({ refused }) => refused)),
  };
}

/** What becomes of one scorecard; null where it is not there. */
export function fateView({ courses }: Simulated, workspace: string, scorecard: string): Simulation['scorecard'] {
  const fates = courses.flatMap(({ fates }) => fates.get(fateName(workspace, scorecard)) ?? []);
  const [first] = fates;
  if (!first) return null;
  const waits = fates.map(({ waitsMs }) => waitsMs);
  return {
    cases: first.waitsMs.length,
    firstStartSec: inSeconds(
      spreadOf(waits.map((ofOne) => ofOne.reduce((least, ms) => Math.min(least, ms), Number.POSITIVE_INFINITY))),
    ),
    doneSec: inSeconds(spreadOf(fates.map(({ endMs }) => endMs))),
    wait: inSeconds(spreadOf(waits.flat())),
  };
}
