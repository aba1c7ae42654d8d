/**
 * Every error code a client may see, with the HTTP status it travels on and the sentence used when none is given.
 * Codes are stable: clients branch on them (contract 7, decisions 8).
 */
export const ERRORS = {
  auth_api_key_invalid: { status: 401, message: 'The API key is missing, unknown, or its gateway is not verified.' },
  signature_missing: { status: 401, message: 'X-Timestamp and X-Signature are both required.' },
  signature_stale: { status: 401, message: 'X-Timestamp must be a whole number of seconds within 300 seconds of the server clock.' },
  signature_invalid: { status: 401, message: 'X-Signature does not match the timestamp and the raw body.' },
  operator_token_invalid: { status: 401, message: 'The operator token is missing or wrong.' },
  totp_required: { status: 401, message: 'A valid authenticator code is required.' },
  forbidden: { status: 403, message: 'This call is not permitted.' },
  cashout_not_enabled: { status: 403, message: 'The cashout API is not enabled for this gateway.' },
  ip_not_allowed: { status: 403, message: 'The source address is not on the cashout allowlist.' },
  totp_not_enrolled: { status: 403, message: 'No authenticator is enrolled on this account.' },
  not_found: { status: 404, message: 'Not found.' },
  method_not_allowed: { status: 405, message: 'This path does not accept that method.' },
  malformed_json: { status: 400, message: 'The body is not valid JSON.' },
  conflict: { status: 409, message: 'The resource is not in a state that allows this.' },
  idempotency_conflict: { status: 409, message: 'This Idempotency-Key was used with a different request.' },
  insufficient_balance: { status: 409, message: 'The amount is above the available balance.' },
  too_many_parked_cashouts: { status: 409, message: 'Too many cashouts are parked for this gateway.' },
  screening_required: { status: 409, message: 'The SMART route needs a screening verdict and none is available.' },
  payload_too_large: { status: 413, message: 'The body is larger than 65536 bytes.' },
  unsupported_media_type: { status: 415, message: 'Send the body as application/json.' },
  validation_error: { status: 422, message: 'The request is not valid.' },
  below_minimum_settlement: { status: 422, message: 'The amount is below the settlement minimum.' },
  amount_below_network_fee: { status: 422, message: 'The amount does not cover its own network fee.' },
  upgrade_required: { status: 426, message: 'Open this path as a WebSocket (RFC 6455, version 13).' },
  rate_limit_exceeded: { status: 429, message: 'Too many requests; retry after the time in Retry-After.' },
  internal_error: { status: 500, message: 'Something went wrong on our side.' },
  not_implemented: { status: 501, message: 'This operation is not available yet.' },
  fee_estimation_unavailable: { status: 503, message: 'The network fee cannot be quoted right now; retry shortly.' },
  service_unavailable: { status: 503, message: 'The service is momentarily unavailable; retry shortly.' },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorDetails {
  /** Sentence for the client; the code's own sentence when absent. Never holds a secret. */
  message?: string;
  /** Name of the request field at fault; it is also part of the message. */
  field?: string;
  /** Whole seconds for `Retry-After`. */
  retryAfterSeconds?: number;
  /** What only the log may see. */
  cause?: unknown;
  /** Set when it was a rule of the gateway's own that refused the request, whose people may see that it did. */
  refusal?: Refusal;
}

/** The rules by which a gateway refuses requests that name its key or its payment. */
export const REFUSAL_REASONS = ['KEY_ALLOWLIST', 'API_ALLOWLIST', 'CASHOUT_ALLOWLIST', 'PERMISSION', 'SIGNATURE'] as const;

/** Which gateway's rule refused a request, and which rule it was. */
export interface Refusal {
  gatewayId: string;
  reason: (typeof REFUSAL_REASONS)[number];
}

/** An expected failure with a stable code; the only error a client is ever shown (contract 7). */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly field: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly refusal: Refusal | undefined;

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    super(details.message ?? ERRORS[code].message, { cause: details.cause });
    this.name = 'ServiceError';
    this.code = code;
    this.status = ERRORS[code].status;
    this.field = details.field;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.refusal = details.refusal;
  }
}

/** A 422 that names the field at fault: `amount: must be greater than 0`. */
export function invalid(field: string, problem: string): ServiceError {
  return new ServiceError('validation_error', { field, message: `${field}: ${problem}` });
}

/** A state the code promises cannot happen; answered 500 and alerted on, never shown. */
export class Invariant extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Invariant';
  }
}
