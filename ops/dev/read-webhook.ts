import { createHmac } from 'node:crypto';
import { same, standardSignature } from '#ops/client/webhooks.ts';

/** A webhook as it arrived. */
export interface Arrived {
  headers: Record<string, string | string[] | undefined>;
  /** Byte for byte. */
  body: string;
}

/** Whether both signatures of a webhook were made with this secret: the one over the body, and the Standard Webhooks one (decisions 6). */
export function isSigned({ headers, body }: Arrived, secret: string): boolean {
  const text = (name: string): string => String(headers[name] ?? '');
  const own = createHmac('sha256', secret).update(body).digest('hex');
  const standard = standardSignature(secret, { id: text('webhook-id'), timestamp: text('webhook-timestamp'), body });
  return (
    same(text('x-webhook-signature'), own) &&
    text('webhook-signature')
      .split(' ')
      .some((one) => same(one, standard))
  );
}

/** `SUCCESS 7d9f2c1e-…`, or the beginning of what is not a webhook. */
export function whatItSays({ body }: Arrived): string {
  try {
    const { paymentId, status } = JSON.parse(body) as { paymentId: string; status: string };
    return `${status} ${paymentId}`;
  } catch {
    return `not JSON: ${body.slice(0, 80)}`;
  }
}
