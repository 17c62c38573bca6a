import type { Demand } from '../contracts/admission.js';
import type { EvalCase, Resources } from '../contracts/case.js';
import type { HarnessSpec } from '../contracts/harness.js';
import type { Envelope, RuntimeSpec } from '../contracts/runtime.js';

const CLUSTER_SLOTS = 20;

type Declares = Pick<EvalCase, 'resources'>;
type HasImage = Pick<EvalCase, 'image'>;

const gpuOf = (runtime: RuntimeSpec): number | undefined => (runtime.kind === 'local' ? undefined : runtime.gpu);

/** What the case and its harness declare, per axis: the case's word before the harness's. */
export function declaredResources(evalCase: Declares, harness: Declares): Resources {
  return dropAbsent({
    cpu: evalCase.resources?.cpu ?? harness.resources?.cpu,
    memoryMb: evalCase.resources?.memoryMb ?? harness.resources?.memoryMb,
    gpu: evalCase.resources?.gpu ?? harness.resources?.gpu,
  });
}

/** What the cluster is asked for, per axis: case, then harness, then (gpu only) runtime. */
export function effectiveResources(evalCase: Declares, harness: Declares, runtime: RuntimeSpec): Resources {
  const declared = declaredResources(evalCase, harness);
  return dropAbsent({ ...declared, gpu: declared.gpu ?? gpuOf(runtime) });
}

const dropAbsent = ({ cpu, memoryMb, gpu }: Resources): Resources => ({
  ...(cpu !== undefined && { cpu }),
  ...(memoryMb !== undefined && { memoryMb }),
  ...(gpu !== undefined && { gpu }),
});

/** The image a case runs in: its own, then the harness's, then the runtime's. */
export function imageOf(
  evalCase: HasImage,
  harness: Pick<HarnessSpec, 'image'>,
  runtime: RuntimeSpec,
): string | undefined {
  return evalCase.image ?? harness.image ?? (runtime.kind === 'local' ? undefined : runtime.image);
}

/** What admission counts: only what is declared. */
export function demandOf({ cpu, memoryMb }: Resources): Demand {
  return { ...(memoryMb !== undefined && { memoryMb }), ...(cpu !== undefined && { cpuMillicores: cpu }) };
}

export interface Excess {
  axis: 'memoryMb' | 'cpuMillicores';
  asked: number;
  limit: number;
}

/** The first axis on which the demand is above the whole envelope, so that it could never be admitted. An exact fit is not. */
export function exceeds(demand: Demand, envelope: Envelope): Excess | undefined {
  for (const axis of ['memoryMb', 'cpuMillicores'] as const) {
    const [asked, limit] = [demand[axis], envelope[axis]];
    if (asked !== undefined && limit !== undefined && asked > limit) return { axis, asked, limit };
  }
  return undefined;
}

/** The limits of a runtime. Without `maxConcurrent`: 20 slots on nomad and k8s, the host's CPU count on local. */
export function envelopeOf(spec: RuntimeSpec, hostCpus: number): Envelope {
  const { memoryBudgetMb, cpuBudgetMillicores } = spec;
  const fallback = spec.kind === 'local' ? Math.max(1, Math.floor(hostCpus)) : CLUSTER_SLOTS;
  return {
    slots: spec.maxConcurrent ?? fallback,
    ...(memoryBudgetMb !== undefined && { memoryMb: memoryBudgetMb }),
    ...(cpuBudgetMillicores !== undefined && { cpuMillicores: cpuBudgetMillicores }),
  };
}
