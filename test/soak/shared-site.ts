import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { startStack } from '../../dev/launcher.js';
import { choosePorts } from '../../dev/ports.js';
import { node, ROOT } from '../e2e/cli/processes.js';
import { E2ePlatform } from '../e2e/platform.js';
import { SignalProxy } from '../signal-proxy.js';
import { type JobDemand, JobLedger } from './job-ledger.js';
import { KeptUp } from './kept-up.js';
import { type LiveProcess, liveProcesses } from './process-table.js';

const HARNESS = 'noted';

export interface SharedRuntime {
  id: string;
  maxConcurrent: number;
  memoryBudgetMb?: number;
}

/**
 * A platform of several workspaces on runtimes that they share, with two worker processes. What its processes say to
 * Temporal goes through a proxy; a test itself has the server's own address.
 */
export class SharedSite {
  private datasets = 0;
  private second: KeptUp | undefined;

  private constructor(
    readonly platform: E2ePlatform,
    readonly proxy: SignalProxy,
    readonly ledger: JobLedger,
  ) {}

  static async start(runtimes: readonly SharedRuntime[], workspaces: readonly string[]): Promise<SharedSite> {
    const { temporal } = await choosePorts({ temporal: 0 });
    const proxy = await SignalProxy.before(`127.0.0.1:${temporal}`);
    let ledger: JobLedger | undefined;
    const platform = await E2ePlatform.start((options) => {
      const dir = path.dirname(options.dataDir);
      ledger = new JobLedger(path.join(dir, 'ledger'));
      const env = {
        ...options.env,
        TEMPORAL_ADDRESS: proxy.address,
        EVERDICT_SHARED_DIR: writeShared(dir, runtimes, ledger),
      };
      return startStack({ ...options, env, ports: { temporal } });
    });
    if (!ledger) throw new Error('nothing was started');
    const site = new SharedSite(platform, proxy, ledger);
    for (const id of workspaces) await platform.ok('POST', '/workspaces', { id });
    await site.addWorker();
    return site;
  }

  private async addWorker(): Promise<void> {
    const [first] = this.workers;
    if (!first) throw new Error('there is no worker');
    const { environment: env } = first;
    this.second = await KeptUp.start(() => node([`${ROOT}dist/workers/main.js`], { env }), /worker ready/);
  }

  /** Those that run now. */
  get workers(): LiveProcess[] {
    return liveProcesses().filter(
      ({ command, environment }) =>
        /\/workers\/main\.js/.test(command) && environment.EVERDICT_STATE_DIR?.startsWith(`${this.platform.dir}/`),
    );
  }

  /** A scorecard with one case for each demand. */
  async submit(workspace: string, runtime: string, demands: readonly JobDemand[]): Promise<string> {
    this.datasets += 1;
    const dataset = `tasks-${this.datasets}`;
    const cases = demands.map((demand, i) => this.ledger.caseOf(`case-${i}`, demand, workspace, runtime));
    const headers = inWorkspace(workspace);
    await this.platform.ok('POST', '/datasets', { id: dataset, version: '1', cases }, headers);
    const request = { dataset, harness: HARNESS, runtime };
    return (await this.platform.ok<{ id: string }>('POST', '/scorecards', request, headers)).id;
  }

  async run(workspace: string, runtime: string, demand: JobDemand): Promise<string> {
    const request = { case: this.ledger.caseOf('single', demand, workspace, runtime), harness: HARNESS, runtime };
    return (await this.platform.ok<{ id: string }>('POST', '/runs', request, inWorkspace(workspace))).id;
  }

  async stop(): Promise<void> {
    this.proxy.set(() => 'passed');
    await this.second?.stop();
    await this.platform.stop();
    this.proxy.close();
  }
}

export const inWorkspace = (workspace: string) => ({ 'x-everdict-workspace': workspace });

function writeShared(dir: string, runtimes: readonly SharedRuntime[], ledger: JobLedger): string {
  const shared = path.join(dir, 'shared');
  const write = (kind: string, spec: { id: string }) => {
    mkdirSync(path.join(shared, kind), { recursive: true });
    writeFileSync(path.join(shared, kind, `${spec.id}.json`), JSON.stringify({ version: '1', ...spec }));
  };
  for (const runtime of runtimes) write('runtimes', { ...runtime, ...{ kind: 'local' } });
  write('harnesses', { id: HARNESS, ...{ kind: 'command' }, ...ledger.harness });
  return shared;
}
