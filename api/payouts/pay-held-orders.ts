import type { Chain, Deps } from '#api/deps.ts';
import { refundProblem, withheldProblem } from '#api/intents/held-order.ts';
import type { Unproven } from '#api/intents/say.ts';
import { stopUnproven } from '#api/intents/stop-unproven.ts';
import { listPayableRefunds, type StoredRefund } from '#api/store/aml.ts';
import { findAsset, type StoredAsset } from '#api/store/assets.ts';
import { findMisplaced, listMisplaced, type MisplacedCoins } from '#api/store/misplaced-coins.ts';
import { listRefundPayouts, listWithheldPayouts } from '#api/store/payouts.ts';
import { findWithheldTransfer, listOrderedWithheld, lockWithheldTransfer, type WithheldTransfer } from '#api/store/withheld-transfers.ts';
import { Invariant } from '#shared/core/errors.ts';
import { toUnits } from '#shared/core/money.ts';
import { withEach, withEachAtOnce } from '#shared/core/with-each.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';
import { nextTransfer, readTransfers } from './next-transfer.ts';
import { payoutNumberAfter, type Order, reasonOf, sendOrder } from './send.ts';
import { poolAddress } from '#api/payouts/rules/wallets.ts';

/** What is to be sent, how it is called in logs, and what nobody proved of it. */
interface Ordered {
  name: string;
  order: Order;
  unproven: Unproven | null;
}

/**
 * Plans every ordered refund and transfer of withheld coins that is not sent yet (decisions 10); returns how many.
 * Each needs coins of its own, so one that waits does not hold up the others, nor does one of which nobody foresaw what is wrong with it, or a network whose nodes do not answer.
 */
export function payHeldOrders(deps: Deps): Promise<number> {
  return sendEach(deps, listOrders);
}

/**
 * Plans every transfer between hot and held wallet that a change of pool requires (decisions 10); returns how many. It goes through all payments that ever
 * changed theirs, which takes longer the more there are, so no order waits for it.
 */
export function moveMisplacedCoins(deps: Deps): Promise<number> {
  return sendEach(deps, listMoves);
}

async function sendEach(deps: Deps, list: (deps: Deps, chain: Chain) => Promise<Ordered[]>): Promise<number> {
  const sendAll = async (chain: Chain): Promise<number> => {
    const network = chain.config.name;
    // What stops one of a wallet's orders like this stops all of them: a node that is away is waited for once.
    const closed = new Set<Pool>();
    const send = async ({ name, order, unproven }: Ordered): Promise<number> => {
      if (closed.has(order.pool)) return 0;
      const outcome = unproven === null ? await sendOrder(deps, chain, order) : await stopUnproven(deps, { network, what: name }, unproven);
      if ('closed' in outcome) closed.add(order.pool);
      const reason = reasonOf(outcome);
      if (reason !== null) deps.log.warn({ order: name, network, reason }, 'coins of the held pool cannot be sent yet');
      return 'planned' in outcome ? 1 : 0;
    };
    return withEach(await list(deps, chain), send, (err, { name }) => deps.log.error({ err, order: name, network }, 'coins of the held pool cannot be sent'));
  };
  return withEachAtOnce(deps.chains.values(), sendAll, (err, chain) =>
    deps.log.error({ err, network: chain.config.name }, 'coins of the held pool of a network cannot be sent'),
  );
}

async function listOrders(deps: Deps, chain: Chain): Promise<Ordered[]> {
  const { sql } = deps.db;
  const orders: Ordered[] = [];
  for (const refund of await listPayableRefunds(sql, chain.id)) {
    if (payoutNumberAfter(await listRefundPayouts(sql, refund.id)) === null) continue;
    const unproven = await refundProblem(sql, deps, refund);
    orders.push({ name: `refund ${refund.id}`, order: refundOrder(await assetOf(sql, refund.assetId), refund), unproven });
  }
  for (const transfer of await listOrderedWithheld(sql, chain.id)) {
    if (payoutNumberAfter(await listWithheldPayouts(sql, transfer.id)) === null) continue;
    const unproven = await withheldProblem(sql, deps, transfer);
    orders.push({ name: `withheld coins ${transfer.id}`, order: withheldOrder(await assetOf(sql, transfer.assetId), transfer), unproven });
  }
  return orders;
}

async function listMoves(deps: Deps, chain: Chain): Promise<Ordered[]> {
  const { sql } = deps.db;
  const moves: Ordered[] = [];
  for (const coins of await listMisplaced(sql, chain.id)) {
    if ((await nextTransfer(sql, coins)) === null) {
      const { failed } = await readTransfers(sql, coins);
      const { paymentId, assetId } = coins;
      if (failed !== undefined)
        deps.log.warn(
          { paymentId, assetId, network: chain.config.name, failure: failed.failure },
          'coins do not follow their payment until an operator allows one more transfer',
        );
      continue;
    }
    moves.push({ name: `coins of payment ${coins.paymentId}`, order: moveOrder(chain, await assetOf(sql, coins.assetId), coins), unproven: null });
  }
  return moves;
}

function refundOrder(asset: StoredAsset, refund: StoredRefund): Order {
  return {
    purpose: 'refund',
    settlementId: null,
    refundId: refund.id,
    pool: 'held',
    asset,
    recipient: refund.recipient,
    rawAmount: toUnits(refund.amount, asset.decimals) ?? 0n,
    locked: null,
    nextPayoutNumber: async (tx) => payoutNumberAfter(await listRefundPayouts(tx, refund.id)),
  };
}

function withheldOrder(asset: StoredAsset, transfer: WithheldTransfer): Order {
  return {
    purpose: 'withheld',
    settlementId: null,
    withheldId: transfer.id,
    pool: 'held',
    asset,
    recipient: transfer.recipient,
    rawAmount: toUnits(transfer.amount, asset.decimals) ?? 0n,
    locked: null,
    lock: (tx) => lockWithheldTransfer(tx, transfer.id),
    nextPayoutNumber: async (tx) =>
      (await findWithheldTransfer(tx, transfer.id))?.status === 'ordered' ? payoutNumberAfter(await listWithheldPayouts(tx, transfer.id)) : null,
  };
}

function moveOrder(chain: Chain, asset: StoredAsset, coins: MisplacedCoins): Order {
  return {
    purpose: 'held_release',
    settlementId: null,
    paymentId: coins.paymentId,
    pool: coins.from,
    asset,
    recipient: poolAddress(chain, coins.to),
    rawAmount: coins.rawAmount,
    locked: null,
    nextPayoutNumber: async (tx) => {
      const now = await findMisplaced(tx, coins);
      return now?.from === coins.from && now.rawAmount === coins.rawAmount ? nextTransfer(tx, coins) : null;
    },
  };
}

async function assetOf(sql: Reads, id: string): Promise<StoredAsset> {
  const asset = await findAsset(sql, id);
  if (asset === undefined) throw new Invariant(`asset ${id} does not exist`);
  return asset;
}
