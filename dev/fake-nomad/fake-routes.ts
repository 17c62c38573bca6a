import type { Access, AclGate } from './fake-acl.js';
import type { Answer, SeenRequest } from './fake-answer.js';
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

const LONGEST_WAIT_MS = 300_000;
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

const meta = (index: number) => ({ Index: index, LastContact: 0, KnownLeader: false, NextToken: '' });
const json = (body: unknown, index: number, next?: string): Answer => ({
  status: 200,
  body,
  headers: {
    ...{ 'x-nomad-index': String(index || 1), 'x-nomad-lastcontact': '0', 'x-nomad-knownleader': 'true' },
    ...(next !== undefined && { 'x-nomad-nexttoken': next }),
  },
});
const text = (status: number, body: string): Answer => ({ status, body });

/**
 * Answers once `indexOf` is above the index that was asked with, or the wait is over. What a list answers with is the
 * index of its table, so a change of another job may let it answer at once.
 */
async function blocking(state: FakeState, call: Call, key: string, indexOf: () => number, answer: () => Answer) {
  const asked = Number(call.query.get('index') ?? 0);
  if (!Number.isInteger(asked) || asked < 0) return text(400, 'Invalid index');
  const waitMs = durationMs(call.query.get('wait') ?? '300s');
  if (waitMs === undefined) return text(400, 'Invalid wait time');
  const until = Date.now() + Math.min(waitMs || LONGEST_WAIT_MS, LONGEST_WAIT_MS);
  while (asked > 0 && indexOf() <= asked && !call.gone.aborted) {
    const leftMs = until - Date.now();
    if (leftMs <= 0) break;
    await state.changed(key, leftMs, call.gone);
  }
  return answer();
}

const UNIT_MS = { ns: 1e-6, us: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

function durationMs(duration: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ns|us|ms|s|m|h))+$/.test(duration)) return undefined;
  let total = 0;
  for (const [, number, unit] of duration.matchAll(/(\d+(?:\.\d+)?)(ns|us|ms|s|m|h)/g)) {
    total += Number(number) * UNIT_MS[unit as keyof typeof UNIT_MS];
  }
  return total;
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

const order = (a: string, b: string): number => Number(a > b) - Number(a < b);
const isOf = (call: Call, namespace: string): boolean =>
  call.namespace === '*' ? call.mayRead(namespace) : call.namespace === namespace;

/** Items in the order of their keys, or a page of them. */
function listed(
  state: FakeState,
  call: Call,
  table: 'jobs' | 'allocs' | 'nodes',
  items: () => (readonly [string, object])[],
) {
  const { query } = call;
  if (query.has('filter')) return text(501, 'the fake does not know filters');
  return blocking(
    state,
    call,
    table,
    () => state.tables[table],
    () => {
      const from = query.get('next_token') ?? '';
      const rest = items()
        .filter(([key]) => key >= from)
        .sort(([a], [b]) => order(a, b));
      const size = Number(query.get('per_page')) || rest.length;
      const page = rest.slice(0, size).map(([, item]) => item);
      return json(page, state.tables[table], rest[size]?.[0]);
    },
  );
}
