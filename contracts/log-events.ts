import { z } from 'zod';
import { Outcome } from './run.js';

export const LogStream = z.enum(['stdout', 'stderr']);
export type LogStream = z.infer<typeof LogStream>;

/** Where a reader of a run's log is: which attempt, and how many bytes of each stream are behind it. */
export interface LogPosition {
  attempt: number;
  stdout: number;
  stderr: number;
}

/** A place in a log, as a cluster finds it again that throws the beginning of a log away. */
export interface LogMark {
  /** Offset in what the job wrote. */
  at: number;
  /** For the backend that made it. */
  mark: string;
}

const POSITION = /^(\d{1,9})\.(\d{1,15})\.(\d{1,15})$/;

/** `<attempt>.<stdout offset>.<stderr offset>`: the id of every event of a followed log. */
export const LogPositionId = z.string().regex(POSITION, 'is not an id of an event: `<attempt>.<stdout>.<stderr>`');

export const logPositionId = ({ attempt, stdout, stderr }: LogPosition): string => `${attempt}.${stdout}.${stderr}`;

export function logPosition(id: string): LogPosition {
  const [attempt = 0, stdout = 0, stderr = 0] = id.split('.').map(Number);
  return { attempt, stdout, stderr };
}

/** `event: attempt`: what follows is of this attempt. */
export const AttemptEvent = z.strictObject({ attempt: z.int() });
export type AttemptEvent = z.infer<typeof AttemptEvent>;

/** `event: log`: what a stream holds from offset `at` on, in base64, since a job prints any bytes. */
export const PieceEvent = z.strictObject({ attempt: z.int(), stream: LogStream, at: z.int(), base64: z.string() });
export type PieceEvent = z.infer<typeof PieceEvent>;

/** `event: cut`: so many bytes from offset `at` on were printed and not kept. */
export const CutEvent = z.strictObject({ attempt: z.int(), stream: LogStream, at: z.int(), bytes: z.int() });
export type CutEvent = z.infer<typeof CutEvent>;

/** `event: end`: the run is settled, and everything that is kept was sent. */
export const EndEvent = z.strictObject({ outcome: Outcome });
export type EndEvent = z.infer<typeof EndEvent>;
