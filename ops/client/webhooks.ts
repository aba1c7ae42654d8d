import { createHmac, timingSafeEqual } from 'node:crypto';
import type { components } from '#api/contract/types.ts';

/** What a payment webhook says; read the money from verify, never from here. */
export interface WebhookEvent {
  paymentId: string;
  status: components['schemas']['PaymentStatus'];
  /** Only in a test that was asked for: the payment does not exist. */
  test?: true;
}

/** A webhook as it arrived at the merchant's server. */
export interface ArrivedWebhook {
  /** Byte for byte, before any JSON parser has seen it. */
  body: string | Uint8Array;
  /** Node's `request.headers`, a `Headers` object, or a plain object; names in any case. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface WebhookOptions {
  /** How old or early an attempt may be; 300 when absent. */
  toleranceSeconds?: number;
  /** Unix milliseconds. */
  now?: () => number;
}

const TOLERANCE_SECONDS = 300;

/** A webhook that Sluice did not send, or not to you, or not now. Answer it 400 and do nothing else. */
export class WebhookRefused extends Error {
  override name = 'WebhookRefused';
}

/**
 * Checks that a webhook comes from Sluice and answers what it says (contract 6, Standard Webhooks).
 * `secret` is the gateway's webhook secret, `whsec_` included. While a secret is being replaced both are accepted: the
 * signature that carries the time of the attempt is made with each of them.
 * @throws WebhookRefused saying which header is missing or wrong
 */
export function readWebhook({ body, headers }: ArrivedWebhook, secret: string, options: WebhookOptions = {}): WebhookEvent {
  const { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now } = options;
  const bytes = Buffer.from(body as string);
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => header(headers, name)) as [string, string, string];
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now() / 1_000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookRefused(`webhook-timestamp is more than ${toleranceSeconds} s away from this clock`);
  const expected = standardSignature(secret, { id, timestamp, body: bytes });
  if (!signatures.split(' ').some((one) => same(one, expected))) throw new WebhookRefused('webhook-signature was not made with this secret');
  return JSON.parse(bytes.toString('utf8')) as WebhookEvent;
}

/** The signature of Standard Webhooks, whose key are the bytes that stand behind `whsec_` in base64. */
export function standardSignature(secret: string, { id, timestamp, body }: { id: string; timestamp: string; body: string | Uint8Array }): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

function header(headers: ArrivedWebhook['headers'], name: string): string {
  const found = headers instanceof Headers ? headers.get(name) : Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  if (typeof found !== 'string' || found === '') throw new WebhookRefused(`${name} is missing or was sent twice`);
  return found;
}

/** Compares two texts in a time that says nothing about where they differ. */
export function same(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
