import { type Coins, formatAmount, parseTrusted } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { EventDetail } from './operator-timelines.ts';

/** What of one credit a refund pays back. */
export interface RefundedCredit {
  creditId: string;
  net: Coins;
  /** Reversed, whoever had borne it. */
  commission: Coins;
}

/** Coins of a held payment that an operator ordered to be paid back (decision 0012). */
export interface StoredRefund {
  id: string;
  paymentId: string;
  gatewayId: string;
  assetId: string;
  networkId: string;
  /** Canonical. */
  recipient: string;
  /** What the recipient gets. */
  amount: Coins;
  status: 'ordered' | 'paid' | 'failed';
  reason: string;
  /** Authenticates what was ordered. */
  intentMac: Uint8Array;
  orderedAt: Date;
  endedAt: Date | null;
  txid: string | null;
  failure: string | null;
}

type Row = Omit<StoredRefund, 'amount'> & { amount: string };

/** Adds an ordered refund, dated now, with the credits it is made of, which the caller has locked. */
export async function insertRefund(
  tx: Tx,
  refund: Pick<StoredRefund, 'id' | 'paymentId' | 'gatewayId' | 'assetId' | 'networkId' | 'recipient' | 'amount' | 'reason' | 'intentMac'>,
  credits: readonly RefundedCredit[],
): Promise<void> {
  await tx`
    insert into aml_refunds (id, payment_id, gateway_id, asset_id, network_id, recipient, amount, status, reason, intent_mac, ordered_at)
    values (${refund.id}, ${refund.paymentId}, ${refund.gatewayId}, ${refund.assetId}, ${refund.networkId}, ${refund.recipient},
      ${formatAmount(refund.amount)}::text::numeric, 'ordered', ${refund.reason}, ${Buffer.from(refund.intentMac)}, sluice_now())`;
  await tx`
    insert into aml_refund_credits (refund_id, credit_id, net, commission)
    select ${refund.id}, part.id, part.net, part.commission
    from unnest(${credits.map((one) => one.creditId)}::uuid[], ${credits.map((one) => formatAmount(one.net))}::numeric[],
      ${credits.map((one) => formatAmount(one.commission))}::numeric[]) as part (id, net, commission)`;
}

/** Reads one refund; locks nothing. */
export async function findRefund(sql: Reads, id: string): Promise<StoredRefund | undefined> {
  const [row] = await sql<Row[]>`select ${columns(sql)} from aml_refunds r where r.id = ${id}`;
  return row && fromRow(row);
}

/** What a refund is made of, in credit order; locks nothing. */
export async function listRefundedCredits(sql: Reads, refundId: string): Promise<RefundedCredit[]> {
  const rows = await sql<{ creditId: string; net: string; commission: string }[]>`
    select credit_id, net, commission from aml_refund_credits where refund_id = ${refundId} order by credit_id`;
  return rows.map((row) => ({ creditId: row.creditId, net: parseTrusted(row.net), commission: parseTrusted(row.commission) }));
}

/** Ordered refunds of a network whose coins are final by the maturity rule (decisions 5), the first ordered first; locks nothing. */
export async function listPayableRefunds(sql: Reads, networkId: string): Promise<StoredRefund[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from aml_refunds r
    where r.network_id = ${networkId} and r.status = 'ordered' and not exists (
      select 1 from aml_refund_credits p join credits c on c.id = p.credit_id left join chain_tips t on t.network_id = c.network_id
      where p.refund_id = r.id and c.mature_height > coalesce(t.final_height, -1))
    order by r.ordered_at, r.id`;
  return rows.map(fromRow);
}

/** Ends a refund; the caller holds its payment's lock. False, with nothing written, when it has ended already. */
export async function endRefund(tx: Tx, id: string, end: { txid: string } | { failure: string }): Promise<boolean> {
  const paid = 'txid' in end;
  const rows = await tx`
    update aml_refunds set status = ${paid ? 'paid' : 'failed'}, txid = ${paid ? end.txid : null}, failure = ${paid ? null : end.failure}, ended_at = sluice_now()
    where id = ${id} and status = 'ordered' returning id`;
  return rows.length === 1;
}

function columns(sql: Reads) {
  return sql`r.id, r.payment_id, r.gateway_id, r.asset_id, r.network_id, r.recipient, r.amount, r.status,
    r.reason, r.intent_mac, r.ordered_at, r.ended_at, r.txid, r.failure`;
}

function fromRow(row: Row): StoredRefund {
  return { ...row, amount: parseTrusted(row.amount) };
}

/** Reads what screening and operators made of a payment, oldest first; locks nothing. */
export async function listAmlEventDetails(sql: Reads, paymentId: string): Promise<EventDetail[]> {
  return sql<
    EventDetail[]
  >`select event, from_status as "from", to_status as "to", facts, actor, at from aml_events where payment_id = ${paymentId} order by id`;
}

export interface RefundDetail {
  id: string;
  assetSymbol: string;
  network: string;
  /** Canonical. */
  address: string;
  amount: string;
  status: string;
  reason: string;
  orderedAt: Date;
  endedAt: Date | null;
  txHash: string | null;
  failure: string | null;
}

/** Reads the refunds that were ordered of a payment, oldest first, money as exact decimal text; locks nothing. */
export async function listRefundDetails(sql: Reads, paymentId: string): Promise<RefundDetail[]> {
  return sql<RefundDetail[]>`
    select r.id, a.symbol as "assetSymbol", n.name as network, r.recipient as address, trim_scale(r.amount)::text as amount, r.status, r.reason,
      r.ordered_at, r.ended_at, r.txid as "txHash", r.failure
    from aml_refunds r join assets a on a.id = r.asset_id join networks n on n.id = r.network_id
    where r.payment_id = ${paymentId} order by r.ordered_at, r.id`;
}

/** Allows one more transfer after this one, which failed; false when that was allowed before. */
export async function allowFurther(tx: Tx, allowed: { payoutId: string; reason: string; person: string }): Promise<boolean> {
  const rows = await tx`
    insert into further_transfers (payout_id, reason, person) values (${allowed.payoutId}, ${allowed.reason}, ${allowed.person})
    on conflict (payout_id) do nothing returning 1`;
  return rows.length === 1;
}

/** Whether an operator allows one more transfer after this one. Locks nothing. */
export async function isFurtherAllowed(sql: Reads, payoutId: string): Promise<boolean> {
  return (await sql`select 1 from further_transfers where payout_id = ${payoutId}`).length === 1;
}
