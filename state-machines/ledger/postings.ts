import { Invariant } from '#shared/core/errors.ts';
import type { Coins } from '#shared/core/money.ts';
import { type Account, gatewayAccount, maturingAccount, type Pool, type Posting, reservedAccount, systemAccount, withdrawableAccount } from './accounts.ts';

/** A deposit credited to a gateway, as `takeFees` split it. */
export interface Credit {
  gatewayId: string;
  assetId: string;
  pool: Pool;
  gross: Coins;
  networkFee: Coins;
  commission: Coins;
  net: Coins;
  /** The part of both fees that the platform bears. */
  platformBears: Coins;
}

/** The amount of a pool that a settlement claims. */
export interface Reservation {
  gatewayId: string;
  assetId: string;
  settlementId: string;
  pool: Pool;
  amount: Coins;
}

/** A deposit's coins came in: the gateway gets its net, and the platform pays its part of the fees (decisions 11). */
export function credit(c: Credit): Posting[] {
  return balanced(c.assetId, [
    [systemAccount('chain'), -c.gross],
    [maturingAccount(c.pool, c.gatewayId), c.net],
    [systemAccount('networkFee'), c.networkFee],
    [systemAccount('commission'), c.commission],
    [systemAccount('platformExpense'), -c.platformBears],
  ]);
}

/** Every account that a credit of a gateway may post to, whatever its pool and fees are. */
export function accountsOfCredits(gatewayId: string): Account[] {
  return [
    systemAccount('chain'),
    maturingAccount('green', gatewayId),
    maturingAccount('held', gatewayId),
    systemAccount('networkFee'),
    systemAccount('commission'),
    systemAccount('platformExpense'),
  ];
}

/** A credit becomes withdrawable (decisions 5, 10). */
export function mature(c: { gatewayId: string; assetId: string; pool: Pool; amount: Coins }): Posting[] {
  return balanced(c.assetId, [
    [maturingAccount(c.pool, c.gatewayId), -c.amount],
    [withdrawableAccount(c.pool, c.gatewayId), c.amount],
  ]);
}

/** A settlement claims its amount, so that no other settlement can spend it (contract 3.2). */
export function reserve(r: Reservation): Posting[] {
  return balanced(r.assetId, [
    [withdrawableAccount(r.pool, r.gatewayId), -r.amount],
    [reservedAccount(r.gatewayId, r.settlementId), r.amount],
  ]);
}

/** What a settlement had drawn, by where its credits are now. */
export interface GivenBack {
  gatewayId: string;
  assetId: string;
  settlementId: string;
  green: Coins;
  held: Coins;
  withheld: Coins;
}

/** A claim returns to where its credits are now, because a payment may have changed its pool since (decision 0012). */
export function release(r: GivenBack): Posting[] {
  return balanced(r.assetId, [
    [reservedAccount(r.gatewayId, r.settlementId), -(r.green + r.held + r.withheld)],
    [withdrawableAccount('green', r.gatewayId), r.green],
    [withdrawableAccount('held', r.gatewayId), r.held],
    [gatewayAccount('withheld', r.gatewayId), r.withheld],
  ]);
}

/** A settlement was paid: its net has left for the chain, and its locked fee pays for gas. */
export function settle(s: Omit<Reservation, 'pool'> & { feeLocked: Coins }): Posting[] {
  return balanced(s.assetId, [
    [reservedAccount(s.gatewayId, s.settlementId), -s.amount],
    [systemAccount('chain'), s.amount - s.feeLocked],
    [systemAccount('gas'), s.feeLocked],
  ]);
}

/**
 * The cost that a destination caused is charged to the gateway that asked for it, in the asset paid out (decisions 10): from its available balance,
 * and the rest is owed. It pays for gas like a locked fee.
 */
export function charge(c: { gatewayId: string; assetId: string; paid: Coins; owed: Coins }): Posting[] {
  return balanced(c.assetId, [
    [withdrawableAccount('green', c.gatewayId), -c.paid],
    [gatewayAccount('owed', c.gatewayId), -c.owed],
    [systemAccount('gas'), c.paid + c.owed],
  ]);
}

/** A gateway pays what it owes from an amount that became withdrawable. */
export function collect(c: { gatewayId: string; assetId: string; pool: Pool; amount: Coins }): Posting[] {
  return balanced(c.assetId, [
    [withdrawableAccount(c.pool, c.gatewayId), -c.amount],
    [gatewayAccount('owed', c.gatewayId), c.amount],
  ]);
}

/** The fee of one of our own transactions, in its network's native asset, once final. */
export function gas(nativeAssetId: string, actualFee: Coins): Posting[] {
  return balanced(nativeAssetId, [
    [systemAccount('gas'), -actualFee],
    [systemAccount('chain'), actualFee],
  ]);
}

/** The platform pays for gas without a locked fee, such as that of a free cashout (decisions 11). */
export function bear(nativeAssetId: string, actualFee: Coins): Posting[] {
  return balanced(nativeAssetId, [
    [systemAccount('gas'), actualFee],
    [systemAccount('platformExpense'), -actualFee],
  ]);
}

/** The operator put coins into one of our wallets. */
export function fund(assetId: string, amount: Coins): Posting[] {
  return balanced(assetId, [
    [systemAccount('chain'), -amount],
    [systemAccount('capital'), amount],
  ]);
}

/** Excess of a hot wallet reached cold storage. It is still ours, but at an address whose key is not here (decision 0033). */
export function store(assetId: string, amount: Coins): Posting[] {
  return balanced(assetId, [
    [systemAccount('chain'), amount],
    [systemAccount('cold'), -amount],
  ]);
}

/** Coins came back from cold storage: `stored` were there by the books, and `beyond` counts as put in by the operator. */
export function refill(assetId: string, { stored, beyond }: { stored: Coins; beyond: Coins }): Posting[] {
  return balanced(assetId, [
    [systemAccount('chain'), -(stored + beyond)],
    [systemAccount('cold'), stored],
    [systemAccount('capital'), beyond],
  ]);
}

/** Coins arrived that belong to no payment, or too late for theirs. They are kept until an inquiry or the operator allocates them (decisions 4). */
export function unallocated(assetId: string, amount: Coins): Posting[] {
  return balanced(assetId, [
    [systemAccount('chain'), -amount],
    [systemAccount('unallocated'), amount],
  ]);
}

/** Corrects `unallocated`: the coins were allocated to a payment, which is then credited as if they had just come in. */
export function allocate(assetId: string, amount: Coins): Posting[] {
  return balanced(assetId, [
    [systemAccount('unallocated'), -amount],
    [systemAccount('chain'), amount],
  ]);
}

/** A reorganisation deeper than their finality took booked coins back (decisions 5). */
export function lose(assetId: string, amount: Coins): Posting[] {
  return balanced(assetId, [
    [systemAccount('chain'), amount],
    [systemAccount('loss'), -amount],
  ]);
}

/** Lost coins are on the chain again. */
export function regain(assetId: string, amount: Coins): Posting[] {
  return balanced(assetId, [
    [systemAccount('chain'), -amount],
    [systemAccount('loss'), amount],
  ]);
}

/** What is left of a payment in one asset, by the accounts of its pool. */
export interface PoolShare {
  gatewayId: string;
  assetId: string;
  maturing: Coins;
  matured: Coins;
}

/** A payment changes its pool, with everything that is left of it (decision 0012). */
export function movePool(m: PoolShare & { from: Pool; to: Pool }): Posting[] {
  return balanced(m.assetId, [
    [maturingAccount(m.from, m.gatewayId), -m.maturing],
    [withdrawableAccount(m.from, m.gatewayId), -m.matured],
    [maturingAccount(m.to, m.gatewayId), m.maturing],
    [withdrawableAccount(m.to, m.gatewayId), m.matured],
  ]);
}

/** What is left of a held payment is withheld from its gateway for good. */
export function withhold(w: PoolShare): Posting[] {
  return balanced(w.assetId, [
    [maturingAccount('held', w.gatewayId), -w.maturing],
    [withdrawableAccount('held', w.gatewayId), -w.matured],
    [gatewayAccount('withheld', w.gatewayId), w.maturing + w.matured],
  ]);
}

/** What is left of a held payment is ordered to be paid back to its payer, including the commission that was taken. */
export function orderRefund(o: PoolShare & { commission: Coins }): Posting[] {
  return balanced(o.assetId, [
    [maturingAccount('held', o.gatewayId), -o.maturing],
    [withdrawableAccount('held', o.gatewayId), -o.matured],
    [systemAccount('commission'), -o.commission],
    [gatewayAccount('refunding', o.gatewayId), o.maturing + o.matured + o.commission],
  ]);
}

/** A refund cannot be paid: everything returns to how it was before the order. */
export function cancelRefund(o: PoolShare & { commission: Coins }): Posting[] {
  return orderRefund(o).map((posting) => ({ ...posting, amount: -posting.amount }));
}

/** A refund reached its recipient. The part of its commission that the platform had borne returns to the platform. */
export function payRefund(r: { gatewayId: string; assetId: string; amount: Coins; platformCommission: Coins }): Posting[] {
  return balanced(r.assetId, [
    [gatewayAccount('refunding', r.gatewayId), -r.amount],
    [systemAccount('chain'), r.amount],
    [systemAccount('commission'), -r.platformCommission],
    [systemAccount('platformExpense'), r.platformCommission],
  ]);
}

/** Withheld coins left for the destination that the operator chose. */
export function payWithheld(w: { gatewayId: string; assetId: string; amount: Coins }): Posting[] {
  return balanced(w.assetId, [
    [gatewayAccount('withheld', w.gatewayId), -w.amount],
    [systemAccount('chain'), w.amount],
  ]);
}

/** Drops zero amounts, and refuses amounts that do not sum to zero before the database must. */
function balanced(assetId: string, entries: [Account, bigint][]): Posting[] {
  if (entries.reduce((sum, [, change]) => sum + change, 0n) !== 0n) throw new Invariant('postings do not sum to zero');
  return entries.filter(([, change]) => change !== 0n).map(([account, change]) => ({ account, assetId, amount: change }));
}
