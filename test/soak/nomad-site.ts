import { FakeNomad as Fake, type FakeNomad, type FakeNomadOptions } from '../../dev/fake-nomad/fake-nomad.js';
import { startStack } from '../../dev/launcher.js';
import { E2ePlatform, type Registered } from '../e2e/platform.js';

/** What runs there at once is up to the platform. */
const ROOMY = { name: 'rack-1', cpuMhz: 1_000_000, memoryMb: 1_000_000 };

/** A platform and a Nomad, each as it is started by its users, with runtimes whose jobs are processes of this machine. */
export class NomadSite {
  private constructor(
    readonly platform: E2ePlatform,
    readonly nomad: FakeNomad,
  ) {}

  static async start(options: FakeNomadOptions, env: Record<string, string> = {}): Promise<NomadSite> {
    const nomad = await Fake.start({ machines: [ROOMY], ...options });
    try {
      const platform = await E2ePlatform.start((stack) =>
        startStack({ ...stack, env: { ...stack.env, EVERDICT_ALLOW_UNISOLATED_DRIVERS: '1', ...env } }),
      );
      return new NomadSite(platform, nomad);
    } catch (error) {
      await nomad.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.platform.stop();
    await this.nomad.stop();
  }

  /** Cases whose answer is their task, on a runtime of so many slots. */
  register(slots: number, command: string, cases: Record<string, unknown>[], runtime = {}): Promise<Registered> {
    return this.platform.register({
      runtime: { kind: 'nomad', addr: this.nomad.url, driver: 'raw_exec', maxConcurrent: slots, ...runtime },
      harness: { command },
      cases,
    });
  }

  /** What the cluster itself says of how it was used, but for what anybody may do. */
  get faults(): string[] {
    const { ledger, unknown, cluster } = this.nomad;
    const twice = (what: string, counts: ReadonlyMap<string, number>): string[] =>
      [...counts].flatMap(([job, count]) => (count > 1 ? [`${job} was ${what} ${count} times`] : []));
    const alive = [...cluster.state.jobs.values()].filter(({ Status }) => Status !== 'dead');
    return [
      ...twice('started', ledger.starts),
      ...twice('registered', ledger.registrations),
      ...ledger.purges.map((job) => `${job} was purged`),
      ...unknown.map((call) => `asked for ${call}`),
      ...alive.map(({ ID }) => `${ID} is left`),
    ];
  }
}
