import type { Allocation, StoredJob } from './fake-state.js';

/** An allocation as lists show it: with every field, empty or not. */
export function allocationStub(allocation: Allocation): Record<string, unknown> {
  const {
    Job,
    group: _group,
    devices: _devices,
    isReplaced: _isReplaced,
    PreviousAllocation: _previous,
    ...fields
  } = allocation;
  return {
    ...fields,
    JobType: Job.Type,
    JobVersion: Job.Version,
    DeploymentStatus: null,
    RescheduleTracker: null,
    PreemptedAllocations: null,
  };
}

/** The whole of it: with its job, and without fields that are empty. */
export function fullAllocation(allocation: Allocation): Record<string, unknown> {
  const { PreviousAllocation, Job } = allocation;
  const { JobType: _type, JobVersion: _version, ...fields } = allocationStub(allocation);
  const all = { ...fields, PreviousAllocation, Job: fullJob(Job), AllocatedResources: allocatedTo(allocation) };
  const isEmpty = (value: unknown) => value === '' || value === null;
  return Object.fromEntries(Object.entries(all).filter(([name, value]) => name === 'TaskStates' || !isEmpty(value)));
}

export function allocatedTo({ group, devices }: Allocation): object {
  const tasks = group.Tasks.map(({ Name, Resources }) => [
    Name,
    {
      Cpu: { CpuShares: Resources.CPU, ReservedCores: null },
      Memory: { MemoryMB: Resources.MemoryMB, MemoryMaxMB: 0 },
      Devices: devices.length > 0 ? devices : null,
      Networks: null,
    },
  ]);
  return { Tasks: Object.fromEntries(tasks), Shared: { DiskMB: group.EphemeralDisk.SizeMB, Networks: null } };
}

export const fullJob = (job: StoredJob): Record<string, unknown> => ({
  ...job,
  Region: job.Region ?? 'global',
  ParentID: '',
  Dispatched: false,
  StatusDescription: '',
});

export function jobStub(job: StoredJob, withMeta: boolean): Record<string, unknown> {
  const { ID, Name, Namespace, Datacenters, NodePool, Type, Priority, Status, Stop, SubmitTime, Meta } = job;
  const { CreateIndex, ModifyIndex, JobModifyIndex } = job;
  return {
    ...{
      ID,
      ParentID: '',
      Name,
      Namespace,
      Datacenters,
      NodePool,
      Type,
      Priority,
      Status,
      StatusDescription: '',
      Stop,
    },
    ...{ Periodic: false, ParameterizedJob: false, SubmitTime, CreateIndex, ModifyIndex, JobModifyIndex },
    ...(withMeta && { Meta }),
  };
}
