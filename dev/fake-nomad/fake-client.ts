import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskDocument } from './fake-documents.js';
import { ClientGc } from './fake-gc.js';
import type { TaskDirectories } from './fake-interpolation.js';
import type { FakeLedger } from './fake-ledger.js';
import type { FakeNode } from './fake-nodes.js';
import type { Allocation, ClientStatus, TaskState } from './fake-state.js';
import { type ImagePull, TaskRun } from './fake-task.js';
import { LogFiles } from './fake-task-logs.js';

export interface ClientOptions {
  /** Where allocation directories are made. */
  root: string;
  ledger: FakeLedger;
  images: ReadonlyMap<string, ImagePull>;
  executorMs: number;
  /** Allocations that a client keeps, ended ones included. */
  gcMaxAllocs: number;
}

/** An allocation as the client that runs it knows it. */
export interface AllocationRun {
  allocation: Allocation;
  node: FakeNode;
  directory: string;
  tasks: TaskRun[];
  /** Its directory is there. */
  isKept: boolean;
  /** Its tasks have ended, and their files are closed. */
  finished: Promise<void>;
}

/** The clients of all nodes: they run what is placed on them, and tell the servers of it as long as they reach them. */
export class FakeClients {
  readonly runs = new Map<string, AllocationRun>();
  readonly gc: ClientGc;
  private isClosed = false;

  constructor(
    private readonly options: ClientOptions,
    private readonly tell: (allocation: Allocation) => void,
  ) {
    this.gc = new ClientGc(this.runs, options.gcMaxAllocs);
  }

  start(allocation: Allocation, node: FakeNode): void {
    if (this.isClosed) return;
    const { ledger, images, executorMs } = this.options;
    const { group } = allocation;
    this.gc.makeRoom(node);
    const directory = this.directoryOf(allocation.ID);
    const logs: LogFiles[] = [];
    const tasks = group.Tasks.map((task) => {
      const directories = makeDirectories(directory, task);
      const files = new LogFiles(join(directories.shared, 'logs'), task.Name, task.LogConfig);
      logs.push(files);
      return new TaskRun(task, {
        ...{ group, directories, images, executorMs, logs: files },
        known: variables(allocation, task, node, directories),
        started: () => ledger.started(allocation.JobID),
        ended: () => ledger.ended(),
        changed: () => this.report(run),
      });
    });
    const run: AllocationRun = { allocation, node, directory, tasks, isKept: true, finished: Promise.resolve() };
    this.runs.set(allocation.ID, run);
    run.finished = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => Promise.all(tasks.map((task) => task.run())))
      .then(() => {
        for (const files of logs) files.close();
      });
  }

  directoryOf(id: string): string {
    return join(this.options.root, id);
  }

  stop({ ID }: Allocation): void {
    const run = this.runs.get(ID);
    if (run?.node.isConnected) for (const task of run.tasks) task.kill();
  }

  /** A client that is back tells what it has, and learns what it is to stop. */
  reconnected(node: FakeNode): void {
    for (const run of this.runs.values()) {
      if (run.node !== node) continue;
      if (run.allocation.DesiredStatus !== 'run') this.stop(run.allocation);
      this.report(run);
    }
  }

  /** Ends every process, and starts none any more. */
  async close(): Promise<void> {
    this.isClosed = true;
    const runs = [...this.runs.values()];
    for (const { tasks } of runs) {
      for (const task of tasks) {
        task.kill();
        task.killNow();
      }
    }
    await Promise.all(runs.map(({ finished }) => finished));
  }

  private report(run: AllocationRun): void {
    const { allocation, node, tasks } = run;
    if (tasks.every(({ state }) => state.State === 'dead')) this.gc.end(run);
    if (!node.isConnected) return;
    allocation.TaskStates = Object.fromEntries(tasks.map(({ task, state }) => [task.Name, copyOf(state)]));
    const [status, description] = clientStatus(tasks.map(({ state }) => state));
    // Lost it stays until it has ended.
    if (allocation.ClientStatus === 'lost' && (status === 'pending' || status === 'running')) return;
    allocation.ClientStatus = status;
    allocation.ClientDescription = description;
    this.tell(allocation);
  }
}

const copyOf = (state: TaskState): TaskState => ({ ...state, Events: [...state.Events] });

function clientStatus(states: readonly TaskState[]): [ClientStatus, string] {
  if (states.some(({ State, Failed }) => State === 'dead' && Failed)) return ['failed', 'Failed tasks'];
  if (states.some(({ State }) => State === 'running')) return ['running', 'Tasks are running'];
  if (states.some(({ State }) => State === 'pending')) return ['pending', 'No tasks have started'];
  return ['complete', 'All tasks have completed'];
}

function makeDirectories(allocation: string, { Name }: TaskDocument): TaskDirectories {
  const task = join(allocation, Name);
  const directories = {
    ...{ allocation, task, local: join(task, 'local') },
    ...{ secrets: join(task, 'secrets'), shared: join(allocation, 'alloc') },
  };
  for (const path of [directories.local, directories.secrets, join(task, 'tmp'), join(directories.shared, 'logs')]) {
    mkdirSync(path, { recursive: true });
  }
  return directories;
}

/** What `${…}` may name in a task. */
function variables(
  { ID, Name, Job, TaskGroup, group, devices }: Allocation,
  task: TaskDocument,
  node: FakeNode,
  directories: TaskDirectories,
): Map<string, string> {
  const gpus = devices.flatMap(({ DeviceIDs }) => DeviceIDs).join(',');
  const known: Record<string, string> = {
    NOMAD_ALLOC_DIR: directories.shared,
    NOMAD_TASK_DIR: directories.local,
    NOMAD_SECRETS_DIR: directories.secrets,
    NOMAD_ALLOC_ID: ID,
    NOMAD_SHORT_ALLOC_ID: ID.slice(0, 8),
    NOMAD_ALLOC_NAME: Name,
    NOMAD_ALLOC_INDEX: '0',
    NOMAD_TASK_NAME: task.Name,
    NOMAD_GROUP_NAME: TaskGroup,
    NOMAD_JOB_ID: Job.ID,
    NOMAD_JOB_NAME: Job.Name,
    NOMAD_NAMESPACE: Job.Namespace,
    NOMAD_DC: node.datacenter,
    NOMAD_REGION: 'global',
    NOMAD_CPU_LIMIT: String(task.Resources.CPU),
    NOMAD_MEMORY_LIMIT: String(task.Resources.MemoryMB),
    'node.class': node.machine.nodeClass ?? '',
    'node.datacenter': node.datacenter,
    'node.unique.id': node.id,
    'node.unique.name': node.name,
    'attr.kernel.name': 'linux',
    'attr.cpu.arch': 'amd64',
    ...(gpus !== '' && { NVIDIA_VISIBLE_DEVICES: gpus }),
  };
  for (const [name, value] of Object.entries({ ...Job.Meta, ...group.Meta, ...task.Meta })) {
    for (const each of [name, name.toUpperCase()]) known[`NOMAD_META_${each}`] = value;
  }
  return new Map(Object.entries({ ...known, ...task.Env }));
}
