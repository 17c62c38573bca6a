import { isDeepStrictEqual } from 'node:util';
import { JobDocument, RegisterBody } from './fake-documents.js';
import type { Evaluations } from './fake-evaluations.js';
import type { FakeLedger } from './fake-ledger.js';
import { type FakeState, jobKey, nanoseconds, type StoredJob } from './fake-state.js';
import { errorList, faultsOf, whereUnknown } from './fake-validation.js';

/** Taken, or refused in Nomad's words; `unknown`: nobody measured what Nomad would say. */
export type Outcome<Reply> = { reply: Reply } | { status: number; text: string } | { unknown: string };

interface Registered {
  EvalID: string;
  EvalCreateIndex: number;
  JobModifyIndex: number;
}

/** Takes and stops jobs. */
export class Jobs {
  constructor(
    private readonly state: FakeState,
    private readonly evaluations: Evaluations,
    private readonly ledger: FakeLedger,
    private readonly pools: ReadonlySet<string>,
  ) {}

  register(body: unknown, namespace: string | undefined, id?: string): Outcome<Registered & { Warnings: string }> {
    const outer = RegisterBody.safeParse(body);
    if (!outer.success) return { unknown: `a register body with ${whereUnknown(outer.error)}` };
    const { EnforceIndex, JobModifyIndex: wanted, Job } = outer.data;
    if (Job === undefined || Job === null) return { status: 400, text: 'Job must be specified' };
    if (!(Job as { ID?: unknown }).ID) return { status: 400, text: "Job ID hasn't been provided" };
    const parsed = JobDocument.safeParse(Job);
    if (!parsed.success) return { unknown: `a job with ${whereUnknown(parsed.error)}` };
    const document = parsed.data;
    if (document.Type !== 'batch') return { unknown: `a job of type ${document.Type}` };
    if (id !== undefined && id !== document.ID) return { status: 400, text: 'Job ID does not match name' };
    const Namespace = namespace ?? document.Namespace ?? 'default';
    const pool = document.NodePool ?? 'default';
    const faults = faultsOf(document);
    if (!this.pools.has(pool)) faults.push(`job "${document.ID}" is in nonexistent node pool "${pool}"`);
    if (faults.length > 0) return { status: 500, text: errorList(faults) };
    const existing = this.state.jobs.get(jobKey(Namespace, document.ID));
    const conflict = EnforceIndex ? conflictOf(existing, wanted) : undefined;
    if (conflict !== undefined) return { status: 500, text: `Enforcing job modify index ${wanted}: ${conflict}` };
    return {
      reply: { ...this.store({ ...document, Namespace, NodePool: pool }, existing), Warnings: warningOf(document) },
    };
  }

  private store(document: JobDocument & { Namespace: string; NodePool: string }, existing?: StoredJob): Registered {
    const index = this.state.next();
    const isSame = existing && !existing.Stop && isDeepStrictEqual(documentOf(existing), named(document));
    const job: StoredJob = {
      ...named(document),
      Status: existing?.Status ?? 'pending',
      Stop: false,
      Version: existing ? existing.Version + (isSame ? 0 : 1) : 0,
      SubmitTime: nanoseconds(),
      CreateIndex: existing?.CreateIndex ?? index,
      ModifyIndex: index,
      JobModifyIndex: isSame ? existing.JobModifyIndex : index,
    };
    if (existing?.Stop) job.Status = 'pending';
    this.state.putJob(job, index);
    this.ledger.registered(job.ID);
    const evaluation = this.evaluations.create(
      {
        ...{ Namespace: job.Namespace, JobID: job.ID, JobModifyIndex: job.JobModifyIndex },
        ...{ TriggeredBy: 'job-register', Priority: job.Priority },
      },
      index,
    );
    return { EvalID: evaluation.ID, EvalCreateIndex: index, JobModifyIndex: job.JobModifyIndex };
  }

  /** One that nobody knows is stopped already. */
  deregister(namespace: string, id: string, purge: boolean): Registered {
    const job = this.state.jobs.get(jobKey(namespace, id));
    if (purge) this.ledger.purges.push(id);
    if (!job) return { EvalID: '', EvalCreateIndex: 0, JobModifyIndex: 0 };
    const index = this.state.next();
    if (purge) this.state.dropJob(job, index);
    else {
      const stopped = { ...job, Stop: true, Status: 'dead' as const, Version: job.Version + 1, JobModifyIndex: index };
      this.state.putJob(stopped, index);
    }
    const evaluation = this.evaluations.create(
      {
        ...{ Namespace: namespace, JobID: id, JobModifyIndex: index, Priority: job.Priority },
        ...{ TriggeredBy: 'job-deregister', Type: purge ? 'service' : job.Type },
      },
      index,
    );
    return { EvalID: evaluation.ID, EvalCreateIndex: index, JobModifyIndex: index };
  }
}

function conflictOf(existing: StoredJob | undefined, wanted: number): string | undefined {
  if (wanted === 0) return existing && 'job already exists';
  if (!existing) return 'job does not exist';
  if (existing.JobModifyIndex === wanted) return undefined;
  return `job exists with conflicting job modify index: ${existing.JobModifyIndex}`;
}

const named = (document: JobDocument & { Namespace: string; NodePool: string }) => ({
  ...document,
  Name: document.Name ?? document.ID,
});

/** What of a job its author wrote. */
function documentOf({
  Status: _status,
  Stop: _stop,
  Version: _version,
  SubmitTime: _time,
  CreateIndex: _created,
  ModifyIndex: _modified,
  JobModifyIndex: _written,
  ...document
}: StoredJob) {
  return document;
}

function warningOf({ TaskGroups }: JobDocument): string {
  const greedy = TaskGroups.flatMap(({ Name, Tasks }) =>
    Tasks.filter(({ Resources }) => Resources.MemoryMaxMB).map((task) => `${Name}.${task.Name}`),
  );
  const warnings = greedy.map(
    (name) => `Memory oversubscription is not enabled; Task "${name}" memory_max value will be ignored.`,
  );
  const count = warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`;
  return warnings.length === 0 ? '' : `${count}:\n\n${warnings.map((warning) => `* ${warning}`).join('\n')}`;
}
