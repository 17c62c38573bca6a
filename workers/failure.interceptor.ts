import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { ActivityExecuteInput, ActivityInboundCallsInterceptor, Next } from '@temporalio/worker';
import { ERROR_CODES, PlatformError } from '../contracts/errors.js';

const MESSAGE_LIMIT = 500;

/** Turns what an activity throws into what its history may show: a code, a short message, and whether to try again. */
export class FailureInterceptor implements ActivityInboundCallsInterceptor {
  async execute(input: ActivityExecuteInput, next: Next<ActivityInboundCallsInterceptor, 'execute'>): Promise<unknown> {
    try {
      return await next(input);
    } catch (error) {
      throw toFailure(error);
    }
  }
}

/** Causes, details and stacks stay behind: they may hold what no history should. */
export function toFailure(error: unknown): unknown {
  if (error instanceof TemporalFailure || !(error instanceof Error)) return error;
  // How the SDK tells that a cancelled or a resumed activity ended.
  if (error.name === 'AbortError' || error.name === 'CompleteAsyncError') return error;
  const isOurs = error instanceof PlatformError;
  const failure = ApplicationFailure.create({
    type: isOurs ? error.code : error.name,
    message: shortened(error.message),
    nonRetryable: isOurs && !ERROR_CODES[error.code].isRetryable,
  });
  failure.stack = '';
  return failure;
}

const shortened = (message: string): string => message.replace(/\p{Cc}+/gu, ' ').slice(0, MESSAGE_LIMIT);
