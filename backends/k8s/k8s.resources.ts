import type { Job } from '../backend.js';
import type { Amounts, Container } from './k8s.documents.js';

/** What is declared is requested and is the limit; what is not is left to the namespace. */
export function resourcesOf({ resources: { cpuMillicores, memoryMb, gpu } }: Job): Pick<Container, 'resources'> {
  const amounts: Amounts = {
    ...(cpuMillicores !== undefined && { cpu: `${cpuMillicores}m` }),
    ...(memoryMb !== undefined && { memory: `${memoryMb}Mi` }),
    ...(gpu !== undefined && { 'nvidia.com/gpu': String(gpu) }),
  };
  return Object.keys(amounts).length > 0 ? { resources: { limits: amounts, requests: amounts } } : {};
}

/** What the cluster enforces of what a job declares. */
export interface Enforced {
  cpu?: { millicores: number };
  memoryMb?: number;
  gpu?: number;
  network?: 'none';
}

export const enforcedOf = ({ resources: { cpuMillicores, memoryMb, gpu }, network }: Job): Enforced => ({
  ...(cpuMillicores !== undefined && { cpu: { millicores: cpuMillicores } }),
  ...(memoryMb !== undefined && { memoryMb }),
  ...(gpu !== undefined && { gpu }),
  ...(network && { network }),
});
