import type { Chain } from '#api/deps.ts';
import type { StoredPayout } from '#api/store/payouts.ts';
import { spendsOutputs } from '#api/payouts/rules/families.ts';
import { nameOf, spendingOf } from '#api/payouts/rules/spending.ts';
import type { DecodedTransfer } from '#shared/chains/chain.ts';
import type { JournalEntry } from '../journal-entry.ts';

/**
 * The order that a payout pays, which is paid at most once: its settlement, refund or withheld transfer. A payout that moves coins between our own
 * addresses is an order of its own.
 */
export function orderOf({
  id,
  purpose,
  settlementId,
  refundId,
  withheldId,
}: Pick<StoredPayout, 'id' | 'purpose' | 'settlementId' | 'refundId' | 'withheldId'>): string {
  if (purpose === 'settlement' && settlementId !== null) return `settlement:${settlementId}`;
  if (purpose === 'refund' && refundId !== null) return `refund:${refundId}`;
  if (purpose === 'withheld' && withheldId !== null) return `withheld:${withheldId}`;
  return `payout:${id}`;
}

type Known = Pick<JournalEntry, 'kind' | 'rawFee' | 'leaves' | 'expiresAtMs' | 'signedAtMs'>;

/**
 * Describes a signature as the journal stores it, from the decoded bytes and the order they pay.
 * @throws Invariant when the outputs that it spends cannot be read
 */
export function describeEntry(
  chain: Pick<Chain, 'config'>,
  { id, order }: { id: string; order: string },
  decoded: DecodedTransfer,
  known: Known,
): JournalEntry {
  const { sender, recipient, contract, rawAmount, txid, nonce, fields } = decoded;
  const inputs = spendsOutputs(chain.config.family) ? spendingOf(chain, fields).inputs.map(nameOf) : [];
  const [anchor] = inputs;
  const slot = anchor !== undefined ? `output:${anchor}` : nonce !== null ? `nonce:${sender}:${nonce}` : `txid:${txid}`;
  return { order, payout: id, network: chain.config.name, slot, txid, sender, recipient, contract, rawAmount, inputs, ...known };
}
