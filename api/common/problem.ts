import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import { z } from 'zod';
import { ERROR_CODES, type ErrorCode, type FieldError, PlatformError } from '../../contracts/errors.js';

/** The body of every answer that is not a success, `application/problem+json` (RFC 9457). */
export const Problem = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  /** A stable name to branch on. */
  code: z.string(),
  detail: z.string(),
  /** Faults of the input by place; empty where no place is at fault. */
  errors: z.array(z.strictObject({ path: z.string(), message: z.string() })),
  requestId: z.string(),
});
export type Problem = z.infer<typeof Problem>;

export const PROBLEM_TYPE = 'application/problem+json';

interface Fault {
  status: number;
  code: ErrorCode;
  detail: string;
  errors: readonly FieldError[];
}

/** What a client is told of an error: never a stack, and nothing of an error that is not ours. */
export function toProblem(error: unknown, requestId: string): Problem {
  const { status, code, detail, errors } = faultOf(error, requestId);
  return {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    code,
    detail,
    errors: errors.map(({ path, message }) => ({ path, message })),
    requestId,
  };
}

function faultOf(error: unknown, requestId: string): Fault {
  if (error instanceof PlatformError) {
    const { status } = ERROR_CODES[error.code];
    return { status, code: error.code, detail: error.message, errors: error.details.errors ?? [] };
  }
  const status = clientFaultStatus(error);
  if (status !== undefined && error instanceof Error) {
    return { status, code: codeOfStatus(status), detail: error.message, errors: [] };
  }
  const detail = `the platform failed; its log says why under request ${requestId}`;
  return { status: 500, code: 'INTERNAL', detail, errors: [] };
}

/** The status of an error that the framework blames on the request. */
function clientFaultStatus(error: unknown): number | undefined {
  const status = error instanceof HttpException ? error.getStatus() : numberField(error, 'statusCode');
  return status !== undefined && status >= 400 && status < 500 ? status : undefined;
}

function codeOfStatus(status: number): ErrorCode {
  if (status === 401) return 'UNAUTHENTICATED';
  if (status === 403) return 'FORBIDDEN';
  if (status === 404) return 'NOT_FOUND';
  if (status === 413) return 'BODY_TOO_LARGE';
  if (status === 415) return 'UNSUPPORTED_MEDIA_TYPE';
  return 'BAD_REQUEST';
}

function numberField(value: unknown, key: string): number | undefined {
  if (typeof value !== 'object' || value === null || !(key in value)) return undefined;
  const field: unknown = Reflect.get(value, key);
  return typeof field === 'number' ? field : undefined;
}
