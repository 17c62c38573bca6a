import type { Answer, SeenRequest } from '../fake-http/fake-answer.js';
import type { Access, AclGate } from './fake-acl.js';
import { blocking, json, listed, meta, text } from './fake-blocking.js';
import type { FakeCluster } from './fake-cluster.js';
import type { Outcome } from './fake-jobs.js';
import { type FakeState, jobKey } from './fake-state.js';
import { errorList } from './fake-validation.js';
import { allocatedTo, allocationStub, fullAllocation, fullJob, jobStub } from './fake-views.js';

export interface Call extends SeenRequest {
  /** What the pattern of its route left open. */
  id: string;
  namespace: string;
  /** Whether the caller may know what is in a namespace. */
  mayRead(namespace: string): boolean;
  /** The caller has gone. */
  gone: AbortSignal;
}

export type Handler = (call: Call) => Answer | Promise<Answer>;

export interface Route {
  method: 'GET' | 'PUT' | 'DELETE';
  /** With `:id` where a path differs. A write is PUT or POST. */
  pattern: string;
  access: Access;
  handle: Handler;
}

const UUID = /^.{36}$/;

/** Jobs, evaluations and allocations over HTTP. Routes that are longer stand first. */
export function clusterRoutes(cluster: FakeCluster, gate: AclGate, namespaces: readonly string[]): Route[] {
  const { state } = cluster;
  const register = (call: Call, id?: string): Answer => {
    const asked = call.body as { Job?: { ID?: string; Namespace?: string } } | undefined;
    const namespace = call.query.get('namespace') ?? asked?.Job?.Namespace ?? 'default';
    if (!namespaces.includes(namespace)) {
      return text(500, errorList([`job "${asked?.Job?.ID}" is in nonexistent namespace "${namespace}"`]));
    }
    const refused = gate.refusal('submit-job', call.token, namespace);
    return refused ?? told(cluster.jobs.register(call.body, namespace, id), state.index);
  };
  return [
    { method: 'GET', pattern: '/v1/jobs', access: 'list-jobs', handle: (call) => listJobs(state, call) },
    { method: 'PUT', pattern: '/v1/jobs', access: 'good', handle: (call) => register(call) },
    {
      method: 'GET',
      pattern: '/v1/job/:id/allocations',
      access: 'read-job',
      handle: (call) => jobAllocations(state, call),
    },
    {
      method: 'GET',
      pattern: '/v1/job/:id/evaluations',
      access: 'read-job',
      handle: (call) => jobEvaluations(state, call),
    },
    { method: 'PUT', pattern: '/v1/job/:id', access: 'good', handle: (call) => register(call, call.id) },
    { method: 'GET', pattern: '/v1/job/:id', access: 'read-job', handle: (call) => oneJob(state, call) },
    { method: 'DELETE', pattern: '/v1/job/:id', access: 'submit-job', handle: (call) => deregister(cluster, call) },
    { method: 'GET', pattern: '/v1/evaluation/:id', access: 'read-job', handle: (call) => oneEvaluation(state, call) },
    {
      method: 'PUT',
      pattern: '/v1/allocation/:id/stop',
      access: 'alloc-lifecycle',
      handle: (call) => stopAllocation(cluster, call),
    },
    { method: 'GET', pattern: '/v1/allocation/:id', access: 'good', handle: (call) => oneAllocation(state, call) },
    { method: 'GET', pattern: '/v1/allocations', access: 'read-job', handle: (call) => listAllocations(state, call) },
    { method: 'GET', pattern: '/v1/nodes', access: 'Node', handle: (call) => listNodes(cluster, call) },
  ];
}

function told<Reply extends object>(outcome: Outcome<Reply>, index: number): Answer {
  if ('reply' in outcome) return json({ ...outcome.reply, ...meta(index) }, index);
  if ('unknown' in outcome) return text(501, `the fake does not know what Nomad says to ${outcome.unknown}`);
  return text(outcome.status, outcome.text);
}

function deregister({ jobs, state }: FakeCluster, { query, id, namespace }: Call): Answer {
  const purge = query.get('purge') ?? 'false';
  if (!/^(1|t|T|true|TRUE|True|0|f|F|false|FALSE|False)$/.test(purge)) {
    const why = `strconv.ParseBool: parsing ${JSON.stringify(purge)}: invalid syntax`;
    return text(500, `Failed to parse value of "purge" (${purge}) as a bool: ${why}`);
  }
  const reply = jobs.deregister(namespace, id, /^(1|t)/i.test(purge));
  const Index = reply.EvalID === '' ? 0 : state.index;
  return json({ ...reply, VolumeEvalID: '', VolumeEvalIndex: 0, ...meta(Index) }, Index);
}

function oneJob(state: FakeState, call: Call) {
  const key = jobKey(call.namespace, call.id);
  const index = () => state.jobs.get(key)?.ModifyIndex ?? state.tables.jobs;
  return blocking(state, call, key, index, () => {
    const job = state.jobs.get(key);
    return job ? json(fullJob(job), index()) : text(404, 'job not found');
  });
}

function jobAllocations(state: FakeState, call: Call) {
  const key = jobKey(call.namespace, call.id);
  return blocking(
    state,
    call,
    key,
    () => state.tables.allocs,
    () => {
      const created = state.jobs.get(key)?.CreateIndex;
      const isShown = call.query.get('all') === 'true' ? () => true : (index: number) => index === created;
      const allocations = (state.allocationsOf.get(key) ?? []).filter(({ Job }) => isShown(Job.CreateIndex));
      return json(allocations.map(allocationStub), state.tables.allocs);
    },
  );
}

function jobEvaluations(state: FakeState, call: Call) {
  const key = jobKey(call.namespace, call.id);
  const index = () => state.tables.evals;
  return blocking(state, call, key, index, () => json(state.evaluationsOf.get(key) ?? [], index()));
}

function oneEvaluation(state: FakeState, call: Call) {
  if (!UUID.test(call.id)) {
    return text(500, 'failed to lookup eval: eval lookup failed: index error: UUID must be 36 characters');
  }
  const index = () => state.evaluations.get(call.id)?.ModifyIndex ?? state.tables.evals;
  return blocking(state, call, call.id, index, () => {
    const evaluation = state.evaluations.get(call.id);
    return evaluation ? json(evaluation, index()) : text(404, 'eval not found');
  });
}

const BAD_ALLOCATION_ID = 'alloc lookup failed: index error: UUID must be 36 characters';

function oneAllocation(state: FakeState, call: Call) {
  if (!UUID.test(call.id)) return text(500, BAD_ALLOCATION_ID);
  const index = () => state.allocations.get(call.id)?.ModifyIndex ?? state.tables.allocs;
  return blocking(state, call, call.id, index, () => {
    const allocation = state.allocations.get(call.id);
    if (allocation && !call.mayRead(allocation.Namespace)) return text(500, `Unknown allocation "${call.id}"`);
    return allocation ? json(fullAllocation(allocation), index()) : text(404, 'alloc not found');
  });
}

function stopAllocation(cluster: FakeCluster, { id }: Call): Answer {
  if (!UUID.test(id)) return text(500, BAD_ALLOCATION_ID);
  const reply = cluster.stopAllocation(id);
  return reply ? json(reply, reply.Index) : text(404, 'allocation not found');
}

function listJobs(state: FakeState, call: Call) {
  const prefix = call.query.get('prefix') ?? '';
  const withMeta = call.query.get('meta') === 'true';
  return listed(state, call, 'jobs', () =>
    [...state.jobs.values()]
      .filter(({ ID, Namespace }) => ID.startsWith(prefix) && isOf(call, Namespace))
      .map((job) => [`${job.Namespace}.${job.ID}`, jobStub(job, withMeta)] as const),
  );
}

function listAllocations(state: FakeState, call: Call) {
  const hasResources = call.query.get('resources') === 'true';
  return listed(state, call, 'allocs', () =>
    [...state.allocations.values()]
      .filter(({ Namespace }) => isOf(call, Namespace))
      .map((allocation) => {
        const resources = hasResources && { AllocatedResources: allocatedTo(allocation) };
        return [allocation.ID, { ...allocationStub(allocation), ...resources }] as const;
      }),
  );
}

const listNodes = ({ nodes, state }: FakeCluster, call: Call) =>
  listed(state, call, 'nodes', () => [...nodes.values()].map((node) => [node.id, node.stub()] as const));

const isOf = (call: Call, namespace: string): boolean =>
  call.namespace === '*' ? call.mayRead(namespace) : call.namespace === namespace;
