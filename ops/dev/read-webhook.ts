import { createHmac, timingSafeEqual } from 'node:crypto';

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
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const standard = createHmac('sha256', key)
    .update(`${text('webhook-id')}.${text('webhook-timestamp')}.${body}`)
    .digest('base64');
  return (
    same(text('x-webhook-signature'), own) &&
    text('webhook-signature')
      .split(' ')
      .some((one) => same(one, `v1,${standard}`))
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

function same(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
