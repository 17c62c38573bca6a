import { choosePorts } from '../../dev/ports.js';
import { CLI, node, ROOT } from '../e2e/cli/processes.js';
import { MINUTE, type Site } from '../e2e/platform.js';
import { eventually } from '../eventually.js';
import { KeptUp } from './kept-up.js';
import { type LiveProcess, liveProcesses } from './process-table.js';

export type Victim = 'launcher' | 'worker' | 'api' | 'temporal' | 'postgres';

const PARTS: Victim[] = ['launcher', 'worker', 'api', 'temporal', 'postgres'];
const COMMANDS: Record<Exclude<Victim, 'launcher'>, RegExp> = {
  worker: /\/workers\/main\.js/,
  api: /\/api\/main\.js/,
  temporal: / server start-dev /,
  postgres: /^\S+\/postgres -D /,
};

interface Start {
  dataDir: string;
  env: Record<string, string>;
  /** Called once everything has stopped. */
  leave: (() => void) | undefined;
}

/** `everdict dev` as a user types it, and types it again whenever it ended. Of its parts it knows what /proc says. */
export class DevSite implements Site {
  readonly failed = new Promise<Error>(() => {});
  private known = { databaseUrl: '', temporalAddress: '' };
  private extraWorker: KeptUp | undefined;

  private constructor(
    private readonly dataDir: string,
    private readonly port: number,
    private readonly launcher: KeptUp,
    private readonly leave: (() => void) | undefined,
  ) {}

  static async start({ dataDir, env, leave }: Start): Promise<DevSite> {
    // Of its own, or another platform could take it while this one is down.
    const { port } = await choosePorts({ port: 0 });
    const words = [CLI, 'dev', '--dir', dataDir, '--port', String(port)];
    const launcher = await KeptUp.start(() => node(words, { env }), /Ctrl-C stops everything/);
    return new DevSite(dataDir, port, launcher, leave);
  }

  /** A second worker process, with what the first is given: there may be other ports once the launcher was started again. */
  async addWorker(): Promise<void> {
    const start = async () => {
      const first = await eventually('the first worker', async () => this.firstWorker, 2 * MINUTE);
      return node([`${ROOT}dist/workers/main.js`], { env: first.environment });
    };
    this.extraWorker = await KeptUp.start(start, /worker ready/);
  }

  /** The launcher's own. */
  private get firstWorker(): LiveProcess | undefined {
    return this.processes('worker').find(({ pid }) => !this.extraWorker?.is(pid));
  }

  get output(): string {
    return `${this.launcher.output}\n${this.extraWorker?.output ?? ''}`;
  }

  get apiUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get addresses(): { databaseUrl: string; temporalAddress: string } {
    const { DATABASE_URL, TEMPORAL_ADDRESS } = this.firstWorker?.environment ?? {};
    if (DATABASE_URL && TEMPORAL_ADDRESS) this.known = { databaseUrl: DATABASE_URL, temporalAddress: TEMPORAL_ADDRESS };
    return this.known;
  }

  /** Live processes of a part, those that are just being started included. */
  processes(part: Victim): LiveProcess[] {
    return liveProcesses().filter(({ pid, command, environment }) => {
      if (part === 'launcher') return this.launcher.is(pid);
      const isOurs = command.includes(this.dataDir) || environment.EVERDICT_STATE_DIR?.startsWith(`${this.dataDir}/`);
      return isOurs && COMMANDS[part].test(command);
    });
  }

  /** As soon as one of these parts is up. It may be just coming up. */
  up(...parts: Victim[]): Promise<LiveProcess[]> {
    return eventually(
      `${parts.join(', ')} up`,
      async () => {
        const found = parts.flatMap((part) => this.processes(part));
        return found.length > 0 && found;
      },
      2 * MINUTE,
    );
  }

  /** After its launcher was killed, say, what it had started goes on until the next one takes its place. */
  async untilUp(): Promise<void> {
    await eventually('the launcher up', async () => this.launcher.isUp, 2 * MINUTE);
  }

  get pids(): Record<string, number> {
    return Object.fromEntries(PARTS.flatMap((part) => this.processes(part).map(({ pid }) => [part, pid])));
  }

  async stop(): Promise<void> {
    await this.extraWorker?.stop();
    await this.launcher.stop();
    // One that was killed has left its parts, and the next may not have come so far as to stop them.
    await node([CLI, 'dev', 'stop', '--dir', this.dataDir]).ended;
    this.leave?.();
  }
}

/** All of them at once; one that has just ended by itself is fine. Returns how many there were. */
export function signalAll(processes: LiveProcess[], signal: NodeJS.Signals): number {
  let count = 0;
  for (const { pid } of processes) {
    try {
      process.kill(pid, signal);
      count += 1;
    } catch {
      // It is gone.
    }
  }
  return count;
}
