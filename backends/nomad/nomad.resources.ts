import { PlatformError } from '../../contracts/errors.js';
import type { NomadRuntimeSpec } from '../../contracts/runtime.js';
import type { Job } from '../backend.js';
import type { NomadResources } from './nomad.document.js';
import { secretsMbOf, tooManyFiles } from './nomad.templates.js';
import { isSince } from './nomad.version.js';

/** For a job that declares nothing. */
const DEFAULT_CPU_MHZ = 1_000;
const DEFAULT_MEMORY_MB = 1_024;

/** What of a runtime says how resources are counted there. */
export type ResourceSpec = Pick<NomadRuntimeSpec, 'id' | 'version' | 'driver' | 'cpuMhzPerCore'>;

/** What a job takes of a node. */
interface Amounts {
  cpuMhz: number;
  memoryMb: number;
  gpu?: number;
}

function amountsOf({ resources: { cpuMillicores, memoryMb, gpu } }: Job, spec: ResourceSpec): Amounts {
  return {
    cpuMhz: cpuMillicores === undefined ? DEFAULT_CPU_MHZ : mhzOf(cpuMillicores, spec),
    memoryMb: memoryMb ?? DEFAULT_MEMORY_MB,
    ...(gpu !== undefined && { gpu }),
  };
}

function mhzOf(millicores: number, { id, version, driver, cpuMhzPerCore }: ResourceSpec): number {
  if (cpuMhzPerCore !== undefined) return Math.max(1, Math.round((millicores / 1_000) * cpuMhzPerCore));
  // Nothing there enforces it, and admission counts it.
  if (driver === 'raw_exec') return DEFAULT_CPU_MHZ;
  const message = `runtime ${id}@${version} has no \`cpuMhzPerCore\`, without which ${millicores} millicores cannot be placed`;
  throw new PlatformError('BAD_SPEC', message);
}

export function resourcesOf(job: Job, spec: ResourceSpec, clusterVersion: string | undefined): NomadResources {
  const { cpuMhz, memoryMb, gpu } = amountsOf(job, spec);
  const secretsMb = secretsMbOf(job.payload);
  const hasMore = clusterVersion !== undefined && isSince(clusterVersion, 10);
  if (secretsMb > 1 && !hasMore) throw tooManyFiles(job.payload);
  return {
    CPU: cpuMhz,
    MemoryMB: memoryMb,
    ...(secretsMb > 1 && { SecretsMB: secretsMb }),
    ...(gpu !== undefined && { Devices: [{ Name: 'nvidia/gpu', Count: gpu }] }),
  };
}

/** What is enforced of a job's resources, in the numbers of its document; `false` where the driver enforces none. */
export interface Enforced {
  /** `millicores` where they were declared. */
  cpu: { mhz: number; millicores?: number } | false;
  memoryMb: number | false;
  gpu?: number | false;
}

export function enforcedOf(job: Job, spec: ResourceSpec): Enforced {
  const { cpuMhz: mhz, memoryMb, gpu } = amountsOf(job, spec);
  if (spec.driver === 'raw_exec') return { cpu: false, memoryMb: false, ...(gpu !== undefined && { gpu: false }) };
  const { cpuMillicores: millicores } = job.resources;
  return {
    cpu: { mhz, ...(millicores !== undefined && { millicores }) },
    memoryMb,
    ...(gpu !== undefined && { gpu }),
  };
}
