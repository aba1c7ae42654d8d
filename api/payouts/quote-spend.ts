import type { Chain, Deps } from '#api/deps.ts';
import { listSpendable, sumUnready } from '#api/store/outputs.ts';
import { listCommitted, listUnderWay } from '#api/store/payouts.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import type { StoredWallet } from '#api/store/wallets.ts';
import type { FeeQuote, TransferIntent } from '#shared/chains/chain.ts';
import { formatAmount, fromUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { refillReason, storedOf } from '#api/treasury/cold.ts';
import { joiningCosts, joinOutputs, largeFor } from './join-outputs.ts';
import { checkFee, checkTopUp } from '#api/treasury/limits.ts';
import { mostInputs, purseOf, spendingOf } from '#api/payouts/rules/spending.ts';
import { coverGas } from '#api/treasury/top-up.ts';
import { waitReason } from '#shared/core/wait-reasons.ts';

/**
 * The funding wallet makes up for this many fees that a pool paid beyond what was locked, plus one for each output that the pool has. A larger gap
 * is not closed automatically.
 */
const FEES_MADE_UP_FOR = 20;

/** The chosen and priced outputs for a transfer, or why it cannot be made: `waiting` passes by itself, `stuck` lasts. */
export type SpendQuote = { quote: FeeQuote; observed: null } | { waiting: string } | { stuck: string };

/**
 * Chooses the outputs for a transfer from all that its wallet may spend now (decisions 10).
 * If it would spend too many, they are joined first at the deployment's expense; the transfer waits for that without holding up others (decision
 * 0031). If the pool lacks money for fees, the funding wallet brings it. Coins on their way, or waiting for a verdict, are waited for.
 * @throws ChainUnavailable when the node cannot be reached
 */
export async function quoteSpend(
  deps: Deps,
  chain: Chain,
  order: { settlementId: string | null; wallet: StoredWallet; native: StoredAsset; intent: TransferIntent },
): Promise<SpendQuote> {
  const { settlementId, wallet, native, intent } = order;
  const purse = purseOf(chain, wallet);
  const coins = await listSpendable(deps.db.sql, purse);
  const answer = await chain.payer.quote(intent, coins);
  const spent = answer.ok ? mostInputs(chain, [answer.quote.fields]) : 0;
  if (answer.ok && spent === 1) return { quote: answer.quote, observed: null };
  if (!answer.ok && answer.lacking === undefined) return { stuck: waitReason('refused_by_network', { detail: answer.rejected }) };
  const coinsOf = (raw: bigint) => ({ amount: formatAmount(fromUnits(raw, native.decimals)), asset: native.symbol });
  // The price of spending one output, whatever outputs there are.
  const estimate = await chain.payer.estimate(intent);
  const fee = estimate.ok ? estimate.quote.rawFee : 0n;
  const { input } = (await chain.payer.outputCost?.()) ?? { input: fee };
  const most = await mostInputsAllowed(deps, native, { fee, input });
  if (answer.ok && spent <= most) return { quote: answer.quote, observed: null };
  const coming = await comingTo(deps, chain, wallet, fee);
  const madeUpFor = BigInt(FEES_MADE_UP_FOR + coins.length) * fee + (await joiningCosts(deps, chain, wallet, input));
  const large = largeFor(intent.rawAmount, most);
  const comingLarge = await comingTo(deps, chain, wallet, large, { joined: false });
  const preparing = { settlementId, wallet, native, rawAmount: intent.rawAmount, fee, input, most, large, there: coming + madeUpFor, comingLarge };
  const joining = await joinOutputs(deps, chain, preparing);
  if (joining !== null) return { stuck: joining };
  if (answer.ok) return { quote: answer.quote, observed: null };
  const lacking = answer.lacking ?? 0n;
  if (coming >= lacking) return { waiting: waitReason('not_final', coinsOf(coming)) };
  const missing = lacking - coming;
  if (missing > madeUpFor) {
    const stored = await storedOf(deps.db.sql, native, wallet, missing);
    return { waiting: stored > 0n ? refillReason(chain, native, wallet, stored) : waitReason('outputs_short', coinsOf(missing)) };
  }
  return { waiting: await coverGas(deps, chain, { settlementId, wallet, native, missing: await atOnce(deps, native, missing), fee }) };
}

/** The most outputs that one payment may spend, so that its fee stays below the ceiling for any transaction. */
async function mostInputsAllowed(deps: Deps, native: StoredAsset, { fee, input }: { fee: bigint; input: bigint }): Promise<number> {
  let most: number = POLICY.bitcoinPaymentInputs;
  while (most > 1 && (await checkFee(deps, { rawFee: fee + BigInt(most - 1) * input, native }, null)) !== null) most = Math.floor(most / 2);
  return most;
}

/** As much of the missing amount as one top-up may bring; later ones bring the rest. */
async function atOnce(deps: Deps, { symbol, decimals }: StoredAsset, missing: bigint): Promise<bigint> {
  let rawAmount = missing;
  while (rawAmount > 1n && (await checkTopUp(deps, { symbol, decimals, rawAmount }))?.lasting === true) rawAmount /= 2n;
  return rawAmount;
}

/**
 * Chain units that a wallet will be able to spend without further action, in outputs worth more than `least`: not final yet, waiting for a verdict,
 * or change of what it pays. `joined` says whether to count the outputs of its own joins.
 */
async function comingTo(deps: Deps, chain: Chain, wallet: StoredWallet, least: bigint, { joined } = { joined: true }): Promise<bigint> {
  const { sql } = deps.db;
  const back = (await listCommitted(sql, wallet.id, [])).map(({ plan, purpose, rawAmount }) => {
    if (plan.fields === undefined) return 0n;
    if (purpose === 'consolidation') return joined ? rawAmount : 0n;
    return spendingOf(chain, plan.fields).change?.rawAmount ?? 0n;
  });
  const sent = (await listUnderWay(sql, { networkId: chain.id, purpose: 'top_up' }))
    .filter((one) => one.recipient === wallet.address && one.status !== 'INCLUDED')
    .map(({ rawAmount }) => rawAmount);
  return [...back, ...sent].filter((rawAmount) => rawAmount > least).reduce((a, b) => a + b, await sumUnready(sql, purseOf(chain, wallet), least));
}
