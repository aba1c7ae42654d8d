import { createHmac } from 'node:crypto';

/**
 * The headers of one attempt (decisions 6). `secrets` holds the current one first, then those in their rotation overlap:
 * `X-Webhook-Signature` is keyed with the current secret's whole text, `webhook-signature` carries one signature per
 * secret, keyed with its decoded bytes.
 */
export function signedHeaders(input: { id: string; body: string; secrets: readonly string[]; unixSeconds: number }): Record<string, string> {
  const [current] = input.secrets;
  if (current === undefined) throw new Error('the gateway has no webhook secret');
  const content = `${input.id}.${input.unixSeconds}.${input.body}`;
  return {
    'content-type': 'application/json',
    'user-agent': 'Sluice-Webhook/1.0',
    'x-webhook-signature': createHmac('sha256', current).update(input.body).digest('hex'),
    'webhook-id': input.id,
    'webhook-timestamp': String(input.unixSeconds),
    'webhook-signature': input.secrets.map((secret) => `v1,${createHmac('sha256', standardKey(secret)).update(content).digest('base64')}`).join(' '),
  };
}

function standardKey(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
}
