import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AllocationEvent, AllocationRef, Backend, Job, Watch } from '../../backends/backend.js';
import { ClusterFailure } from '../../backends/cluster-client.js';
import { Pod } from '../../backends/k8s/k8s.replies.js';
import { pause } from '../../backends/pause.js';
import type { AttemptEnd } from '../../contracts/attempt.js';
import { allocationName } from '../../policy/naming.js';
import { buildPayload, type PayloadInput } from '../../policy/payload.js';
import type { JobRecord } from '../../policy/record.js';
import { verdictOf } from '../../policy/results.js';
import { nextStep } from '../../policy/retry.js';
import { eventually } from '../eventually.js';
import type { Answer } from './admin.js';
import { DEPLOYMENT, IMAGE, type Site } from './site.js';

const WRAPPER = readFileSync(new URL('../../wrapper/wrapper.sh', import.meta.url), 'utf8');
const TIMERS = { setupSec: 60, timeoutSec: 300, graderSec: 60, graceSec: 2, lingerSec: 30 };
/** Of the base-36 digits of an id. */
const ID_LENGTH = 26;

const AGAIN_MS = 200;

/** A command that the wrapper runs, or a program that runs in its place. */
export interface LiveInput extends Partial<Omit<PayloadInput, 'timers'>> {
  job?: Partial<Job>;
  from?: Watch['from'];
}

export interface LiveEnd {
  /** `passed`, `failed`, or class and code. */
  outcome: string;
  reason: string;
  isRetried: boolean;
  output: string;
  record?: JobRecord;
  waiting: string[];
  provenance: Record<string, unknown>;
  events: AllocationEvent[];
  tookMs: number;
}

/** One attempt on the cluster, from its submission until nothing of it is left. */
export class LiveCase {
  readonly events: AllocationEvent[] = [];
  readonly ref: AllocationRef;
  readonly job: Job;
  private readonly leaving = new AbortController();

  constructor(
    private readonly site: Site,
    readonly backend: Backend,
    { job, from, ...input }: LiveInput,
  ) {
    const runId = `run_${anId()}`;
    this.ref = { name: allocationName(DEPLOYMENT, runId, 1), nonce: randomBytes(16).toString('hex') };
    const payload = buildPayload({
      wrapper: WRAPPER,
      runId,
      caseId: 'c',
      task: 'none',
      setup: [],
      command: 'true',
      graders: [],
      env: {},
      params: {},
      answerLimit: 4_096,
      ...input,
      timers: TIMERS,
    });
    const expiresAt = Date.now() + 3_600_000;
    const owner = { deployment: DEPLOYMENT, workspaceId: 'acme', runId, caseId: 'c', attempt: 1, expiresAt };
    this.job = { payload, image: IMAGE, resources: {}, lifeMs: 600_000, owner, ...job };
  }

  submit = async (): Promise<void> => expect(await this.backend.submit(this.job, this.ref)).toBe('created');

  /** Until its end, or until it is left. */
  async watch(watch: Partial<Watch> = {}): Promise<void> {
    const from = { stdout: 0, stderr: 0 };
    const { signal } = this.leaving;
    for await (const event of this.backend.watch(this.ref, { from, signal, limitMs: 600_000, ...watch })) {
      this.events.push(event);
    }
  }

  /** Some of it, going on where it was left. */
  async watchFor(ms: number, stdout: number): Promise<void> {
    await this.watch({ from: { stdout, stderr: 0 }, signal: AbortSignal.timeout(ms) });
  }

  /** As `watch`, going on wherever the cluster stopped answering. */
  async watchOn(): Promise<void> {
    while (!this.leaving.signal.aborted) {
      try {
        return await this.watch({ from: { stdout: this.output().length, stderr: 0 } });
      } catch (error) {
        if (!(error instanceof ClusterFailure) || error.reason !== 'unreachable') throw error;
        // What is known to be out of reach fails at once, and nothing else would have its turn.
        await pause(AGAIN_MS, this.leaving.signal);
      }
    }
  }

  leave = (): void => this.leaving.abort();

  /** From its submission to its end; `meanwhile` makes what befalls it. */
  async run(meanwhile: (live: this) => Promise<void> = async () => undefined): Promise<LiveEnd> {
    const begun = performance.now();
    await this.submit();
    const watching = this.watch();
    const befalling = meanwhile(this);
    befalling.catch(() => this.leave());
    await Promise.all([watching, befalling]);
    return this.end(performance.now() - begun);
  }

  private async end(tookMs: number): Promise<LiveEnd> {
    const told = this.told();
    const provenance = Object.assign(
      await this.backend.provenance(this.ref),
      ...this.events.map((event) => (event.kind === 'placed' ? event.provenance : {})),
    );
    await this.stop();
    return { ...told, provenance, events: this.events, tookMs };
  }

  /** And nothing of it is left. */
  async stop(): Promise<void> {
    await this.backend.stop(this.ref);
    expect(await this.site.left(`everdict.dev/allocation=${this.ref.name}`)).toEqual([]);
  }

  private told(): Omit<LiveEnd, 'provenance' | 'events' | 'tookMs'> {
    const last = this.events.at(-1);
    const record = last?.kind === 'record' ? last.record : undefined;
    if (!last) throw new Error('nothing was told of it');
    const seconds = { timeoutSec: TIMERS.timeoutSec, setupSec: TIMERS.setupSec, graderSec: TIMERS.graderSec };
    const verdict = verdictOf({ graders: [], end: last as AttemptEnd, ...(record && { record }), ...seconds });
    return {
      outcome: verdict.outcome === 'errored' ? `${verdict.errorClass} ${verdict.errorCode}` : verdict.outcome,
      reason: ('reason' in verdict && verdict.reason) || '',
      isRetried: nextStep(verdict, 1, 2).kind === 'retry',
      output: this.output(),
      ...(record && { record }),
      waiting: this.events.flatMap((event) => (event.kind === 'waiting' && event.detail ? [event.detail] : [])),
    };
  }

  output(): string {
    return Buffer.concat(this.events.flatMap((event) => (event.kind === 'log' ? [event.bytes] : []))).toString('utf8');
  }

  /** Its pod, once that is so. */
  pod(what: string, isSo: (pod: Pod) => boolean, withinMs = 60_000): Promise<Pod> {
    const labels = `everdict.dev/allocation=${this.ref.name}`;
    return eventually(
      `a pod of ${this.ref.name} that ${what}`,
      async () => {
        const [first] = await this.site.admin.items(this.site.path('pods'), labels);
        const pod = first && Pod.parse(first);
        return pod && isSo(pod) ? pod : undefined;
      },
      withinMs,
    );
  }

  running = (): Promise<Pod> => this.pod('runs', ({ status }) => status.phase === 'Running');

  /** All that it printed, once it holds a text. */
  prints = (text: string): Promise<unknown> =>
    eventually(`${this.ref.name} prints ${text}`, async () => this.output().includes(text), 60_000);

  waits = (why: RegExp): Promise<unknown> =>
    eventually(
      `${this.ref.name} waits as ${why}`,
      async () => this.events.some((event) => event.kind === 'waiting' && why.test(event.detail ?? '')),
      60_000,
    );

  /** Objects of the API that are its own. */
  owned = (path: string): Promise<Answer[]> => this.site.admin.items(path, `everdict.dev/allocation=${this.ref.name}`);
}

/** A program in the wrapper's place: a shell as the first process of its container. */
export const inShell = (script: string, parts: Partial<Job> = {}): LiveInput => ({
  job: { payload: new Map(), program: { entrypoint: ['/bin/sh', '-c', script], env: {} }, ...parts },
});

function anId(): string {
  const digits = BigInt(`0x${randomBytes(16).toString('hex')}`).toString(36);
  return digits.padStart(ID_LENGTH, '0').slice(-ID_LENGTH);
}
