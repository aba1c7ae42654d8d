import type { Chain, Deps } from '#api/deps.ts';
import { listSpendable, sumUnready } from '#api/store/outputs.ts';
import { listCommitted, listUnderWay } from '#api/store/payouts.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import type { StoredWallet } from '#api/store/wallets.ts';
import type { FeeQuote, TransferIntent } from '#shared/chains/chain.ts';
import { formatAmount, fromUnits } from '#shared/core/money.ts';
import { refillReason, storedOf } from './cold.ts';
import { purseOf, spendingOf } from './purse.ts';
import { coverGas } from './top-up.ts';

/** Fees that a pool may have paid beyond what was locked for them, beside one for each output it has; a larger hole is not made up for by itself. */
const FEES_MADE_UP_FOR = 20;

/** What a transfer takes: coins of the wallet, chosen and priced; or why it cannot be made now, or ever. */
export type SpendQuote = { quote: FeeQuote; observed: null } | { waiting: string } | { stuck: string };

/**
 * Chooses the outputs for a transfer out of all that its wallet may spend now (decisions 10). What the pool lacks in fees is
 * brought from the funding wallet; coins that are on their way, or wait for a verdict, are waited for.
 * @throws ChainUnavailable when the node cannot be reached
 */
export async function quoteSpend(
  deps: Deps,
  chain: Chain,
  order: { settlementId: string | null; wallet: StoredWallet; native: StoredAsset; intent: TransferIntent },
): Promise<SpendQuote> {
  const { wallet, native, intent } = order;
  const purse = purseOf(chain, wallet);
  const coins = await listSpendable(deps.db.sql, purse);
  const answer = await chain.payer.quote(intent, coins);
  if (answer.ok) return { quote: answer.quote, observed: null };
  if (answer.lacking === undefined) return { stuck: `the network refuses the transfer: ${answer.rejected}` };
  const say = (raw: bigint): string => `${formatAmount(fromUnits(raw, native.decimals))} ${native.symbol}`;
  const estimate = await chain.payer.estimate(intent, coins);
  const fee = estimate.ok ? estimate.quote.rawFee : 0n;
  const coming = await comingTo(deps, chain, wallet, fee);
  if (coming >= answer.lacking) return { waiting: `waiting for ${say(coming)} of the pool that are not final yet, or wait for a verdict` };
  const missing = answer.lacking - coming;
  if (missing > BigInt(FEES_MADE_UP_FOR + coins.length) * fee) {
    const there = coins.reduce((sum, coin) => sum + coin.rawAmount, 0n);
    if (there >= intent.rawAmount) return { stuck: `the ${coins.length} outputs of the pool are too small to pay this much in one transaction` };
    const stored = await storedOf(deps.db.sql, native, wallet, missing);
    if (stored > 0n) return { waiting: refillReason(chain, native, wallet, stored) };
    return { waiting: `the outputs of the pool are short of ${say(missing)}` };
  }
  return { waiting: await coverGas(deps, chain, { settlementId: order.settlementId, wallet, native, missing, fee }) };
}

/** Coins a wallet is going to be able to spend without anybody's doing, in outputs worth more than a fee: not final yet, waiting for a verdict, or given back by what it pays. */
async function comingTo(deps: Deps, chain: Chain, wallet: StoredWallet, fee: bigint): Promise<bigint> {
  const { sql } = deps.db;
  let coming = await sumUnready(sql, purseOf(chain, wallet), fee);
  for (const { plan } of await listCommitted(sql, wallet.id, []))
    if (plan.fields !== undefined) coming += spendingOf(chain, plan.fields).change?.rawAmount ?? 0n;
  for (const one of await listUnderWay(sql, { networkId: chain.id, purpose: 'top_up' }))
    if (one.recipient === wallet.address && one.status !== 'INCLUDED') coming += one.rawAmount;
  return coming;
}
