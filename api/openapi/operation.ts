import { SetMetadata } from '@nestjs/common';
import type { z } from 'zod';
import type { ErrorCode } from '../../contracts/errors.js';

export const OPERATION = 'everdict:operation';

/** What `/openapi.json` says of a route beyond what its decorators already say. */
export interface OperationInfo {
  summary: string;
  description?: string;
  /** Status and shape of success; without a schema the answer is no JSON, and `type` names what it is, or `orType`. */
  answer: { status: number; schema?: z.ZodType; type?: string; orType?: string; example?: unknown };
  /** Codes it refuses with, beyond those that every route has. */
  refuses?: readonly ErrorCode[];
  bodyExample?: unknown;
  /** Media types of a body besides JSON. */
  bodyTypes?: readonly string[];
  /** Headers it reads. */
  headers?: Readonly<Record<string, string>>;
  /** A GET that acts on something, so that the audit trail has it as it has every other method. */
  isAudited?: boolean;
  /** Body and query, where the handler parses them itself. */
  body?: z.ZodType;
  query?: z.ZodType;
}

/** What every submit may be refused with. */
export const SUBMIT_REFUSALS = [
  'BAD_SPEC',
  'CAPABILITY_MISSING',
  'CONFLICT',
  'DEMAND_EXCEEDS_ENVELOPE',
  'HARNESS_NOT_BUILT',
  'NO_RUNTIME_FITS',
  'NOT_FOUND',
  'PAYLOAD_TOO_LARGE',
  'QUEUE_FULL',
  'RUNTIME_DRAINING',
  'RUNTIME_REQUIRED',
  'SECRET_MISSING',
] as const satisfies readonly ErrorCode[];

export const Operation = (info: OperationInfo): MethodDecorator => SetMetadata(OPERATION, info);
