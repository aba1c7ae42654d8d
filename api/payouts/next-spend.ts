import type { Chain, Deps } from '#api/deps.ts';
import { findSpendable, findUnspent, listLocked, listSpendable, type Purse } from '#api/store/outputs.ts';
import type { AttemptKind, StoredAttempt } from '#api/store/payout-attempts.ts';
import type { StoredPayout } from '#api/store/payouts.ts';
import type { StoredWallet } from '#api/store/wallets.ts';
import type { DecodedTransfer, FeeQuote, OwnOutput, TransferIntent } from '#shared/chains/chain.ts';
import { decoderOf } from '#shared/chains/payers.ts';
import { Invariant } from '#shared/core/errors.ts';
import { nameOf, outpointOf, purseOf, spendingOf } from '#api/payouts/rules/spending.ts';

/**
 * What further bytes would spend, or what prevents them. `used`: the node says that the anchor is spent or gone; the scan will soon tell by which
 * transaction.
 */
export type NextSpend = { quote: FeeQuote } | { used: string } | { short: string } | { refused: string };

/**
 * Prices the next bytes of a payout that spends outputs (reliability D13). Unsigned bytes may choose from all that the wallet may spend; bytes that
 * replace signed ones spend the anchor, and more outputs if the fee needs them. Locks nothing.
 * Nothing is made without the anchor: if a fork took it, or the node no longer has it, there is nothing to sign.
 * @throws ChainUnavailable when the node cannot be reached
 */
export async function quoteNextSpend(
  deps: Deps,
  chain: Chain,
  { payout, wallet }: { payout: StoredPayout & { anchor: string }; wallet: StoredWallet },
  attempts: readonly StoredAttempt[],
  kind: AttemptKind,
): Promise<NextSpend> {
  const { sql } = deps.db;
  const [anchor] = await findUnspent(sql, chain.id, [outpointOf(payout.anchor)]);
  if (anchor === undefined) return { refused: `its anchor ${payout.anchor} is gone from the chain, and nothing is signed without it` };
  const left = await chain.reader.outputs?.([anchor]);
  if (left !== undefined && left.rawAmounts[0] === null) return { used: `the node says that its anchor ${payout.anchor} is spent or gone` };
  const decode = decoderOf(chain.config);
  const replaced = await Promise.all(attempts.map(({ signedBytes }) => decode(signedBytes)));
  if (kind === 'transfer' && replaced[0] !== undefined) {
    // Further bytes would spend all inputs of the newest ones. If one is gone, none can be mined, and only the anchor alone can be moved.
    const { inputs } = spendingOf(chain, replaced[0].fields);
    const there = new Set((await findUnspent(sql, chain.id, inputs)).map(nameOf));
    const gone = inputs.map(nameOf).find((name) => !there.has(name));
    if (gone !== undefined) return { refused: `an output that was signed for is gone from the chain: ${gone}` };
  }
  if (payout.purpose === 'consolidation' && kind === 'transfer') return quoteJoinAnew(deps, chain, { payout, wallet }, replaced);
  const coins = kind === 'close' ? [anchor] : await coinsFor(deps, chain, payout, wallet);
  const intent: TransferIntent =
    kind === 'close'
      ? { sender: wallet.address, recipient: wallet.address, contract: null, rawAmount: 0n }
      : { sender: wallet.address, recipient: payout.recipient, contract: null, rawAmount: payout.rawAmount };
  if (attempts.length === 0) {
    const answer = await chain.payer.quote(intent, coins);
    if (answer.ok) return { quote: answer.quote };
    return answer.lacking === undefined ? { refused: `the network refuses it: ${answer.rejected}` } : { short: 'the outputs it may spend do not cover it' };
  }
  const quote = (await chain.payer.bump?.(replaced[0]?.fields ?? {}, { intent, coins, replaced })) ?? null;
  return quote === null ? { refused: 'what was signed before cannot be replaced at a higher fee' } : { quote };
}

/**
 * The outputs that further bytes may spend: all that the wallet may spend, but for a move to cold storage only those it has taken, so that cashouts
 * keep the others.
 */
async function coinsFor({ db }: Deps, chain: Chain, payout: StoredPayout, wallet: StoredWallet): Promise<OwnOutput[]> {
  const coins = await listSpendable(db.sql, purseOf(chain, wallet), payout.id);
  if (payout.purpose !== 'cold') return coins;
  const taken = new Set((await listLocked(db.sql, payout.id)).map(nameOf));
  return coins.filter((coin) => taken.has(nameOf(coin)));
}

/** The next bytes of a join: the same outputs at the current price. An unsigned join is given up when one of its outputs can no longer be spent. */
async function quoteJoinAnew(
  deps: Deps,
  chain: Chain,
  { payout, wallet }: { payout: StoredPayout; wallet: StoredWallet },
  replaced: readonly DecodedTransfer[],
): Promise<NextSpend> {
  const { join } = chain.payer;
  if (join === undefined) throw new Invariant(`payout ${payout.id} joins outputs where there are none`);
  const { inputs } = spendingOf(chain, replaced[0]?.fields ?? payout.plan.fields ?? {});
  if (replaced.length === 0 && !(await areSpendable(deps, purseOf(chain, wallet), payout.id, inputs))) return { short: 'an output it was to join is gone' };
  const answer = await join(wallet.address, inputs, replaced);
  return answer.ok ? { quote: answer.quote } : { refused: `the network refuses it: ${answer.rejected}` };
}

async function areSpendable({ db }: Deps, purse: Purse, payoutId: string, inputs: readonly OwnOutput[]): Promise<boolean> {
  return (await findSpendable(db.sql, purse, inputs, payoutId)).length === inputs.length;
}
