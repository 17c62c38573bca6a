import type { EvalCase } from '../contracts/case.js';
import type { ErrorCode, FieldError } from '../contracts/errors.js';
import type { HarnessSpec } from '../contracts/harness.js';
import { Capability, type K8sRuntimeSpec, type RuntimeSpec } from '../contracts/runtime.js';
import { declaredResources, imageOf } from './demand.js';
import { k8sCaseFaults, k8sFaults } from './k8s-spec.js';
import { NOMAD_LEAST_MEMORY_MB, nomadFaults } from './nomad-spec.js';
import { serverForm } from './origins.js';

/** Container runtimes with a kernel or a guest of their own. Others count as hardened only where the spec declares `sandbox`. */
const HARDENED = /(^|[^a-z])(runsc|gvisor|kata|firecracker|krun)([^a-z]|$)/i;

/** Whether its jobs run in images. */
export const isContainerRuntime = (spec: RuntimeSpec): boolean =>
  spec.kind === 'k8s' || (spec.kind === 'nomad' && (spec.driver === 'docker' || spec.driver === 'podman'));

function derived(spec: RuntimeSpec): Capability[] {
  if (spec.kind === 'local') return [];
  const found: Capability[] = [];
  const runtime = spec.kind === 'k8s' ? spec.runtimeClass : spec.runtime;
  if (isContainerRuntime(spec)) {
    found.push('docker');
    if (runtime && HARDENED.test(runtime)) found.push('sandbox');
  }
  if (spec.traceSource) found.push('topology');
  if (spec.gpu) found.push('gpu');
  return found;
}

/** What a runtime offers: declared and derived, in one order, so that a spec enriched with it derives the same again. */
export function derive(spec: RuntimeSpec): Capability[] {
  const all = new Set([...(spec.capabilities ?? []), ...derived(spec)]);
  return Capability.options.filter((capability) => all.has(capability));
}

export interface Need {
  capability: Capability;
  /** Where the case or its harness says so. */
  path: string;
}

const OS_CAPABILITY = { linux: undefined, windows: 'os-windows', macos: 'os-macos' } as const;

/** What a case needs of the runtime it runs on, itself or through its harness. */
export function needsOf(evalCase: EvalCase, harness: HarnessSpec): Need[] {
  const { env, placement } = evalCase;
  const needs: Need[] = [];
  if (declaredResources(evalCase, harness).gpu !== undefined) needs.push({ capability: 'gpu', path: 'resources.gpu' });
  if (env.kind === 'browser') needs.push({ capability: 'browser', path: 'env.kind' });
  if (env.kind === 'os-use') {
    needs.push({ capability: 'computer-use', path: 'env.kind' });
    const capability = OS_CAPABILITY[env.os];
    if (capability) needs.push({ capability, path: 'env.os' });
  }
  const capability = OS_CAPABILITY[placement?.os ?? 'linux'];
  if (capability) needs.push({ capability, path: 'placement.os' });
  if (placement?.isolation === 'sandbox') needs.push({ capability: 'sandbox', path: 'placement.isolation' });
  if (harness.kind === 'service') needs.push({ capability: 'topology', path: '' });
  return needs;
}

/** What the operator of this deployment allows. */
export interface OperatorFlags {
  allowLocalRuntimes: boolean;
  allowUnisolatedDrivers: boolean;
  allowAmbientKubeconfig: boolean;
  /** Kubernetes clusters, by `server` or `context`, whose network policies are known to be enforced. */
  networkPolicyClusters?: readonly string[];
}

/** Why this deployment does not take such a runtime at all, or its cluster none of its jobs; paths are those of the spec. */
export function runtimeFaults(spec: RuntimeSpec, flags: OperatorFlags): FieldError[] {
  const faults = clusterFaults(spec);
  const refuse = (path: string, message: string) => faults.push({ path, message });
  if (spec.kind === 'local' && !flags.allowLocalRuntimes) {
    refuse(
      'kind',
      'local runtimes run processes on the worker’s host; the operator has to set EVERDICT_ALLOW_LOCAL_RUNTIMES=1',
    );
  }
  if (spec.kind === 'nomad' && !isContainerRuntime(spec) && !flags.allowUnisolatedDrivers) {
    refuse(
      'driver',
      `driver ${spec.driver} does not isolate jobs; the operator has to set EVERDICT_ALLOW_UNISOLATED_DRIVERS=1`,
    );
  }
  if (spec.kind === 'k8s' && spec.context !== undefined && !flags.allowAmbientKubeconfig) {
    refuse(
      'context',
      '`context` uses the platform’s own kubeconfig; the operator has to set EVERDICT_ALLOW_AMBIENT_KUBECONFIG=1, else give `kubeconfigSecret`, or `server` with `authSecret`',
    );
  }
  return faults;
}

function clusterFaults(spec: RuntimeSpec): FieldError[] {
  switch (spec.kind) {
    case 'local':
      return [];
    case 'nomad':
      return nomadFaults(spec);
    case 'k8s':
      return k8sFaults(spec);
  }
}

export interface SiteFault extends FieldError {
  code: Extract<ErrorCode, 'CAPABILITY_MISSING' | 'BAD_SPEC'>;
}

/** `local` and nomad `raw_exec`: CPU and memory are counted by admission only. */
const isUnenforced = (spec: RuntimeSpec): boolean =>
  spec.kind === 'local' || (spec.kind === 'nomad' && spec.driver === 'raw_exec');

/** Declared axes that admission counts but this site does not enforce; recorded with the run as `enforced: false`. */
export function unenforcedAxes(
  evalCase: Pick<EvalCase, 'resources'>,
  harness: Pick<HarnessSpec, 'resources'>,
  spec: RuntimeSpec,
): ('cpu' | 'memoryMb')[] {
  if (!isUnenforced(spec)) return [];
  const declared = declaredResources(evalCase, harness);
  return (['cpu', 'memoryMb'] as const).filter((axis) => declared[axis] !== undefined);
}

const siteName = (spec: RuntimeSpec): string =>
  spec.kind === 'nomad' ? `nomad with driver ${spec.driver}` : spec.kind;

function networkFault({ network }: EvalCase, spec: RuntimeSpec, flags: OperatorFlags): string | undefined {
  if (!network || network.mode === 'public') return undefined;
  if (network.mode === 'allowlist') return `${siteName(spec)} cannot enforce mode allowlist`;
  if (spec.kind !== 'k8s') return `${siteName(spec)} cannot enforce mode none`;
  const name = listedNameOf(spec);
  const listed = (flags.networkPolicyClusters ?? []).map(sameForm);
  if (name !== undefined && listed.includes(sameForm(name))) return undefined;
  const isUntold = spec.kubeconfigSecret !== undefined && name === undefined;
  const how = isUntold ? ': where `kubeconfigSecret` leads is known only if `server` says it, too' : '';
  return `mode none needs a cluster the operator listed in EVERDICT_NETWORK_POLICY_CLUSTERS${how}`;
}

/** What an operator lists a cluster by, of what is used of a spec. A kubeconfig has to agree with a `server` beside it. */
const listedNameOf = ({ kubeconfigSecret, authSecret, server, context }: K8sRuntimeSpec): string | undefined =>
  (kubeconfigSecret ?? authSecret) === undefined ? context : server;

/** However an address is written; a context is its name. */
const sameForm = (name: string): string => serverForm(name) ?? name;

/** What the site cannot enforce, whatever capabilities it declares: path and reason. */
function unenforceable(
  evalCase: EvalCase,
  harness: HarnessSpec,
  spec: RuntimeSpec,
  flags: OperatorFlags,
): FieldError[] {
  const faults: FieldError[] = [];
  const refuse = (path: string, message: string) => faults.push({ path, message });
  const { cpu, memoryMb, gpu } = declaredResources(evalCase, harness);
  const os = evalCase.placement?.os ?? 'linux';
  const network = networkFault(evalCase, spec, flags);
  if (network) refuse('network.mode', network);
  if (gpu !== undefined && isUnenforced(spec)) refuse('resources.gpu', `${siteName(spec)} cannot give GPUs to a job`);
  if (cpu !== undefined && spec.kind === 'nomad' && !spec.cpuMhzPerCore && !isUnenforced(spec)) {
    refuse('resources.cpu', `${cpu} millicores cannot be placed: the runtime has no \`cpuMhzPerCore\``);
  }
  if (memoryMb !== undefined && spec.kind === 'nomad' && memoryMb < NOMAD_LEAST_MEMORY_MB) {
    refuse('resources.memoryMb', `${memoryMb} MB is less than the ${NOMAD_LEAST_MEMORY_MB} MB that Nomad gives a job`);
  }
  if (spec.kind === 'k8s') {
    const image = imageOf(evalCase, harness, spec);
    for (const { path, message } of k8sCaseFaults({ memoryMb }, image)) refuse(path, message);
  }
  if (evalCase.placement?.isolation === 'sandbox' && !isContainerRuntime(spec)) {
    refuse('placement.isolation', `${siteName(spec)} cannot isolate jobs in a sandbox`);
  }
  if (os !== 'linux' && spec.kind === 'local') refuse('placement.os', `local runs jobs on linux, not on ${os}`);
  return faults;
}

/**
 * Why a case cannot run on a runtime as it declares; paths are those of the case. Nothing is ever downgraded: what a
 * site cannot enforce is refused, but for CPU and memory where `unenforcedAxes` names them.
 */
export function siteFaults(
  evalCase: EvalCase,
  harness: HarnessSpec,
  spec: RuntimeSpec,
  flags: OperatorFlags,
): SiteFault[] {
  const name = `${spec.id}@${spec.version}`;
  const refused = unenforceable(evalCase, harness, spec, flags);
  const has = derive(spec);
  const missing = needsOf(evalCase, harness).filter(
    ({ capability, path }) => !has.includes(capability) && !refused.some((fault) => fault.path === path),
  );
  const offer = has.length > 0 ? has.join(', ') : 'none';
  return [
    ...refused.map(({ path, message }) => ({
      code: 'BAD_SPEC' as const,
      path,
      message: `runtime ${name}: ${message}`,
    })),
    ...missing.map(({ capability, path }) => ({
      code: 'CAPABILITY_MISSING' as const,
      path,
      message: `needs capability ${capability}; runtime ${name} has ${offer}`,
    })),
  ];
}
