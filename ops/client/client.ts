import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { components } from '#api/contract/types.ts';
import type { Calls } from './calls.ts';
import { type Operation, type OperationId, OPERATIONS } from './operations.ts';
import { signedHeaders } from './sign.ts';

export interface ClientOptions {
  /** Ends in /api/v1. */
  baseUrl: string;
  /** Absent for the public operations alone, which need none. */
  apiKey?: string;
  /** For the operations below /merchant/settlements. */
  cashoutSigningSecret?: string;
  /** How often a call is tried again that failed on the way, was answered 503, or came too often; 2 when absent. */
  retries?: number;
  /** Milliseconds until a try counts as failed; 30,000 when absent. */
  timeoutMs?: number;
  fetch?: typeof fetch;
  /** Unix milliseconds. */
  now?: () => number;
  wait?: (ms: number) => Promise<unknown>;
}

/** A refusal by the service: `code` says which (contract 7), `message` why, naming the field. */
export class SluiceError extends Error {
  override name = 'SluiceError';
  readonly status: number;
  readonly code: components['schemas']['ErrorCode'];
  /** Seconds after which the same call may succeed, where the service said so. */
  readonly retryAfterSeconds: number | undefined;
  /** What the service's logs call this request. */
  readonly requestId: string | undefined;
  constructor(
    status: number,
    error: { code: components['schemas']['ErrorCode']; message: string },
    response: { retryAfter: number | undefined; requestId: string | null },
  ) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.retryAfterSeconds = response.retryAfter;
    this.requestId = response.requestId ?? undefined;
  }
}

/** Something else than Sluice answered, such as a proxy; or nobody did. What became of the request is unknown. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
}

type Input = { body?: unknown; idempotencyKey?: string } & Record<string, unknown>;
type Outcome = { data: unknown } | { error: SluiceError | NoAnswer; again: boolean };

const RETRIES = 2;
const TIMEOUT_MS = 30_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** What is answered as it is, without an envelope: files, in the formats of the contract. */
const FILES = /^(text\/csv|application\/jsonl)\s*(;|$)/;
/** What stands between us and the service and could not reach it. */
const GATEWAY_TROUBLE = new Set([502, 504]);

/**
 * A merchant's connection to Sluice: one typed method per operation of the contract, which answers its `data`, or the text of a file.
 * Cashouts are signed; operations that take an Idempotency-Key always get one, a fresh one unless the call names its own,
 * so that a try whose answer was lost has one effect. What may be repeated without harm is tried again by itself, after
 * the time the service asks for. Give `idempotencyKey` yourself (the order's number, say) to be safe across a restart too.
 * Every method throws SluiceError when the service refuses, NoAnswer when it could not be reached.
 */
export function createClient(options: ClientOptions): Calls {
  const methods = Object.entries(OPERATIONS).map(([id, operation]) => [id, (input?: Input) => perform(options, id as OperationId, operation, input ?? {})]);
  return Object.fromEntries(methods) as Calls;
}

async function perform(options: ClientOptions, id: OperationId, operation: Operation, input: Input): Promise<unknown> {
  const { retries = RETRIES, wait = pause } = options;
  const send = prepare(options, id, operation, input);
  for (let tried = 0; ; tried++) {
    const outcome = await send();
    if ('data' in outcome) return outcome.data;
    const pauseMs = pauseBefore(tried, outcome.error);
    if (!outcome.again || !operation.repeatable || tried >= retries || pauseMs > LONGEST_PAUSE_MS) throw outcome.error;
    await wait(pauseMs);
  }
}

/** What is sent, once: tries differ in their time and signature alone. */
function prepare(options: ClientOptions, id: OperationId, operation: Operation, input: Input): () => Promise<Outcome> {
  const { body, idempotencyKey, ...fields } = input;
  const url = urlOf(options.baseUrl, id, operation, fields);
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers: Record<string, string> = {
    ...(text !== '' && { 'content-type': 'application/json' }),
    ...(operation.keyed && { 'idempotency-key': idempotencyKey ?? randomUUID() }),
  };
  if (operation.auth !== 'none') headers['x-api-key'] = needed(options.apiKey, id, 'apiKey');
  return () => {
    const signature =
      operation.auth === 'signed' ? signedHeaders(needed(options.cashoutSigningSecret, id, 'cashoutSigningSecret'), text, (options.now ?? Date.now)()) : {};
    return attempt(options, url, { method: operation.method, headers: { ...headers, ...signature }, ...(text !== '' && { body: text }) });
  };
}

async function attempt(options: ClientOptions, url: string, init: RequestInit): Promise<Outcome> {
  const { timeoutMs = TIMEOUT_MS } = options;
  let response: Response;
  let text: string;
  try {
    response = await (options.fetch ?? fetch)(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
    text = await response.text();
  } catch (error) {
    return { again: true, error: new NoAnswer(`${init.method} ${new URL(url).pathname}: ${(error as Error).message}`, { cause: error }) };
  }
  if (response.status === 200 && FILES.test(response.headers.get('content-type') ?? '')) return { data: text };
  const envelope = envelopeOf(text);
  if (envelope === undefined)
    return { again: GATEWAY_TROUBLE.has(response.status), error: new NoAnswer(`${init.method} ${new URL(url).pathname}: ${response.status}, and no envelope`) };
  if (envelope.success) return { data: envelope.data };
  const after = Number(response.headers.get('retry-after') ?? Number.NaN);
  const retryAfter = Number.isFinite(after) ? after : undefined;
  const error = new SluiceError(response.status, envelope.error, { retryAfter, requestId: response.headers.get('x-request-id') });
  return { again: response.status === 503 || response.status === 429, error };
}

type Envelope = { success: true; data: unknown } | { success: false; error: { code: components['schemas']['ErrorCode']; message: string } };

function envelopeOf(text: string): Envelope | undefined {
  try {
    const parsed = JSON.parse(text) as Envelope | null;
    return typeof parsed?.success === 'boolean' ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function urlOf(baseUrl: string, id: OperationId, operation: Operation, fields: Record<string, unknown>): string {
  const rest = { ...fields };
  const path = operation.path.replace(/\{(\w+)\}/g, (_all, name: string) => {
    const value = rest[name];
    delete rest[name];
    if (typeof value !== 'string' || value === '') throw new TypeError(`${id} needs ${name}`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams(Object.entries(rest).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])));
  return `${baseUrl.replace(/\/$/, '')}${path}${query.size > 0 ? `?${query}` : ''}`;
}

/** As long as the service asks for; else longer each time. */
function pauseBefore(tried: number, error: SluiceError | NoAnswer): number {
  const asked = error instanceof SluiceError ? error.retryAfterSeconds : undefined;
  return asked === undefined ? FIRST_PAUSE_MS * 2 ** tried : asked * 1_000;
}

function needed(value: string | undefined, id: OperationId, name: string): string {
  if (value === undefined) throw new TypeError(`${id} needs the option ${name} of createClient`);
  return value;
}
