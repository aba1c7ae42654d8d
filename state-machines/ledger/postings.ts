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

/** A settlement's hold on a pool. */
export interface Reservation {
  gatewayId: string;
  assetId: string;
  settlementId: string;
  pool: Pool;
  amount: Coins;
}

/** Coins that came in and are a gateway's: its net, the fees, and what the platform pays of them (decisions 11). */
export function credit(c: Credit): Posting[] {
  return balanced(c.assetId, [
    [systemAccount('chain'), -c.gross],
    [maturingAccount(c.pool, c.gatewayId), c.net],
    [systemAccount('networkFee'), c.networkFee],
    [systemAccount('commission'), c.commission],
    [systemAccount('platformExpense'), -c.platformBears],
  ]);
}

/** A credit becomes withdrawable (decisions 5, 10). */
export function mature(c: { gatewayId: string; assetId: string; pool: Pool; amount: Coins }): Posting[] {
  return balanced(c.assetId, [
    [maturingAccount(c.pool, c.gatewayId), -c.amount],
    [withdrawableAccount(c.pool, c.gatewayId), c.amount],
  ]);
}

/** A settlement claims its amount, so that no other can spend it (contract 3.2). */
export function reserve(r: Reservation): Posting[] {
  return balanced(r.assetId, [
    [withdrawableAccount(r.pool, r.gatewayId), -r.amount],
    [reservedAccount(r.gatewayId, r.settlementId), r.amount],
  ]);
}

/** What a settlement had drawn, by where the credits it drew from are now. */
export interface GivenBack {
  gatewayId: string;
  assetId: string;
  settlementId: string;
  green: Coins;
  held: Coins;
  withheld: Coins;
}

/** A claim is given back to where its credits are by now: a payment may have changed its pool since (decision 0012). */
export function release(r: GivenBack): Posting[] {
  return balanced(r.assetId, [
    [reservedAccount(r.gatewayId, r.settlementId), -(r.green + r.held + r.withheld)],
    [withdrawableAccount('green', r.gatewayId), r.green],
    [withdrawableAccount('held', r.gatewayId), r.held],
    [gatewayAccount('withheld', r.gatewayId), r.withheld],
  ]);
}

/** A settlement was paid: its net left for the chain, and the fee it locked pays for gas. */
export function settle(s: Omit<Reservation, 'pool'> & { feeLocked: Coins }): Posting[] {
  return balanced(s.assetId, [
    [reservedAccount(s.gatewayId, s.settlementId), -s.amount],
    [systemAccount('chain'), s.amount - s.feeLocked],
    [systemAccount('gas'), s.feeLocked],
  ]);
}

/**
 * What a destination made a transaction cost is charged to the gateway that asked for it, in the asset it asked for: out of its available
 * balance, and what that does not hold is owed (decisions 10). It pays for gas like a locked fee.
 */
export function charge(c: { gatewayId: string; assetId: string; paid: Coins; owed: Coins }): Posting[] {
  return balanced(c.assetId, [
    [withdrawableAccount('green', c.gatewayId), -c.paid],
    [gatewayAccount('owed', c.gatewayId), -c.owed],
    [systemAccount('gas'), c.paid + c.owed],
  ]);
}

/** A gateway pays what it owes out of what became withdrawable. */
export function collect(c: { gatewayId: string; assetId: string; pool: Pool; amount: Coins }): Posting[] {
  return balanced(c.assetId, [
    [withdrawableAccount(c.pool, c.gatewayId), -c.amount],
    [gatewayAccount('owed', c.gatewayId), c.amount],
  ]);
}

/** What one of our own transactions cost, in its network's native asset, once final. */
export function gas(nativeAssetId: string, actualFee: Coins): Posting[] {
  return balanced(nativeAssetId, [
    [systemAccount('gas'), -actualFee],
    [systemAccount('chain'), actualFee],
  ]);
}

/** The platform pays for gas for which no fee was locked, such as that of a free cashout (decisions 11). */
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

/** Excess of a hot wallet reached cold storage: still ours, and at no address whose key is here (decision 0033). */
export function store(assetId: string, amount: Coins): Posting[] {
  return balanced(assetId, [
    [systemAccount('chain'), amount],
    [systemAccount('cold'), -amount],
  ]);
}

/** Coins came back from cold storage: those that the books say were there, and whatever else as put in by the operator. */
export function refill(assetId: string, { stored, beyond }: { stored: Coins; beyond: Coins }): Posting[] {
  return balanced(assetId, [
    [systemAccount('chain'), -(stored + beyond)],
    [systemAccount('cold'), stored],
    [systemAccount('capital'), beyond],
  ]);
}

/** Coins arrived that belong to no payment, or too late for it; kept until an inquiry or the operator allocates them (decisions 4). */
export function unallocated(assetId: string, amount: Coins): Posting[] {
  return balanced(assetId, [
    [systemAccount('chain'), -amount],
    [systemAccount('unallocated'), amount],
  ]);
}

/** Corrects `unallocated`: the coins were allocated to a payment, which is credited with them as if they had just come in. */
export function allocate(assetId: string, amount: Coins): Posting[] {
  return balanced(assetId, [
    [systemAccount('unallocated'), -amount],
    [systemAccount('chain'), amount],
  ]);
}

/** Coins that had been booked were taken back by a reorganisation deeper than their finality (decisions 5). */
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

/** What a payment has left of one asset, as the accounts of its pool hold it. */
export interface PoolShare {
  gatewayId: string;
  assetId: string;
  maturing: Coins;
  matured: Coins;
}

/** A payment changes its pool, with all that is left of it (decision 0012). */
export function movePool(m: PoolShare & { from: Pool; to: Pool }): Posting[] {
  return balanced(m.assetId, [
    [maturingAccount(m.from, m.gatewayId), -m.maturing],
    [withdrawableAccount(m.from, m.gatewayId), -m.matured],
    [maturingAccount(m.to, m.gatewayId), m.maturing],
    [withdrawableAccount(m.to, m.gatewayId), m.matured],
  ]);
}

/** What is left of a held payment is kept from its gateway for good. */
export function withhold(w: PoolShare): Posting[] {
  return balanced(w.assetId, [
    [maturingAccount('held', w.gatewayId), -w.maturing],
    [withdrawableAccount('held', w.gatewayId), -w.matured],
    [gatewayAccount('withheld', w.gatewayId), w.maturing + w.matured],
  ]);
}

/** What is left of a held payment is to go back to its payer, with the commission that was taken of it. */
export function orderRefund(o: PoolShare & { commission: Coins }): Posting[] {
  return balanced(o.assetId, [
    [maturingAccount('held', o.gatewayId), -o.maturing],
    [withdrawableAccount('held', o.gatewayId), -o.matured],
    [systemAccount('commission'), -o.commission],
    [gatewayAccount('refunding', o.gatewayId), o.maturing + o.matured + o.commission],
  ]);
}

/** A refund cannot be paid: everything is as before it was ordered. */
export function cancelRefund(o: PoolShare & { commission: Coins }): Posting[] {
  return orderRefund(o).map((posting) => ({ ...posting, amount: -posting.amount }));
}

/** A refund reached its recipient; what the platform had borne of its commission is given back to the platform. */
export function payRefund(r: { gatewayId: string; assetId: string; amount: Coins; platformCommission: Coins }): Posting[] {
  return balanced(r.assetId, [
    [gatewayAccount('refunding', r.gatewayId), -r.amount],
    [systemAccount('chain'), r.amount],
    [systemAccount('commission'), -r.platformCommission],
    [systemAccount('platformExpense'), r.platformCommission],
  ]);
}

/** Withheld coins left for where the operator decided. */
export function payWithheld(w: { gatewayId: string; assetId: string; amount: Coins }): Posting[] {
  return balanced(w.assetId, [
    [gatewayAccount('withheld', w.gatewayId), -w.amount],
    [systemAccount('chain'), w.amount],
  ]);
}

/** Drops what moves nothing; refuses what does not sum to zero, before the database has to. */
function balanced(assetId: string, entries: [Account, bigint][]): Posting[] {
  if (entries.reduce((sum, [, change]) => sum + change, 0n) !== 0n) throw new Invariant('postings do not sum to zero');
  return entries.filter(([, change]) => change !== 0n).map(([account, change]) => ({ account, assetId, amount: change }));
}
