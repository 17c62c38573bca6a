import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClients } from './fake-client.js';
import { ClusterFaults } from './fake-cluster-faults.js';
import { Evaluations } from './fake-evaluations.js';
import { Jobs } from './fake-jobs.js';
import { FakeLedger } from './fake-ledger.js';
import { FakeNode, type Machine } from './fake-nodes.js';
import { collectAtRandom } from './fake-random-gc.js';
import { FakeState } from './fake-state.js';
import { collectSystem } from './fake-system-gc.js';
import type { ImagePull } from './fake-task.js';

export interface ClusterOptions {
  version: string;
  machines?: readonly Machine[];
  nodePools?: readonly string[];
  /** How long the end of an executor takes to be believed. */
  executorMs?: number;
  /** Allocations that a client keeps, ended ones included: 50 if absent. */
  gcMaxAllocs?: number;
  /** Something is collected about so often, by chance. */
  randomGc?: { everyMs: number };
  /** Of what happens by chance. */
  seed?: number;
}

/** The servers of a Nomad cluster and its clients, whose tasks are processes of this machine. */
export class FakeCluster {
  readonly state = new FakeState();
  readonly ledger = new FakeLedger();
  /** By their id. */
  readonly nodes: ReadonlyMap<string, FakeNode>;
  /** What registries do when an image of that name is asked for; of others they have what is wanted. */
  readonly images = new Map<string, ImagePull>();
  /** Where allocations have their directories, by their id. */
  readonly root = mkdtempSync(join(tmpdir(), 'fake-nomad-'));
  readonly clients: FakeClients;
  readonly evaluations: Evaluations;
  readonly jobs: Jobs;
  private readonly stopRandomGc: () => void;
  /** What may befall it. */
  readonly faults: ClusterFaults;

  constructor({
    version,
    machines = [{ name: 'rack-1' }],
    nodePools = ['default'],
    executorMs = 3_000,
    gcMaxAllocs = 50,
    randomGc,
    seed = 1,
  }: ClusterOptions) {
    const nodes = machines.map((machine) => new FakeNode(machine, version));
    this.nodes = new Map(nodes.map((node) => [node.id, node]));
    this.clients = new FakeClients(
      { root: this.root, ledger: this.ledger, images: this.images, executorMs, gcMaxAllocs },
      (allocation) => {
        this.state.putAllocation(allocation, this.state.next());
        this.evaluations.told(allocation);
      },
    );
    this.evaluations = new Evaluations(this.state, this.nodes, this.clients);
    this.jobs = new Jobs(this.state, this.evaluations, this.ledger, new Set(nodePools));
    const collect = (): void => this.collectSystem();
    this.stopRandomGc = randomGc ? collectAtRandom(this.clients.gc, collect, { ...randomGc, seed }) : () => undefined;
    const { state, clients, evaluations } = this;
    this.faults = new ClusterFaults({ state, nodes: this.nodes, clients, evaluations, version });
  }

  /** Another takes its place. */
  stopAllocation(id: string): { EvalID: string; Index: number } | undefined {
    const allocation = this.state.allocations.get(id);
    if (!allocation) return undefined;
    allocation.isReplaced = true;
    allocation.DesiredTransition = { Migrate: true };
    this.evaluations.stop(allocation, 'alloc is being migrated');
    const index = this.state.next();
    const { Namespace, JobID } = allocation;
    const { ID } = this.evaluations.create({ Namespace, JobID, TriggeredBy: 'alloc-stop' }, index);
    return { EvalID: ID, Index: index };
  }

  /** The servers forget what is over. */
  collectSystem(): void {
    collectSystem(this.state, this.clients.gc);
  }

  async close(): Promise<void> {
    this.stopRandomGc();
    this.state.wakeAll();
    await this.clients.close();
    await rm(this.root, { recursive: true, force: true });
  }
}
