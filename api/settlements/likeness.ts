import { createHash } from 'node:crypto';
import { formatAmount, isMoney, parseTrusted } from '#shared/core/money.ts';

/**
 * Hash of what a cashout request asks for, whatever its exact bytes. Pure.
 * When a cashout's request was lost with its row, this hash takes the place of the request's own under the Idempotency-Key, so that the merchant's
 * repeat is recognised (decision 0032).
 */
export function cashoutLikeness({ assetId, amount, address }: { assetId: string; amount: string; address: string }): Buffer {
  const said = ['a cashout whose request was lost', assetId.toLowerCase(), formatAmount(parseTrusted(amount)), address.toLowerCase()];
  return createHash('sha256').update(said.join('\n')).digest();
}

/** The likeness of a request body; undefined when the body does not ask for a cashout. Pure. */
export function likenessOf(rawBody: Uint8Array): Buffer | undefined {
  try {
    const { assetId, amount, address } = JSON.parse(Buffer.from(rawBody).toString('utf8')) as Record<string, unknown>;
    const asks = typeof assetId === 'string' && typeof address === 'string' && typeof amount === 'string' && isMoney(amount);
    return asks ? cashoutLikeness({ assetId, amount, address }) : undefined;
  } catch {
    // A body that is not JSON asks for no cashout, and is refused as always.
    return undefined;
  }
}
