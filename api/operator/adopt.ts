import { completeRefund } from '#api/aml/complete-refund.ts';
import { completeWithheld } from '#api/aml/end-withheld.ts';
import type { Chain, Deps } from '#api/deps.ts';
import { acceptancesOf } from '#api/intents/cashout.ts';
import { post } from '#api/ledger/post.ts';
import { claimedFields, claimSettlement, lockPool } from '#api/settlements/claim.ts';
import {
  findOutgoing,
  findParked,
  insertAdopted,
  type LeavingTransfer,
  listLeaving,
  listParkedPayable,
  listPayable,
  listPayableOrders,
  type OutgoingTransaction,
  reviveWallets,
  sumLost,
  listDisplaced,
} from '#api/store/adopted.ts';
import { storeAddress } from '#api/store/address-book.ts';
import { advance, appendEvent } from '#api/store/advance.ts';
import { findRefund } from '#api/store/aml.ts';
import { readClock } from '#api/store/clock.ts';
import { listSettlementPayouts, listRefundPayouts, listWithheldPayouts } from '#api/store/payouts.ts';
import { insertSettlement, lockSettlement, setClaim, type KeyedSettlement } from '#api/store/settlements.ts';
import { findWalletByAddress } from '#api/store/wallets.ts';
import { lockWithheldTransfer } from '#api/store/withheld-transfers.ts';
import { Invariant, invalid, ServiceError } from '#shared/core/errors.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { amount as coins, type Coins, formatAmount, fromUnits, parseTrusted, toUnits } from '#shared/core/money.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';
import { regain } from '#state-machines/ledger/postings.ts';
import { NO_SETTLEMENT_FACTS } from '#state-machines/settlement/machine.ts';
import { coldAddress } from '#api/payouts/rules/cold.ts';
import { completeSettlement } from '#api/payouts/complete-settlement.ts';
import { endDisplaced, lockDisplaced } from '#api/payouts/end-displaced.ts';
import { endPayouts } from '#api/payouts/end-payouts.ts';
import { spendsOutputs } from '#api/payouts/rules/families.ts';

/** What a lost transaction was, as an operator says. */
export type AdoptAs =
  /** It paid this cashout. */
  | { settlementId: string }
  /** It paid this refund. */
  | { refundId: string }
  /** It paid this transfer of withheld coins. */
  | { withheldId: string }
  /** It paid a cashout whose row is lost too: one is written for this gateway, of `amount` (what arrived, when null), fee included. */
  | { gatewayId: string; amount: Coins | null }
  /** It moved nothing, and used the nonce or the anchor of a payout up, which is then planned anew. */
  | { close: true }
  /** It moved coins between our own addresses, or to cold storage; or, `lost`, nobody will answer for what left. */
  | { lost: boolean };

export interface Adoption {
  settlementId: string | null;
  revivedWallets: string[];
  /** Payouts that cannot be mined any more beside it, and are planned anew where something is still owed. */
  endedPayouts: string[];
}

/**
 * Makes a transaction of ours that the database lost known again, by the word of an operator: what it paid is paid, and never again.
 * Until now its coins were booked as lost. A parked cashout that it paid claims first what it took. Payouts that held its nonce or its
 * anchor for something else are ended. Locks the settlement or refund, then wallets and payouts, then ledger accounts.
 * @throws not_found; conflict when it is known, not final, or something of what it paid may still be paid otherwise; validation_error
 *   naming what the transaction did not do
 */
export async function adoptTransaction(tx: Tx, deps: Deps, chain: Chain, adopt: { txid: string; as: AdoptAs; reason: string }): Promise<Adoption> {
  const { txid, as, reason } = adopt;
  // Before anything is looked at: whoever comes second waits here, and then finds it known.
  const settlement = 'settlementId' in as ? await lockSettlement(tx, as.settlementId) : undefined;
  const found = await findOutgoing(tx, chain.id, txid);
  if (found === undefined) throw new ServiceError('not_found');
  if (!found.unexplained) throw new ServiceError('conflict', { message: `Transaction ${txid} is known.` });
  if (!found.final || !found.booked)
    throw new ServiceError('conflict', { message: `Transaction ${txid} is not final and booked yet; try again in a few blocks.` });
  await lockDisplaced(tx, found);
  const leaving = await listLeaving(tx, chain.id, txid);
  let settlementId: string | null = null;
  let refundId: string | null = null;
  let withheldId: string | null = null;
  if ('settlementId' in as) settlementId = await asSettlement(tx, deps, chain, found, leaving, settlement);
  else if ('refundId' in as) refundId = await asRefund(tx, deps, chain, found, leaving, as.refundId);
  else if ('withheldId' in as) withheldId = await asWithheld(tx, deps, chain, found, leaving, as.withheldId);
  else if ('gatewayId' in as) settlementId = await asLostSettlement(tx, deps, chain, found, leaving, as);
  else if ('close' in as) await refuseUnused(tx, found, leaving);
  else
    await refuseUnnamed(
      tx,
      leaving.filter(({ recipient }) => recipient !== coldAddress(chain)),
      as.lost,
    );
  if (!(await insertAdopted(tx, { networkId: chain.id, txid, settlementId, refundId, withheldId, reason })))
    throw new ServiceError('conflict', { message: `Transaction ${txid} is known.` });
  // After what it paid: whatever else held its nonce or its anchor can never be mined.
  const endedPayouts = await endDisplaced(tx, deps, found);
  return { settlementId, endedPayouts, revivedWallets: await reviveWallets(tx, chain.id) };
}

async function asSettlement(
  tx: Tx,
  deps: Deps,
  chain: Chain,
  found: OutgoingTransaction,
  leaving: readonly LeavingTransfer[],
  settlement: KeyedSettlement | undefined,
): Promise<string> {
  if (settlement === undefined || settlement.networkId !== found.networkId) throw invalid('settlementId', 'is not a cashout on this network');
  const paid = await paidOf(tx, deps, { settlement, leaving, payer: await payingPool(tx, chain, found.sender) });
  const problem = await endPayouts(tx, await listSettlementPayouts(tx, settlement.id), found);
  if (problem !== null) throw new ServiceError('conflict', { message: `The cashout may be paid otherwise: ${problem}.` });
  if ('claim' in paid) await claimLate(tx, deps, chain, { found, settlement, paid: paid.claim });
  const steps: Partial<Record<string, readonly ('APPROVED' | 'DISPATCHED')[]>> = { PENDING_APPROVAL: ['APPROVED', 'DISPATCHED'], PROCESSING: [] };
  for (const event of steps[settlement.status] ?? ['DISPATCHED']) await move(tx, settlement.id, event, found.txid);
  const received: Coins = 'claim' in paid ? fromUnits(paid.claim.rawAmount, paid.claim.decimals) : paid.received;
  await pay(tx, deps, found, { settlementId: settlement.id, assetId: settlement.assetId, received });
  return settlement.id;
}

/**
 * What a transaction paid of a cashout: exactly its net amount; or, where the books have it parked, or claimed again since they came back, at
 * a fee of another day, the rest of its amount after that fee.
 * @throws conflict when it is over; validation_error when the transaction did not pay it
 */
async function paidOf(
  tx: Tx,
  deps: Deps,
  { settlement, leaving, payer }: { settlement: KeyedSettlement; leaving: readonly LeavingTransfer[]; payer: Pool | null },
): Promise<{ received: Coins } | { claim: LeavingTransfer }> {
  const { status, netAmount, amount, decimals, assetId, canonicalAddress: recipient } = settlement;
  if (!['PENDING_APPROVAL', 'REQUESTED', 'PROCESSING', 'UNDERFUNDED', 'WAITING_AML_CREDIT'].includes(status))
    throw new ServiceError('conflict', { message: `The cashout is ${status}.` });
  if (payer !== null && (settlement.pool ?? payer) !== payer) throw invalid('settlementId', 'is to be paid from the wallet of the other pool');
  if (netAmount !== null && leaving.some((one) => isSame(one, { assetId, recipient, rawAmount: toUnits(netAmount, decimals) }))) return { received: netAmount };
  // Only what was never signed for in these books may have been claimed by others that are lost.
  const parked = settlement.orderMac !== null && status !== 'PROCESSING';
  const within = leaving.find((one) => one.assetId === assetId && one.recipient === recipient && fromUnits(one.rawAmount, one.decimals) <= amount);
  if (parked && within !== undefined) {
    if (netAmount === null && !Array.isArray(await acceptancesOf(tx, deps, settlement)))
      throw new ServiceError('conflict', { message: 'The cashout is not what was asked for: somebody changed its row.' });
    return { claim: within };
  }
  const most = netAmount === null ? `at most ${formatAmount(amount)}` : formatAmount(netAmount);
  throw invalid('settlementId', `is to be paid ${most} ${settlement.assetSymbol} at ${settlement.address}, and this transaction did not`);
}

/**
 * Gives a cashout the claim that the lost rows had: its whole amount, of which what did not arrive was the fee. One that is claimed anew has
 * it already, at another fee. The signer never pays it: it is paid, and nobody says that it was accepted anew. Locks the pool's ledger account and the credits it draws.
 * @throws conflict when the pool does not hold it: then the loss stays booked, and nothing is settled
 */
async function claimLate(
  tx: Tx,
  deps: Deps,
  chain: Chain,
  { found, settlement, paid }: { found: OutgoingTransaction; settlement: KeyedSettlement; paid: LeavingTransfer },
): Promise<void> {
  const { id, gatewayId, amount, assetSymbol } = settlement;
  const received: Coins = fromUnits(paid.rawAmount, paid.decimals);
  const pool = settlement.pool ?? (await poolOf(tx, chain, found.sender));
  const who = { settlementId: id, gatewayId, assetId: paid.assetId, networkId: chain.id, recipient: paid.recipient, amount };
  const decision = {
    outcome: 'claim',
    pool,
    feeLocked: coins<'asset'>(amount - received),
    netAmount: received,
    routedByService: settlement.routedByService,
    riskScore: settlement.destinationRiskScore,
    people: 0,
    policy: null,
  } as const;
  const { feeLocked, netAmount, intentMac } = claimedFields(deps, who, { decision, feePayer: 'MERCHANT' });
  const columns = { fee_locked: formatAmount(feeLocked), net_amount: formatAmount(netAmount), intent_mac: intentMac };
  if (settlement.netAmount !== null) {
    await setClaim(tx, id, columns);
    return;
  }
  const available = await lockPool(tx, { gatewayId, assetId: paid.assetId, pool });
  if (available < amount)
    throw new ServiceError('conflict', {
      message: `The cashout took ${formatAmount(amount)} ${assetSymbol}, and the gateway has ${formatAmount(available)} in that pool: ${formatAmount(coins<'asset'>(amount - available))} are missing. What left stays booked as lost until then: adopt it again once the gateway has been credited that much (sluice deposit allocate), or, when its merchant has cancelled it, with --lost.`,
    });
  const event = settlement.status === 'UNDERFUNDED' ? 'ACTIVATED' : 'SCREENED';
  const facts = { ...NO_SETTLEMENT_FACTS, amount, available };
  const claimed = { ...columns, pool, wait_reason: null };
  await advance(tx, 'settlement', {
    id,
    event,
    actor: 'operator',
    facts: () => ({ facts, columns: claimed, record: { txid: found.txid } }),
    effects: { reserve: () => claimSettlement(tx, who, pool), dispatch: nothingToSend },
  });
}

async function asRefund(tx: Tx, deps: Deps, chain: Chain, found: OutgoingTransaction, leaving: readonly LeavingTransfer[], refundId: string): Promise<string> {
  const refund = await findRefund(tx, refundId);
  if (refund === undefined || refund.networkId !== found.networkId) throw invalid('refundId', 'is not a refund on this network');
  if (refund.status !== 'ordered') throw new ServiceError('conflict', { message: `The refund is ${refund.status}.` });
  const paid = leaving.find(
    (one) => one.assetId === refund.assetId && one.recipient === refund.recipient && fromUnits(one.rawAmount, one.decimals) === refund.amount,
  );
  if (paid === undefined) throw invalid('refundId', 'is a refund of another amount or to another address');
  if ((await payingPool(tx, chain, found.sender)) === 'green') throw invalid('refundId', 'is paid from the held wallet only');
  const problem = await endPayouts(tx, await listRefundPayouts(tx, refundId), found);
  if (problem !== null) throw new ServiceError('conflict', { message: `The refund may be paid otherwise: ${problem}.` });
  await regainLost(tx, found, { assetId: refund.assetId, coins: refund.amount });
  await completeRefund(tx, deps, { refundId, txid: found.txid });
  return refundId;
}

async function asWithheld(
  tx: Tx,
  deps: Deps,
  chain: Chain,
  found: OutgoingTransaction,
  leaving: readonly LeavingTransfer[],
  transferId: string,
): Promise<string> {
  const transfer = await lockWithheldTransfer(tx, transferId);
  if (transfer === undefined || transfer.networkId !== found.networkId) throw invalid('withheldId', 'is not a transfer of withheld coins on this network');
  if (transfer.status !== 'ordered') throw new ServiceError('conflict', { message: `The transfer is ${transfer.status}.` });
  const { assetId, recipient, amount } = transfer;
  if (!leaving.some((one) => one.assetId === assetId && one.recipient === recipient && fromUnits(one.rawAmount, one.decimals) === amount))
    throw invalid('withheldId', 'is a transfer of another amount or to another address');
  if ((await payingPool(tx, chain, found.sender)) === 'green') throw invalid('withheldId', 'is paid from the held wallet only');
  const problem = await endPayouts(tx, await listWithheldPayouts(tx, transferId), found);
  if (problem !== null) throw new ServiceError('conflict', { message: `The transfer may be paid otherwise: ${problem}.` });
  await regainLost(tx, found, { assetId, coins: amount });
  await completeWithheld(tx, deps, { transferId, txid: found.txid });
  return transferId;
}

/**
 * Writes the cashout anew, from the pool of the wallet that paid it, so that its gateway's balance is what it was. Nobody says that it was accepted,
 * so that no signer could ever be made to pay it once more.
 */
async function asLostSettlement(
  tx: Tx,
  deps: Deps,
  chain: Chain,
  found: OutgoingTransaction,
  leaving: readonly LeavingTransfer[],
  { gatewayId, amount: asked }: { gatewayId: string; amount: Coins | null },
): Promise<string> {
  const [paid, other] = leaving;
  if (paid === undefined || other !== undefined) throw invalid('gatewayId', 'can be named for a transaction with one transfer only');
  const received: Coins = fromUnits(paid.rawAmount, paid.decimals);
  const amount = asked ?? received;
  if (amount < received) throw invalid('amount', `must be at least what arrived, ${formatAmount(received)}`);
  await refuseOpen(tx, gatewayId, paid, asked);
  const pool = await poolOf(tx, chain, found.sender);
  const available = await lockPool(tx, { gatewayId, assetId: paid.assetId, pool });
  if (available < amount)
    throw new ServiceError('conflict', {
      message: `The gateway has ${formatAmount(available)} ${paid.symbol} in that pool, and the cashout took ${formatAmount(amount)}.`,
    });
  const settlementId = uuidFrom(deps.randomBytes(16));
  const who = { settlementId, gatewayId, assetId: paid.assetId, networkId: chain.id, recipient: paid.recipient, amount };
  await claimSettlement(tx, who, pool);
  const address = chain.codec.display(paid.recipient);
  const fields = claimedFields(deps, who, {
    decision: {
      outcome: 'claim',
      pool,
      feeLocked: coins(amount - received),
      netAmount: received,
      routedByService: false,
      riskScore: null,
      people: 0,
      policy: null,
    },
    feePayer: 'MERCHANT',
  });
  await insertSettlement(tx, {
    id: settlementId,
    gatewayId,
    assetId: paid.assetId,
    networkId: chain.id,
    addressId: await storeAddress(tx, { id: uuidFrom(deps.randomBytes(16)), gatewayId, networkId: chain.id, address: paid.recipient, label: address }),
    address,
    amountText: formatAmount(amount),
    amount,
    route: pool === 'held' ? 'AML_HELD' : 'GREEN',
    pool,
    routedByService: false,
    riskScore: null,
    metadata: null,
    createdBy: null,
    start: { status: 'REQUESTED', dispatchDelaySeconds: 0, ...fields },
  });
  await appendEvent(tx, 'settlement', { id: settlementId, event: 'CREATED', from: null, to: 'REQUESTED', facts: { txid: found.txid }, actor: 'operator' });
  await move(tx, settlementId, 'DISPATCHED', found.txid);
  await pay(tx, deps, found, { settlementId, assetId: paid.assetId, received });
  return settlementId;
}

async function pay(tx: Tx, deps: Deps, found: OutgoingTransaction, paid: { settlementId: string; assetId: string; received: Coins }): Promise<void> {
  await regainLost(tx, found, { assetId: paid.assetId, coins: paid.received });
  const { now } = await readClock(tx);
  await completeSettlement(tx, deps, { settlementId: paid.settlementId, received: paid.received, txid: found.txid, now, actor: 'operator' });
}

/** Takes back what was booked as lost, as whoever was paid pays for it. A fee that is part of the loss, where coins are outputs, stays one. */
async function regainLost(tx: Tx, { networkId, txid }: OutgoingTransaction, { assetId, coins: lost }: { assetId: string; coins: Coins }): Promise<void> {
  if (parseTrusted(await sumLost(tx, { networkId, txid, assetId })) < lost) throw new Invariant(`transaction ${txid} was booked, but not as a loss`);
  if (!(await post(tx, { sourceKey: `adopted:${networkId}:${txid}`, kind: 'regain', postings: regain(assetId, lost) })))
    throw new Invariant(`transaction ${txid} was adopted before`);
}

/** What is adopted is not dispatched: the transaction that paid it is final. */
function nothingToSend(): Promise<void> {
  return Promise.resolve();
}

async function move(tx: Tx, id: string, event: 'APPROVED' | 'DISPATCHED', txid: string): Promise<void> {
  const facts = () => ({ facts: NO_SETTLEMENT_FACTS, record: { txid } });
  await advance(tx, 'settlement', { id, event, actor: 'operator', facts, effects: { dispatch: nothingToSend } });
}

/** A cashout that is written anew must not be one that is still in the books, where it would be paid again. */
async function refuseOpen(tx: Tx, gatewayId: string, paid: LeavingTransfer, asked: Coins | null): Promise<void> {
  const open = (await listPayable(tx, paid)).find((one) => one.gatewayId === gatewayId)?.settlementId;
  if (open !== undefined) throw new ServiceError('conflict', { message: `The gateway has a cashout of just that, which would be paid again: name ${open}.` });
  const parked = await findParked(tx, gatewayId, paid, asked === null ? null : formatAmount(asked));
  if (parked !== undefined)
    throw new ServiceError('conflict', {
      message: `The gateway has a parked cashout that may be this one, and would be paid again: name ${parked}, or say the amount of the other.`,
    });
}

/** Coins that left were for somebody, or are lost; never lost while somebody waits for just these, who would be paid again. */
async function refuseUnnamed(tx: Tx, leaving: readonly LeavingTransfer[], lost: boolean): Promise<void> {
  if (leaving.length === 0) return;
  const [payable, parked, orders] = await Promise.all(
    [listPayable, listParkedPayable, listPayableOrders].map(async (list) => (await Promise.all(leaving.map((one) => list(tx, one)))).flat()),
  );
  const may = [
    ...(payable ?? []).map((one) => one.settlementId),
    ...(parked ?? []).map((one) => `${one.settlementId} (have it cancelled first if it did not)`),
    ...(orders ?? []).map((one) => one.settlementId),
  ];
  if (lost && may.length === 0) return;
  const hint = may.length === 0 ? '' : ` It may have paid ${may.join(' or ')}.`;
  throw new ServiceError('conflict', {
    message: `Coins left us: name the cashout, the refund, the transfer or the gateway they were for, or say that they are lost.${hint}`,
  });
}

/** A close moves nothing and uses something up that a payout of ours holds. @throws validation_error naming close */
async function refuseUnused(tx: Tx, found: OutgoingTransaction, leaving: readonly LeavingTransfer[]): Promise<void> {
  if (leaving.length > 0) throw invalid('close', 'moves nothing away from us, and this transaction did');
  if ((await listDisplaced(tx, found)).length === 0)
    throw invalid('close', 'uses up the nonce or the anchor of a payout that is open, and this transaction did not');
}

/** Whose coins an address pays cashouts with; null where coins are outputs, which lie at addresses of either pool. @throws conflict when it pays none */
async function payingPool(tx: Tx, chain: Chain, sender: string): Promise<Pool | null> {
  if (spendsOutputs(chain.config.family)) return null;
  const role = (await findWalletByAddress(tx, chain.id, sender))?.role;
  if (role === 'hot') return 'green';
  if (role === 'held') return 'held';
  throw new ServiceError('conflict', { message: `Nothing is paid from ${chain.codec.display(sender)}.` });
}

/** The pool whose coins an address pays with; where coins are outputs, that of the wallet at it. */
async function poolOf(tx: Tx, chain: Chain, sender: string): Promise<Pool> {
  return (await payingPool(tx, chain, sender)) ?? ((await findWalletByAddress(tx, chain.id, sender))?.role === 'held' ? 'held' : 'green');
}

function isSame(
  a: Pick<LeavingTransfer, 'assetId' | 'recipient' | 'rawAmount'>,
  b: { assetId: string; recipient: string; rawAmount: bigint | undefined },
): boolean {
  return a.assetId === b.assetId && a.recipient === b.recipient && a.rawAmount === b.rawAmount;
}
