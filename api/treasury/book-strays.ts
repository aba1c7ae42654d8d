import { post } from '#api/ledger/post.ts';
import { findAssetByContract, type StoredAsset } from '#api/store/assets.ts';
import type { OutgoingSighting } from '#api/store/outgoing-sightings.ts';
import { sumSpentBy } from '#api/store/outputs.ts';
import { fromUnits } from '#shared/core/money.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { fund, gas, lose, unallocated } from '#state-machines/ledger/postings.ts';
import type { AppliedNetwork } from './applied-network.ts';

/** What a transaction of ours cost leaves the books when it is final (architecture 2, Ledger). */
export async function bookFee(tx: Tx, network: AppliedNetwork, native: StoredAsset, sent: OutgoingSighting): Promise<void> {
  if (sent.rawFee === null || sent.rawFee === 0n) return;
  await post(tx, { sourceKey: `gas:${network.networkId}:${sent.txid}`, kind: 'gas', postings: gas(native.id, fromUnits(sent.rawFee, native.decimals)) });
}

/**
 * Books a transfer no payout explains: coins put into a wallet, coins at a deposit address that are no deposit, or coins
 * that left without us. Between our own addresses nothing changes.
 */
export async function bookStray(tx: Tx, network: AppliedNetwork, row: OutgoingSighting): Promise<void> {
  if (row.rawAmount === null || row.rawAmount === 0n || (row.senderOurs && row.recipientOurs)) return;
  const asset = await findAssetByContract(tx, network.networkId, row.contract);
  // A token nobody configured is in no books.
  if (asset === undefined) return;
  const coins = fromUnits(row.rawAmount, asset.decimals);
  const [kind, book] = row.senderOurs ? (['loss', lose] as const) : row.recipientWallet ? (['fund', fund] as const) : (['unallocated', unallocated] as const);
  await post(tx, { sourceKey: `${kind}:${network.networkId}:${row.txid}:${row.kind}:${row.ordinal}`, kind, postings: book(asset.id, coins) });
}

/**
 * Books a final transaction that spends outputs of ours and that no payout explains: what of them did not come back to us is
 * lost. Others may have paid into it too, so neither its fee nor its recipients say how much that is.
 */
export async function bookForeignSpend(
  tx: Tx,
  network: AppliedNetwork,
  native: StoredAsset,
  sent: OutgoingSighting,
  transfers: readonly OutgoingSighting[],
): Promise<void> {
  const back = transfers.filter((row) => row.recipientOurs).reduce((sum, row) => sum + (row.rawAmount ?? 0n), 0n);
  const lost = (await sumSpentBy(tx, sent.id)) - back;
  if (lost === 0n) return;
  const [kind, book] = lost > 0n ? (['loss', lose] as const) : (['fund', fund] as const);
  const coins = fromUnits(lost > 0n ? lost : -lost, native.decimals);
  await post(tx, { sourceKey: `${kind}:${network.networkId}:${sent.txid}:spend`, kind, postings: book(native.id, coins) });
}
