import type { WorkClass } from '../contracts/admission.js';
import { rounded, sum, type Table } from './figures.js';
import { type Played, playOut, type Work } from './virtual-pool.js';

/**
 * A published scenario: the baseline of Kueue's scheduler performance test (kubernetes-sigs/kueue, commit ff69552,
 * test/performance/scheduler/configs/baseline). Five groups of six queues; each queue receives these streams from
 * time 0 on: so many, one every so many ms, each running so long on so many CPUs.
 */
const GROUPS = 5;
const QUEUES = 6;
const GROUP_CPU = 120_000;
const STREAMS = [
  { size: 'small', count: 350, everyMs: 100, ms: 200, cpu: 1_000 },
  { size: 'medium', count: 100, everyMs: 500, ms: 500, cpu: 5_000 },
  { size: 'large', count: 50, everyMs: 1_200, ms: 1_000, cpu: 20_000 },
] as const;
/** What the same source gives for Kueue itself, which also pays for the Kubernetes API, and may preempt. Seconds. */
const PUBLISHED = { wall: 351.1, small: 215.5, medium: 76.8, large: 16.5 };
/** CPU time of all work of a group ÷ its CPUs. */
const BOUND_SEC = (sum(STREAMS.map(({ count, ms, cpu }) => count * ms * cpu)) * QUEUES) / GROUP_CPU / 1_000;

/** The order and the packing of the policy, in virtual time. A group is a runtime, a queue a workspace. */
export function publishedScenario(): Table {
  const row = (isLargeFirst: boolean): Record<string, number> => {
    const groups = Array.from({ length: GROUPS }, (_, group) => playGroup(group, isLargeFirst));
    const all = groups.flat();
    const waitSec = (size: string): number => {
      const waits = all.filter(({ ticket }) => ticket.to === size).map(({ at, startedAt }) => startedAt - at);
      return rounded(sum(waits) / waits.length / 1_000, 1);
    };
    const wall = rounded(Math.max(...all.map(({ endedAt }) => endedAt)) / 1_000, 1);
    return { workloads: all.length, wall, small: waitSec('small'), medium: waitSec('medium'), large: waitSec('large') };
  };
  return {
    'one class': row(false),
    'large ones interactive': row(true),
    'published for Kueue': { workloads: GROUPS * QUEUES * sum(STREAMS.map(({ count }) => count)), ...PUBLISHED },
    'bound by CPU': { wall: rounded(BOUND_SEC, 1) },
  };
}

function playGroup(group: number, isLargeFirst: boolean): Played[] {
  const works: Work[] = [];
  for (let queue = 0; queue < QUEUES; queue += 1) {
    const workspace = `group-${group}-queue-${queue}`;
    for (const { size, count, everyMs, ms, cpu } of STREAMS) {
      const workClass: WorkClass = isLargeFirst && size === 'large' ? 'interactive' : 'batch';
      for (let i = 0; i < count; i += 1) {
        const at = i * everyMs;
        const ticket = {
          ...{ holder: `case:${workspace}-${size}.${i}`, to: size, workspace, class: workClass, askedAt: at },
          ...{ demand: { cpuMillicores: cpu }, expectedMs: ms },
        };
        works.push({ at, ms, ticket });
      }
    }
  }
  const envelope = { slots: 10_000, cpuMillicores: GROUP_CPU };
  return playOut(works, { envelope, workspaces: {}, pausedScorecards: [] });
}
