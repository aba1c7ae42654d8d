import { randomUUID } from 'node:crypto';
import { cashoutSignature } from '#ops/client/sign.ts';

export interface Answer {
  status: number;
  headers: Headers;
  /** The body as sent. */
  text: string;
  success: boolean;
  // The envelope's `data`, untyped: callers read the fields they assert on.
  data: Record<string, unknown>;
  error: { code: string; message: string };
}

export interface CallOptions {
  body?: unknown;
  /** Sent as it is instead of `body`. */
  rawBody?: string;
  headers?: Record<string, string>;
}

/** One HTTP call to a Sluice API; every answer is the envelope, whatever its status. */
export async function call(url: string, method: string, options: CallOptions = {}): Promise<Answer> {
  const text = options.rawBody ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const response = await fetch(url, {
    method,
    headers: { ...(text === undefined ? {} : { 'content-type': 'application/json' }), ...options.headers },
    ...(text === undefined ? {} : { body: text }),
    signal: AbortSignal.timeout(30_000),
  });
  const body = await response.text();
  const envelope = JSON.parse(body) as Pick<Answer, 'success' | 'data' | 'error'>;
  return { status: response.status, headers: response.headers, text: body, success: envelope.success, data: envelope.data, error: envelope.error };
}

/** The same, failing loudly on anything but 2xx; for setting a scene. */
export async function must(url: string, method: string, options: CallOptions = {}): Promise<Record<string, unknown>> {
  const answer = await call(url, method, options);
  if (!answer.success) throw new Error(`${method} ${new URL(url).pathname}: ${answer.status} ${answer.error.code}: ${answer.error.message}`);
  return answer.data;
}

export interface GatewayCredentials {
  id: string;
  apiKey: string;
  cashoutSigningSecret: string;
  webhookSecret: string;
}

export interface Merchant {
  gateway: GatewayCredentials;
  /** A call with the API key. `path` is relative to the base URL. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  must(method: string, path: string, options?: CallOptions): Promise<Record<string, unknown>>;
  /** A call with the cashout signing headers of contract 4.3. */
  signed(method: string, path: string, options?: CallOptions & { idempotencyKey?: string; timestamp?: number }): Promise<Answer>;
}

/** What a merchant's server does: API key on everything, HMAC on cashouts. */
export function merchant(baseUrl: string, gateway: GatewayCredentials): Merchant {
  const withKey = (options: CallOptions = {}): CallOptions => ({ ...options, headers: { 'x-api-key': gateway.apiKey, ...options.headers } });
  return {
    gateway,
    call: (method, path, options) => call(`${baseUrl}${path}`, method, withKey(options)),
    must: (method, path, options) => must(`${baseUrl}${path}`, method, withKey(options)),
    signed(method, path, options = {}) {
      const timestamp = String(options.timestamp ?? Math.floor(Date.now() / 1000));
      const rawBody = options.rawBody ?? (options.body === undefined ? '' : JSON.stringify(options.body));
      const headers = {
        'x-timestamp': timestamp,
        'x-signature': cashoutSignature(gateway.cashoutSigningSecret, timestamp, rawBody),
        ...(options.idempotencyKey === undefined ? {} : { 'idempotency-key': options.idempotencyKey }),
        ...options.headers,
      };
      return call(`${baseUrl}${path}`, method, withKey({ headers, ...(rawBody === '' ? {} : { rawBody }) }));
    },
  };
}

export interface Operator {
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  must(method: string, path: string, options?: CallOptions): Promise<Record<string, unknown>>;
}

/** The operator API with its bearer token; `url` ends in /operator/v1. `name` is kept with every change, as who made it. */
export function operator(url: string, token: string, name?: string): Operator {
  const own = { authorization: `Bearer ${token}`, ...(name !== undefined && { 'x-operator': name }) };
  const withToken = (options: CallOptions = {}): CallOptions => ({ ...options, headers: { ...own, ...options.headers } });
  return {
    call: (method, path, options) => call(`${url}${path}`, method, withToken(options)),
    must: (method, path, options) => must(`${url}${path}`, method, withToken(options)),
  };
}

/** A fresh Idempotency-Key. */
export function newKey(): string {
  return randomUUID();
}
