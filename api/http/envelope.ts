import type { ServerResponse } from 'node:http';
import { ServiceError } from '#shared/core/errors.ts';
import { failureBody } from '#shared/core/reply-body.ts';
import { isPassing } from '#shared/platform/database-problems.ts';

/** Revision of the contract this service speaks, told on every response (decisions 8). */
export const CONTRACT_REVISION = '2.2.0';

/** Writes one JSON response; the only place where an API response is built. */
export function send(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    ...headers,
  });
  response.end(body);
}

/** Writes an error in the envelope. */
export function sendError(response: ServerResponse, error: ServiceError): void {
  send(response, error.status, failureBody(error.code, error.message), errorHeaders(error));
}

/** When somebody is told to come back to whom nothing better can be said: what is away here is asked for again every few seconds. */
const COME_BACK_SECONDS = 5;

/** Headers that go with an error: when to come back, which every 503 says, and to what a connection must be upgraded. Pure. */
export function errorHeaders({ code, status, retryAfterSeconds = status === 503 ? COME_BACK_SECONDS : undefined }: ServiceError): Record<string, string> {
  return {
    ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
    ...(code === 'upgrade_required' && { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' }),
  };
}

/** Says what a client may know about any thrown value; whatever was not expected is internal_error and keeps its cause for the log. */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (isPassing(error)) return new ServiceError('service_unavailable', { cause: error, retryAfterSeconds: 1 });
  return new ServiceError('internal_error', { cause: error });
}
