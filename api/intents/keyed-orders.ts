import { refundMac } from './refund-mac.ts';
import { withheldMac } from './withheld-mac.ts';
import { intentMac, orderMac } from './order-mac.ts';
import { findRefund } from '#api/store/aml.ts';
import { type KeyedOrder, setCloseMark, setIntentMac, setOrderMac, setRefundMac, setWithheldMac } from '#api/store/keyed-orders.ts';
import { findPayout, lockPayout } from '#api/store/payouts.ts';
import { findKeyedSettlement, lockSettlement, type KeyedSettlement } from '#api/store/settlements.ts';
import { findWithheldTransfer } from '#api/store/withheld-transfers.ts';
import { closeMark } from './close-mark.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';

/** The MAC an order carries, what it would be under any key, and how it is given another one. */
export interface Macked {
  mac: Uint8Array | null;
  make(key: string): Uint8Array;
  store(tx: Tx, mac: Uint8Array): Promise<void>;
}

/** Reads what an order carries; undefined when it is gone or over. Locks nothing. */
export async function readOrder(sql: Reads, { kind, id }: KeyedOrder): Promise<Macked | undefined> {
  if (kind === 'settlement') return ofSettlement(await findKeyedSettlement(sql, id));
  if (kind === 'refund') return ofRefund(await findRefund(sql, id));
  if (kind === 'withheld') return ofWithheld(await findWithheldTransfer(sql, id));
  return ofClose(await findPayout(sql, id));
}

/** The same under the lock of its row, but for refunds and withheld coins, whose orders never change. */
export async function lockOrder(tx: Tx, { kind, id }: KeyedOrder): Promise<Macked | undefined> {
  if (kind === 'settlement') return ofSettlement(await lockSettlement(tx, id));
  if (kind === 'refund') return ofRefund(await findRefund(tx, id));
  if (kind === 'withheld') return ofWithheld(await findWithheldTransfer(tx, id));
  return ofClose(await lockPayout(tx, id));
}

function ofSettlement(row: KeyedSettlement | undefined): Macked | undefined {
  if (row === undefined || row.status === 'SETTLED' || row.status === 'REJECTED') return undefined;
  const { id, gatewayId, assetId, networkId, canonicalAddress: recipient, pool, amount, feeLocked, requestedRoute: route } = row;
  const who = { settlementId: id, gatewayId, assetId, networkId, recipient, amount };
  if (pool !== null && feeLocked !== null)
    return { mac: row.intentMac, make: (key) => intentMac(key, { ...who, pool, feeLocked }), store: (tx, mac) => setIntentMac(tx, id, mac) };
  return { mac: row.orderMac, make: (key) => orderMac(key, { ...who, pool, route }), store: (tx, mac) => setOrderMac(tx, id, mac) };
}

function ofRefund(refund: Awaited<ReturnType<typeof findRefund>>): Macked | undefined {
  if (refund?.status !== 'ordered') return undefined;
  return { mac: refund.intentMac, make: (key) => refundMac(key, refund), store: (tx, mac) => setRefundMac(tx, refund.id, mac) };
}

function ofWithheld(transfer: Awaited<ReturnType<typeof findWithheldTransfer>>): Macked | undefined {
  if (transfer?.status !== 'ordered') return undefined;
  return { mac: transfer.intentMac, make: (key) => withheldMac(key, transfer), store: (tx, mac) => setWithheldMac(tx, transfer.id, mac) };
}

function ofClose(payout: Awaited<ReturnType<typeof findPayout>>): Macked | undefined {
  const mark = payout?.plan.closeMark;
  if (payout === undefined || mark === undefined) return undefined;
  return {
    mac: Buffer.from(mark, 'hex'),
    make: (key) => Buffer.from(closeMark(key, { ...payout, payoutId: payout.id }), 'hex'),
    store: (tx, mac) => setCloseMark(tx, payout.id, Buffer.from(mac).toString('hex')),
  };
}
