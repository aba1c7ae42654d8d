import type { Deps } from '#api/deps.ts';
import { bookedCold } from '#api/ledger/balances.ts';
import { post } from '#api/ledger/post.ts';
import { findAssetByContract, type StoredAsset } from '#api/store/assets.ts';
import type { OutgoingSighting } from '#api/store/sightings.ts';
import { sumSpentBy } from '#api/store/outputs.ts';
import { amount, type Coins, fromUnits, MONEY_LIMIT } from '#shared/core/money.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { fund, gas, lose, refill, store, unallocated } from '#state-machines/ledger/postings.ts';
import type { AppliedNetwork } from './applied-network.ts';
import { coldAddress } from '#api/payouts/rules/cold.ts';

/** Books the fee of a final transaction of ours (architecture 2, Ledger). */
export async function bookFee(tx: Tx, deps: Pick<Deps, 'log'>, network: AppliedNetwork, native: StoredAsset, sent: OutgoingSighting): Promise<void> {
  if (sent.rawFee === null || sent.rawFee === 0n) return;
  const coins = believed(deps, network, sent, fromUnits(sent.rawFee, native.decimals));
  if (coins !== undefined) await post(tx, { sourceKey: `gas:${network.networkId}:${sent.txid}`, kind: 'gas', postings: gas(native.id, coins) });
}

/** Undefined, and told, where it is more than there can be: the books have no room for what a contract or a node made up, and no block may wait for that. */
function believed({ log }: Pick<Deps, 'log'>, network: AppliedNetwork, { txid, kind }: OutgoingSighting, coins: Coins): Coins | undefined {
  if (coins < MONEY_LIMIT) return coins;
  log.error({ network: network.networkName, txid, kind }, 'a transaction is said to move or cost more than exists; not booked');
  return undefined;
}

/**
 * Books a transfer that no payout explains: coins put into a wallet, coins at a deposit address that are not a deposit, or coins that left without
 * us.
 * Coins that come to a wallet from cold storage are booked as a refill, and coins that went there are not a loss. Between our own addresses nothing
 * changes.
 */
export async function bookStray(tx: Tx, deps: Deps, network: AppliedNetwork, row: OutgoingSighting): Promise<void> {
  if (row.rawAmount === null || row.rawAmount === 0n || (row.senderOurs && row.recipientOurs)) return;
  const asset = await findAssetByContract(tx, network.networkId, row.contract);
  // A token that is not configured is not booked.
  if (asset === undefined) return;
  const coins = believed(deps, network, row, fromUnits(row.rawAmount, asset.decimals));
  if (coins === undefined) return;
  const key = `${network.networkId}:${row.txid}:${row.kind}:${row.ordinal}`;
  const cold = coldAddressOf(deps, network);
  if (cold !== null && row.senderOurs && row.recipient === cold) return bookStored(tx, asset.id, coins, key);
  if (cold !== null && row.recipientWallet && row.sender === cold) return bookRefill(tx, asset.id, coins, key);
  const [kind, book] = row.senderOurs ? (['loss', lose] as const) : row.recipientWallet ? (['fund', fund] as const) : (['unallocated', unallocated] as const);
  await post(tx, { sourceKey: `${kind}:${key}`, kind, postings: book(asset.id, coins) });
}

/** Books the coins that one transfer brought to cold storage; `key` names that transfer. */
export async function bookStored(tx: Tx, assetId: string, coins: Coins, key: string): Promise<void> {
  await post(tx, { sourceKey: `cold:${key}`, kind: 'cold', postings: store(assetId, coins) });
}

/** Cold storage may also hold the operator's own coins. Coins from there beyond the booked amount are booked as capital. */
async function bookRefill(tx: Tx, assetId: string, coins: Coins, key: string): Promise<void> {
  const held = await bookedCold(tx, assetId);
  const stored = held < coins ? held : coins;
  await post(tx, { sourceKey: `refill:${key}`, kind: 'refill', postings: refill(assetId, { stored, beyond: amount(coins - stored) }) });
}

function coldAddressOf(deps: Deps, { networkName }: AppliedNetwork): string | null {
  const chain = deps.chains.get(networkName);
  return chain === undefined ? null : coldAddress(chain);
}

/**
 * Books a final transaction that spends our outputs without a payout: whatever did not come back to us is lost, except what went to cold storage.
 * Others may have paid into the transaction too, so neither its fee nor its recipients tell how much was lost. If more came to us than was spent,
 * the difference is booked as put in.
 */
export async function bookForeignSpend(
  tx: Tx,
  deps: Deps,
  network: AppliedNetwork,
  native: StoredAsset,
  sent: OutgoingSighting,
  transfers: readonly OutgoingSighting[],
): Promise<void> {
  const back = transfers.filter((row) => row.recipientOurs).reduce((sum, row) => sum + (row.rawAmount ?? 0n), 0n);
  const cold = coldAddressOf(deps, network);
  const stored = cold === null ? 0n : transfers.filter((row) => row.recipient === cold).reduce((sum, row) => sum + (row.rawAmount ?? 0n), 0n);
  if (stored > 0n) await bookStored(tx, native.id, fromUnits(stored, native.decimals), `${network.networkId}:${sent.txid}:spend`);
  const lost = (await sumSpentBy(tx, sent.id)) - back - stored;
  if (lost === 0n) return;
  const [kind, book] = lost > 0n ? (['loss', lose] as const) : (['fund', fund] as const);
  const coins = fromUnits(lost > 0n ? lost : -lost, native.decimals);
  await post(tx, { sourceKey: `${kind}:${network.networkId}:${sent.txid}:spend`, kind, postings: book(native.id, coins) });
}
