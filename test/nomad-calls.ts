import type { FakeNomad } from '../dev/fake-nomad/fake-nomad.js';
import type { Allocation, Evaluation, StoredJob } from '../dev/fake-nomad/fake-state.js';
import { eventually } from './eventually.js';

export interface NomadReply<Body> {
  status: number;
  index: number;
  text: string;
  body: Body;
}

/** Calls a fake Nomad as anyone does, over HTTP. */
export function nomadCalls({ url }: Pick<FakeNomad, 'url'>, token?: string) {
  const call = async <Body>(method: string, path: string, content?: unknown): Promise<NomadReply<Body>> => {
    const answer = await fetch(url + path, {
      method,
      headers: token === undefined ? {} : { 'x-nomad-token': token },
      ...(content !== undefined && { body: JSON.stringify(content) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type') === 'application/json';
    const body = (isJson ? JSON.parse(text) : undefined) as Body;
    return { status: answer.status, index: Number(answer.headers.get('x-nomad-index')), text, body };
  };
  const allocations = async (job: string) =>
    (await call<Allocation[]>('GET', `/v1/job/${job}/allocations?all=true`)).body;
  return {
    call,
    allocations,
    register: (Job: object, more: object = {}) =>
      call<{ EvalID: string; JobModifyIndex: number; Warnings: string }>('PUT', '/v1/jobs', { Job, ...more }),
    remove: (job: string) => call<{ EvalID: string }>('DELETE', `/v1/job/${job}`),
    job: (job: string) => call<StoredJob>('GET', `/v1/job/${job}`),
    evaluations: async (job: string) => (await call<Evaluation[]>('GET', `/v1/job/${job}/evaluations`)).body,
    /** The only allocation of a job, once it is as it shall be. */
    allocation: (job: string, isSo: (allocation: Allocation) => boolean): Promise<Allocation> =>
      eventually(`the allocation of ${job}`, async () => {
        const [allocation, ...others] = await allocations(job);
        return allocation && others.length === 0 && isSo(allocation) ? allocation : undefined;
      }),
  };
}

/** A job of one shell script. */
export const aShellJob = (ID: string, script: string, task: object = {}, group: object = {}) => ({
  ID,
  Type: 'batch',
  TaskGroups: [
    {
      Name: 'case',
      RestartPolicy: { Attempts: 0, Mode: 'fail' },
      ReschedulePolicy: { Attempts: 0 },
      Tasks: [
        {
          Name: 'case',
          Driver: 'raw_exec',
          Config: { command: '/bin/sh', args: ['-c', script] },
          LogConfig: { MaxFiles: 2, MaxFileSizeMB: 10 },
          ...task,
        },
      ],
      ...group,
    },
  ],
});
