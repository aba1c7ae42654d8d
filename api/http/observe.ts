import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import type { Deps } from '#api/deps.ts';
import { noteRequest } from '#api/gateways/requests.ts';
import type { AnsweredRequest } from '#api/store/requests.ts';
import type { ErrorCode, ServiceError } from '#shared/core/errors.ts';
import { isPassing, toldOf } from '#shared/platform/database-problems.ts';
import { CONTRACT_REVISION, sendError, toServiceError } from './envelope.ts';

/** Which check refused the credentials, for the metric. */
const AUTH_FAILURES: Partial<Record<ErrorCode, string>> = {
  auth_api_key_invalid: 'key',
  operator_token_invalid: 'operator',
  signature_missing: 'signature',
  signature_invalid: 'signature',
  signature_stale: 'stale',
  ip_not_allowed: 'ip',
};

/** Status that a request is logged and counted under when its caller was gone before an answer began, as web servers commonly do. */
export const HUNG_UP = 499;

/** What is noted about a request while it is answered, on `response.locals`. */
interface Notes {
  requestId: string;
  /** Path template of the operation, or `other`. */
  route: string;
  /** Its trace, where traces are kept. */
  traceId?: string;
  /** Slug, when it was answered with an error. */
  code?: ErrorCode;
  /** What became of its Idempotency-Key, when it had one. */
  idempotency?: 'new' | 'replay';
}

/** Whose request it is, and for what; beside the notes, because the log has none of it. */
type Calling = Pick<AnsweredRequest, 'gatewayId' | 'keyId' | 'operation' | 'address'>;

const callers = new WeakMap<Response, Calling>();

/** Notes with which key a request came, once that key was found genuine. */
export function noteCaller(response: Response, caller: Calling): void {
  callers.set(response, caller);
}

/** Where the layers of one request note what they learn about it. */
export function notesOf(response: Response): Notes {
  return response.locals as Notes;
}

/**
 * Headers of every answer: its id and the contract's revision (decisions 8), and for a browser that ends up here that it
 * is data: no type to guess, no page to frame, no script to run. Pages that are meant to be seen loosen it themselves.
 */
export function commonHeaders(requestId: string): Record<string, string> {
  return {
    'X-Request-Id': requestId,
    'X-Contract-Revision': CONTRACT_REVISION,
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
  };
}

/** Gives the request its id, and logs and counts it once it is answered; never its body, query or headers (operability 6). */
export function observe(deps: Deps) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const started = process.hrtime.bigint();
    const notes = Object.assign(notesOf(response), { requestId: randomUUID(), route: 'other' });
    for (const [name, value] of Object.entries(commonHeaders(notes.requestId))) response.setHeader(name, value);
    deps.metrics?.httpInFlight.inc();
    response.once('close', () => {
      const seconds = Number(process.hrtime.bigint() - started) / 1e9;
      const status = response.headersSent ? response.statusCode : HUNG_UP;
      deps.metrics?.httpInFlight.dec();
      countAnswer(deps, notes, { method: request.method, status, seconds });
      const caller = callers.get(response);
      if (caller !== undefined) {
        const durationMs = Math.round(seconds * 1_000);
        const at = new Date(deps.wallClock() - durationMs);
        noteRequest(deps, { ...caller, at, requestId: notes.requestId, method: request.method, status, code: notes.code ?? null, durationMs });
      }
      const aborted = !response.writableFinished || undefined;
      deps.log.info({ ...notes, method: request.method, status, seconds, aborted }, 'request');
    });
    next();
  };
}

/** Counts one answer, under its route and what it was. */
export function countAnswer(
  { metrics }: Pick<Deps, 'metrics'>,
  { route, code, idempotency }: Notes,
  answered: { method: string; status: number; seconds: number },
): void {
  if (metrics === undefined) return;
  metrics.httpDuration.observe({ method: answered.method, route, status: answered.status }, answered.seconds);
  if (code !== undefined) metrics.apiErrors.inc({ route, code });
  if (code === 'rate_limit_exceeded') metrics.rateLimited.inc({ route });
  const reason = code === undefined ? undefined : AUTH_FAILURES[code];
  if (reason !== undefined) metrics.authFailures.inc({ reason });
  const result = code === 'idempotency_conflict' ? 'conflict' : idempotency;
  if (result !== undefined) metrics.idempotency.inc({ endpoint: route, result });
}

/** Turns whatever was thrown into the envelope; what nobody expected is logged with its cause and shown as internal_error. */
export function answerErrors(deps: Deps) {
  return (thrown: unknown, _request: Request, response: Response, _next: NextFunction): void => {
    const error = noteFailure(deps, response, thrown);
    if (response.headersSent) response.destroy();
    else sendError(response, error);
  };
}

/** Notes what a request failed with, logs what nobody expected with its cause, and says what a client may know of it. */
export function noteFailure(deps: Pick<Deps, 'log'>, response: Response, thrown: unknown): ServiceError {
  const error = toServiceError(thrown);
  const notes = notesOf(response);
  notes.code = error.code;
  if (isPassing(error.cause)) deps.log.warn({ requestId: notes.requestId, route: notes.route, ...toldOf(error.cause) }, error.code);
  else if (error.cause !== undefined) deps.log.error({ requestId: notes.requestId, route: notes.route, error: error.cause }, error.code);
  return error;
}
