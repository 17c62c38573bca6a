import { randomUUID } from 'node:crypto';
import type { TaskGroup } from './fake-documents.js';

/** A machine with a Nomad client, as a test describes it. */
export interface Machine {
  name: string;
  datacenter?: string;
  nodePool?: string;
  nodeClass?: string;
  cpuMhz?: number;
  cores?: number;
  memoryMb?: number;
  diskMb?: number;
  gpus?: number;
  drivers?: readonly string[];
  /** `kernel.name` and the like, without the `attr.` before them. */
  attributes?: Readonly<Record<string, string>>;
  meta?: Readonly<Record<string, string>>;
}

export interface Room {
  cpu: number;
  memory: number;
  disk: number;
  gpus: number;
}

export const DRIVERS = ['docker', 'exec', 'podman', 'raw_exec'];

/** A client as the servers know it. */
export class FakeNode {
  readonly id = randomUUID();
  status: 'ready' | 'down' | 'disconnected' = 'ready';
  isEligible = true;
  isDraining = false;
  /** Whether it can be reached; what it was told last it goes on with. */
  isConnected = true;
  readonly used: Room = { cpu: 0, memory: 0, disk: 0, gpus: 0 };
  readonly total: Room;
  readonly gpuIds: readonly string[];
  readonly freeGpus: Set<string>;
  modifyIndex = 1;

  constructor(
    readonly machine: Machine,
    private readonly version: string,
  ) {
    const { cpuMhz = 100_000, memoryMb = 256_000, diskMb = 1_000_000, gpus = 0 } = machine;
    this.total = { cpu: cpuMhz, memory: memoryMb, disk: diskMb, gpus };
    this.gpuIds = Array.from({ length: gpus }, () => `GPU-${randomUUID()}`);
    this.freeGpus = new Set(this.gpuIds);
  }

  get name(): string {
    return this.machine.name;
  }

  get datacenter(): string {
    return this.machine.datacenter ?? 'dc1';
  }

  get nodePool(): string {
    return this.machine.nodePool ?? 'default';
  }

  get drivers(): readonly string[] {
    return this.machine.drivers ?? DRIVERS;
  }

  get isSchedulable(): boolean {
    return this.status === 'ready' && this.isEligible && !this.isDraining;
  }

  /** What `${…}` stands for in a constraint. */
  target(name: string): string | undefined {
    const { attributes = {}, meta = {}, nodeClass = '' } = this.machine;
    if (name === 'node.class') return nodeClass;
    if (name === 'node.datacenter') return this.datacenter;
    if (name === 'node.pool') return this.nodePool;
    if (name === 'node.unique.id') return this.id;
    if (name === 'node.unique.name') return this.name;
    if (name.startsWith('attr.')) return { 'kernel.name': 'linux', 'cpu.arch': 'amd64', ...attributes }[name.slice(5)];
    if (name.startsWith('meta.')) return meta[name.slice(5)];
    return undefined;
  }

  take(room: Room): string[] {
    this.change(room, 1);
    const ids = [...this.freeGpus].slice(0, room.gpus);
    for (const id of ids) this.freeGpus.delete(id);
    return ids;
  }

  giveBack(room: Room, gpuIds: readonly string[]): void {
    this.change(room, -1);
    for (const id of gpuIds) this.freeGpus.add(id);
  }

  private change(room: Room, sign: 1 | -1): void {
    for (const dimension of ['cpu', 'memory', 'disk', 'gpus'] as const) this.used[dimension] += sign * room[dimension];
  }

  stub(): object {
    const healthy = (driver: string) => {
      const isThere = this.drivers.includes(driver);
      return { Attributes: null, Detected: isThere, Healthy: isThere, HealthDescription: isThere ? 'Healthy' : '' };
    };
    const { nodeClass = '', cores = 2 } = this.machine;
    const gpu = {
      ...{ Vendor: 'nvidia', Type: 'gpu', Name: 'Fake', Attributes: null },
      Instances: this.gpuIds.map((ID) => ({ ID, Healthy: true, HealthDescription: '', Locality: null })),
    };
    return {
      ID: this.id,
      Name: this.name,
      Address: '127.0.0.1',
      Datacenter: this.datacenter,
      NodePool: this.nodePool,
      NodeClass: nodeClass,
      Version: this.version,
      Drain: this.isDraining,
      SchedulingEligibility: this.isEligible ? 'eligible' : 'ineligible',
      Status: this.status,
      StatusDescription: '',
      Drivers: Object.fromEntries(DRIVERS.map((driver) => [driver, healthy(driver)])),
      HostVolumes: null,
      NodeResources: {
        Cpu: { CpuShares: this.total.cpu, TotalCpuCores: cores, ReservableCpuCores: [] },
        Memory: { MemoryMB: this.total.memory },
        Disk: { DiskMB: this.total.disk },
        Devices: this.gpuIds.length > 0 ? [gpu] : null,
      },
      CreateIndex: 1,
      ModifyIndex: this.modifyIndex,
    };
  }
}

/** What a group takes of a node. */
export function roomOf({ Tasks, EphemeralDisk }: TaskGroup): Room {
  const sum = (part: (task: TaskGroup['Tasks'][number]) => number) =>
    Tasks.reduce((total, task) => total + part(task), 0);
  return {
    cpu: sum(({ Resources }) => Resources.CPU),
    memory: sum(({ Resources }) => Resources.MemoryMB),
    disk: EphemeralDisk.SizeMB,
    gpus: sum(({ Resources }) => (Resources.Devices ?? []).reduce((total, { Count }) => total + Count, 0)),
  };
}
