import type { EvalCase } from '../contracts/case.js';
import { quoted } from '../contracts/field-path.js';
import type { HarnessSpec } from '../contracts/harness.js';
import type { Envelope, RuntimeSpec } from '../contracts/runtime.js';
import type { LimitsInForce } from './admission/limits.js';
import { type OperatorFlags, siteFaults } from './capabilities.js';
import { declaredResources, demandOf, exceeds } from './demand.js';
import { imageFault } from './image-name.js';
import { K8S_LEAST_MEMORY_MB } from './k8s-spec.js';
import { NOMAD_LEAST_MEMORY_MB } from './nomad-spec.js';

/** A runtime that may be chosen. */
export interface Candidate {
  spec: RuntimeSpec;
  /** Its own limits: no demand above them is ever met. */
  envelope: Envelope;
  /** Its limits for now. */
  inForce: LimitsInForce;
  /** What holds slots there or waits for one. */
  load: { slots: number; memoryMb: number; cpuMillicores: number };
}

/** What some case needs and some runtime lacks. */
interface Unmet {
  /** Indexes of the runtimes that lack it. */
  lackedBy: Set<number>;
  /** Of the first case and runtime. */
  example: string;
}

interface Asked {
  asked: number;
  /** Id of the case. */
  by: string;
}

/** Below which some kind of runtime takes no job. */
const LEAST_MEMORY_MB = [NOMAD_LEAST_MEMORY_MB, K8S_LEAST_MEMORY_MB];
const AXES = ['memoryMb', 'cpuMillicores'] as const;
const FIELDS = { memoryMb: 'resources.memoryMb', cpuMillicores: 'resources.cpu' } as const;

/**
 * Chooses the one runtime for all cases of a submit, which come one by one. Remembers what they need, of which there are
 * few kinds, and no case.
 *
 * 1. Only runtimes that satisfy every case.
 * 2. Rather one that grants than one that is paused.
 * 3. The one with the largest free part of its slots and, where it caps them and a case declares some, of memory and
 *    CPU: the scarcest counts. What waits there is as good as in use.
 * 4. Of equal ones that with more free slots, then the first by id.
 */
export class Placement<Site extends Candidate> {
  private readonly unmet = new Map<string, Unmet>();
  private readonly seen = new Set<string>();
  /** The case that asks for most, per axis. */
  private readonly most: { memoryMb?: Asked; cpuMillicores?: Asked } = {};

  constructor(
    private readonly sites: readonly Site[],
    private readonly harness: HarnessSpec,
    private readonly flags: OperatorFlags,
  ) {}

  add(evalCase: EvalCase): void {
    const demand = demandOf(declaredResources(evalCase, this.harness));
    for (const axis of AXES) {
      const asked = demand[axis];
      if (asked !== undefined && asked > (this.most[axis]?.asked ?? 0)) this.most[axis] = { asked, by: evalCase.id };
    }
    const kind = this.kindOf(evalCase);
    if (this.seen.has(kind)) return;
    this.seen.add(kind);
    for (const [index, { spec }] of this.sites.entries()) {
      for (const { path, message } of siteFaults(evalCase, this.harness, spec, this.flags)) {
        this.lacks(index, nameOf(path, evalCase), `case ${quoted(evalCase.id)}: ${message}`);
      }
    }
  }

  /** The runtime, or what keeps each of them from being it. To be asked once, after the last case. */
  choose(): { site: Site } | { refusals: string[] } {
    this.addDemands();
    const unfit = new Set([...this.unmet.values()].flatMap(({ lackedBy }) => [...lackedBy]));
    const fit = this.sites.filter((_, index) => !unfit.has(index));
    const [site] = fit.sort((one, other) => this.compare(one, other));
    return site ? { site } : { refusals: this.refusals() };
  }

  /** What none meets first. */
  private refusals(): string[] {
    const all = this.sites.length;
    return [...this.unmet]
      .sort(([, one], [, other]) => other.lackedBy.size - one.lackedBy.size)
      .map(
        ([
          need,
          {
            lackedBy: { size },
            example,
          },
        ]) => {
          const lacking = size === all ? `none of ${all} runtimes meets` : `${size} of ${all} runtimes do not meet`;
          return `${lacking} ${need} (${example})`;
        },
      );
  }

  private addDemands(): void {
    for (const axis of AXES) {
      const most = this.most[axis];
      if (!most) continue;
      for (const [index, { spec, envelope }] of this.sites.entries()) {
        const excess = exceeds({ [axis]: most.asked }, envelope);
        const example = `case ${quoted(most.by)}: declares ${most.asked}; runtime ${spec.id} admits ${excess?.limit} in all`;
        if (excess) this.lacks(index, `\`${FIELDS[axis]}\``, example);
      }
    }
  }

  private lacks(index: number, need: string, example: string): void {
    const known = this.unmet.get(need);
    if (known) known.lackedBy.add(index);
    else this.unmet.set(need, { lackedBy: new Set([index]), example });
  }

  /** Cases of one kind have the same faults on every runtime, but for numbers and names in their texts. */
  private kindOf(evalCase: EvalCase): string {
    const { cpu, memoryMb = Number.POSITIVE_INFINITY, gpu } = declaredResources(evalCase, this.harness);
    const { image } = evalCase;
    return JSON.stringify([
      ...[cpu !== undefined, gpu !== undefined],
      ...LEAST_MEMORY_MB.map((least) => memoryMb < least),
      ...[image !== undefined, image !== undefined && imageFault(image) !== undefined],
      ...SITE_FIELDS.map((field) => field.of(evalCase)),
    ]);
  }

  private compare(one: Site, other: Site): number {
    return (
      Number(other.inForce.isOpen) - Number(one.inForce.isOpen) ||
      this.freeShare(other) - this.freeShare(one) ||
      freeSlots(other) - freeSlots(one) ||
      (one.spec.id < other.spec.id ? -1 : 1)
    );
  }

  /** Below 0 where more waits than there is. */
  private freeShare({ inForce: { envelope }, load }: Candidate): number {
    const axes = ['slots', ...AXES.filter((axis) => this.most[axis] !== undefined)] as const;
    return Math.min(
      ...axes.map((axis) => {
        const limit = envelope[axis];
        return limit === undefined ? 1 : (limit - load[axis]) / Math.max(1, limit);
      }),
    );
  }
}

const freeSlots = ({ inForce: { envelope }, load }: Candidate): number => envelope.slots - load.slots;

/** Where a case says what `siteFaults` looks at, besides its resources. */
const SITE_FIELDS: { path: string; of: (evalCase: EvalCase) => string | undefined }[] = [
  { path: 'network.mode', of: ({ network }) => network?.mode },
  { path: 'placement.os', of: ({ placement }) => placement?.os },
  { path: 'placement.isolation', of: ({ placement }) => placement?.isolation },
  { path: 'env.kind', of: ({ env }) => env.kind },
  { path: 'env.os', of: ({ env }) => (env.kind === 'os-use' ? env.os : undefined) },
];

function nameOf(path: string, evalCase: EvalCase): string {
  const value = SITE_FIELDS.find((field) => field.path === path)?.of(evalCase);
  if (path === '') return 'what the harness needs';
  return value === undefined ? `\`${path}\`` : `\`${path}\` ${value}`;
}
