/**
 * Every error code of the platform: the HTTP status it answers with, and whether repeating the same call can help.
 * The HTTP filter and the activity interceptor read this table; nobody else maps errors.
 */
export const ERROR_CODES = {
  ADDRESS_REFUSED: { status: 400, isRetryable: false },
  BAD_REQUEST: { status: 400, isRetryable: false },
  BAD_SPEC: { status: 400, isRetryable: false },
  CAPABILITY_MISSING: { status: 400, isRetryable: false },
  DEMAND_EXCEEDS_ENVELOPE: { status: 400, isRetryable: false },
  NO_CASES: { status: 400, isRetryable: false },
  NO_RUNTIME_FITS: { status: 400, isRetryable: false },
  PAYLOAD_TOO_LARGE: { status: 400, isRetryable: false },
  RUNTIME_REQUIRED: { status: 400, isRetryable: false },
  SECRET_MISSING: { status: 400, isRetryable: false },
  WORKSPACE_REQUIRED: { status: 400, isRetryable: false },
  UNAUTHENTICATED: { status: 401, isRetryable: false },
  FORBIDDEN: { status: 403, isRetryable: false },
  NOT_FOUND: { status: 404, isRetryable: false },
  UPLOAD_INCOMPLETE: { status: 408, isRetryable: true },
  CONFLICT: { status: 409, isRetryable: false },
  NAME_TAKEN: { status: 409, isRetryable: false },
  NOT_COMPARABLE: { status: 409, isRetryable: false },
  RUNTIME_DRAINING: { status: 409, isRetryable: true },
  BODY_TOO_LARGE: { status: 413, isRetryable: false },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, isRetryable: false },
  QUEUE_FULL: { status: 429, isRetryable: true },
  TOO_MANY_REQUESTS: { status: 429, isRetryable: true },
  INTERNAL: { status: 500, isRetryable: true },
  BACKEND_NOT_BUILT: { status: 501, isRetryable: false },
  HARNESS_NOT_BUILT: { status: 501, isRetryable: false },
  SECRETS_DISABLED: { status: 501, isRetryable: false },
  ADMISSION_UNREACHABLE: { status: 503, isRetryable: true },
  CLUSTER_AUTH: { status: 502, isRetryable: false },
  ISSUER_UNREACHABLE: { status: 503, isRetryable: true },
  NOT_READY: { status: 503, isRetryable: true },
  CLUSTER_UNREACHABLE: { status: 503, isRetryable: true },
  STORE_TIMEOUT: { status: 503, isRetryable: true },
  STORE_UNAVAILABLE: { status: 503, isRetryable: true },
  WRONG_HOST: { status: 503, isRetryable: true },
} as const satisfies Record<string, { status: number; isRetryable: boolean }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** One fault in an input: where it is (`cases[3].graders[0].pattern`, empty for the whole) and what is wrong. */
export interface FieldError {
  path: string;
  message: string;
}

export interface ErrorDetails {
  /** Faults of the input, one an entry, for answers that refuse it. */
  errors?: readonly FieldError[];
  /** When the same call may help. */
  retryAfterSec?: number;
  /** What a refusal of a caller says in `WWW-Authenticate`. */
  challenge?: Readonly<Record<string, string>>;
  [key: string]: unknown;
}

/** The one error class of the platform. The message names the thing and the value, and never holds a secret. */
export class PlatformError extends Error {
  override readonly name = 'PlatformError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: ErrorDetails = {},
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}
