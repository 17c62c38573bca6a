import { oneLine } from '../cluster-text.js';
import type { JobAllocation, TaskEvent, TaskState } from './nomad.replies.js';

/** How a time is told that never came, where it is told at all. */
const NEVER = /^(0001-|$)/;

export const isOn = ({ NodeName, NodeID }: JobAllocation): string => {
  const name = oneLine(NodeName || NodeID);
  return name === '' ? 'its node' : `node ${name}`;
};

export const tasksOf = ({ TaskStates }: JobAllocation): TaskState[] => Object.values(TaskStates);

export const eventsOf = (allocation: JobAllocation): TaskEvent[] => tasksOf(allocation).flatMap(({ Events }) => Events);

export const lastOf = (allocation: JobAllocation, ...types: string[]): TaskEvent | undefined =>
  eventsOf(allocation).findLast(({ Type }) => types.includes(Type));

/** All that an event says. The details come as text, and what is told to people may be left out. */
export function textOf({ Details, DriverError, Message, DisplayMessage }: TaskEvent): string {
  const { driver_error, validation_error, setup_error, exit_message, ...rest } = Details;
  const texts = [DriverError, driver_error, validation_error, setup_error, exit_message, DisplayMessage, Message];
  const said = [...texts, ...Object.values(rest)].filter((text): text is string => typeof text === 'string');
  return said.find((text) => text.trim() !== '') ?? '';
}

const RAN: ReadonlySet<string> = new Set(['Started', 'Terminated']);

/** Whether its task ever ran. One that waits to be started again is pending, and did. */
export const hasStarted = (allocation: JobAllocation): boolean =>
  tasksOf(allocation).some(
    ({ StartedAt, State, Events }) =>
      !NEVER.test(StartedAt) || State === 'running' || Events.some(({ Type }) => RAN.has(Type)),
  );

export const restartsOf = (allocation: JobAllocation): number =>
  tasksOf(allocation).reduce((sum, { Restarts }) => sum + Restarts, 0);

export interface TaskExit {
  /** Absent: it was not told. */
  code?: number;
  signal?: number;
  message: string;
}

/** How its process ended last, as far as that is among the events that are kept. */
export function lastExit(allocation: JobAllocation): TaskExit | undefined {
  const event = lastOf(allocation, 'Terminated');
  if (!event) return undefined;
  const { exit_code = event.ExitCode, signal = event.Signal, exit_message } = event.Details;
  const message = typeof exit_message === 'string' ? exit_message : event.Message;
  const code = wholeNumber(exit_code);
  const number = wholeNumber(signal);
  return { ...(code !== undefined && { code }), ...(number && { signal: number }), message };
}

const OOM = /\bOOM\b|OOM.?killed|out of memory/i;
/** Events whose words are Nomad's: others repeat what an image, a variable or a file is called. */
const TELLS_OOM: ReadonlySet<string> = new Set(['Terminated', 'Killing', 'Killed', 'Not Restarting', 'OOM Killed']);

/** Whether memory ran out by the word of the driver. */
export const isOutOfMemory = (allocation: JobAllocation): boolean =>
  eventsOf(allocation).some(({ Type, Details: { oom_killed, exit_message }, Message, DisplayMessage }) => {
    if (oom_killed === 'true' || oom_killed === true) return true;
    return TELLS_OOM.has(Type) && [exit_message, Message, DisplayMessage].some((text) => OOM.test(String(text)));
  });

function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) ? number : undefined;
}

/** `exit code 137, signal 9`. */
export function exitText(exit: TaskExit | undefined): string {
  if (exit?.code === undefined) return 'its exit code is not known';
  return `exit code ${exit.code}${exit.signal === undefined ? '' : `, signal ${exit.signal}`}`;
}
