import { JobAllocation } from '../backends/nomad/nomad.replies.js';

/** A task event as Nomad sends it. */
export const event = (Type: string, DisplayMessage = '', Details: object = {}) => ({ Type, DisplayMessage, Details });

export const STARTED = event('Started', 'Task started by client');

export const terminated = (exit_code: string, details: object = {}) =>
  event('Terminated', `Exit Code: ${exit_code}`, { exit_code, signal: '0', oom_killed: 'false', ...details });

export const pullFailed = (why: string, image = 'r/x:1') =>
  event('Driver Failure', `Failed to pull \`${image}\`: ${why}`, {
    driver_error: `Failed to pull \`${image}\`: ${why}`,
  });

/** An allocation, as Nomad sends it, of a task with such events; of no task without any. */
export const rawAllocation = (parts: object, ...Events: object[]) => ({
  ID: 'a1',
  NodeID: 'n1',
  NodeName: 'rack-1',
  DesiredStatus: 'run',
  ClientStatus: 'complete',
  CreateIndex: 10,
  TaskStates:
    Events.length > 0 ? { case: { State: 'dead', Failed: false, Restarts: 0, StartedAt: null, Events } } : null,
  ...parts,
});

export const anAllocation = (...parts: Parameters<typeof rawAllocation>): JobAllocation =>
  JobAllocation.parse(rawAllocation(...parts));

/** One that started, and ended so. */
export const ended = (exitCode: string, parts: object = {}, details: object = {}): JobAllocation =>
  anAllocation(parts, STARTED, terminated(exitCode, details));
