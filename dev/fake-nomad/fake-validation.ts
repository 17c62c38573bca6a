import type { z } from 'zod';
import type { JobDocument, TaskDocument, TaskGroup } from './fake-documents.js';

/** Also a single error is told so. */
export function errorList(errors: readonly string[]): string {
  const count = errors.length === 1 ? '1 error occurred:' : `${errors.length} errors occurred:`;
  return `${count}\n${errors.map((error) => `\t* ${error}\n`).join('')}\n`;
}

/** What Nomad holds against a job that it can read. */
export function faultsOf({ ID, TaskGroups }: JobDocument): string[] {
  return [
    ...(ID.includes(' ') ? ['Job ID contains a space'] : []),
    ...(ID.includes('\0') ? ['Job ID contains a null character'] : []),
    ...(TaskGroups.length === 0 ? ['Missing job task groups'] : []),
    ...TaskGroups.flatMap(groupFaults),
  ];
}

function groupFaults(group: TaskGroup): string[] {
  const faults = group.Tasks.flatMap((task) => taskFaults(task, group));
  const { MaxClientDisconnect, StopAfterClientDisconnect } = group;
  if (MaxClientDisconnect && StopAfterClientDisconnect) {
    faults.push('max_client_disconnect and stop_after_client_disconnect cannot both be set');
  }
  return faults.length > 0 ? [`Task group ${group.Name} validation failed: ${errorList(faults).trimEnd()}`] : [];
}

function taskFaults(task: TaskDocument, { EphemeralDisk }: TaskGroup): string[] {
  const { Name, Resources, LogConfig } = task;
  const faults: string[] = [];
  if (/[/\\]/.test(Name)) faults.push('Task name cannot include slashes');
  if (Resources.CPU < 1) faults.push(`minimum CPU value is 1; got ${Resources.CPU}`);
  if (Resources.MemoryMB < 10) faults.push(`minimum MemoryMB value is 10; got ${Resources.MemoryMB}`);
  const logMb = LogConfig.MaxFiles * LogConfig.MaxFileSizeMB;
  if (!LogConfig.Disabled && logMb >= EphemeralDisk.SizeMB) {
    faults.push(`log storage (${logMb} MB) must be less than requested disk capacity (${EphemeralDisk.SizeMB} MB)`);
  }
  return faults.length > 0 ? [`Task ${Name} validation failed: ${errorList(faults).trimEnd()}`] : [];
}

/** Where a body is not of the documents that the fake knows. */
export const whereUnknown = ({ issues }: z.ZodError): string =>
  issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
