import { nanoseconds, type TaskEvent, type TaskState } from './fake-state.js';

/** Older ones are dropped. */
const MOST_EVENTS = 10;

type Parts = Partial<Omit<TaskEvent, 'Type' | 'Time' | 'DisplayMessage'>>;

export function addEvent({ Events }: TaskState, Type: string, DisplayMessage: string, parts: Parts = {}): void {
  Events.push({
    ...{ Type, Time: nanoseconds(), DisplayMessage, Message: '', Details: {}, ExitCode: 0, Signal: 0 },
    ...{ FailsTask: false, DriverError: '', RestartReason: '' },
    ...parts,
  });
  if (Events.length > MOST_EVENTS) Events.shift();
}

export interface TaskEnd {
  code: number;
  signal: number;
  isOom?: boolean;
  message?: string;
}

export function addTerminated(state: TaskState, { code, signal, isOom = false, message }: TaskEnd): void {
  const display = [
    `Exit Code: ${code}`,
    ...(signal > 0 ? [`Signal: ${signal}`] : []),
    ...(message === undefined ? [] : [`Exit Message: ${JSON.stringify(message)}`]),
  ].join(', ');
  addEvent(state, 'Terminated', display, {
    Message: message ?? '',
    Details: {
      ...{ exit_code: String(code), signal: String(signal), oom_killed: String(isOom) },
      ...(message !== undefined && { exit_message: message }),
    },
    ...{ ExitCode: code, Signal: signal },
  });
}
