import type { ClientGc } from './fake-gc.js';
import type { Allocation, FakeState } from './fake-state.js';

/**
 * `PUT /v1/system/gc`: the servers forget every dead or purged job whose evaluations and allocations are over. Of a job
 * that they knew until now, one evaluation is left, that of its end, which goes the next time.
 */
export function collectSystem(state: FakeState, clients: ClientGc): void {
  const keys = new Set([...state.jobs.keys(), ...state.allocationsOf.keys(), ...state.evaluationsOf.keys()]);
  for (const key of keys) collectJob(state, clients, key);
}

function collectJob(state: FakeState, clients: ClientGc, key: string): void {
  const job = state.jobs.get(key);
  const allocations = state.allocationsOf.get(key) ?? [];
  const evaluations = state.evaluationsOf.get(key) ?? [];
  if (job && job.Status !== 'dead') return;
  if (!allocations.every(isOver)) return;
  if (evaluations.some(({ Status }) => Status === 'pending' || Status === 'blocked')) return;
  const index = state.next();
  for (const { ID } of allocations) clients.collect(ID);
  state.dropAllocations(key, new Set(allocations), index);
  state.keepEvaluations(key, [], index);
  if (!job) return;
  state.dropJob(job, index);
  const { Namespace, ID: JobID, Type, Priority } = job;
  state.addEvaluation({ Namespace, JobID, Type, Priority, TriggeredBy: 'job-deregister', Status: 'complete' }, index);
}

/** Of a lost one its client may still tell. */
const isOver = ({ ClientStatus }: Allocation): boolean => ClientStatus === 'complete' || ClientStatus === 'failed';
