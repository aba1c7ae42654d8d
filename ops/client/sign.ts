import { createHmac } from 'node:crypto';

/**
 * The two headers that prove a cashout request comes from whoever holds the cashout signing secret (contract 4.3): hex
 * HMAC-SHA256 over `timestamp.body`, the body being the exact bytes that are sent, or nothing for requests without one.
 * `atMs` is Unix milliseconds.
 */
export function signedHeaders(secret: string, body: string, atMs: number): { 'x-timestamp': string; 'x-signature': string } {
  const timestamp = String(Math.floor(atMs / 1_000));
  return { 'x-timestamp': timestamp, 'x-signature': cashoutSignature(secret, timestamp, body) };
}

/** Hex HMAC-SHA256 over `timestamp.body` (contract 4.3). */
export function cashoutSignature(secret: string, timestamp: string, body: string): string {
  return createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
}
