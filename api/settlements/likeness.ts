import { createHash } from 'node:crypto';
import { formatAmount, isMoney, parseTrusted } from '#shared/core/money.ts';

/**
 * What a request for a cashout comes to, whatever its bytes: stands for them under the Idempotency-Key of a cashout whose request was lost
 * with its row, so that its merchant's repeat is known by what it asks for (decision 0032). Pure.
 */
export function cashoutLikeness({ assetId, amount, address }: { assetId: string; amount: string; address: string }): Buffer {
  const said = ['a cashout whose request was lost', assetId.toLowerCase(), formatAmount(parseTrusted(amount)), address.toLowerCase()];
  return createHash('sha256').update(said.join('\n')).digest();
}

/** The same of a request as it came; undefined when it asks for no cashout. Pure. */
export function likenessOf(rawBody: Uint8Array): Buffer | undefined {
  try {
    const { assetId, amount, address } = JSON.parse(Buffer.from(rawBody).toString('utf8')) as Record<string, unknown>;
    const asks = typeof assetId === 'string' && typeof address === 'string' && typeof amount === 'string' && isMoney(amount);
    return asks ? cashoutLikeness({ assetId, amount, address }) : undefined;
  } catch {
    // What is no JSON is no cashout; the body is refused as it always is.
    return undefined;
  }
}
