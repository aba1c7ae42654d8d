import { type Coins, formatAmount, parseTrusted } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { drawInOrder } from '#state-machines/ledger/draw.ts';

/** Coins kept from a gateway that two people sent somewhere (decision 0032). */
export interface WithheldTransfer {
  id: string;
  gatewayId: string;
  assetId: string;
  networkId: string;
  /** Canonical. */
  recipient: string;
  /** What the recipient gets. */
  amount: Coins;
  status: 'ordered' | 'paid' | 'failed';
  reason: string;
  proposedBy: string;
  confirmedBy: string;
  /** Authenticates what was ordered. */
  intentMac: Uint8Array;
  orderedAt: Date;
  endedAt: Date | null;
  txid: string | null;
  failure: string | null;
}

/** The same without what proves it. */
export type ShownWithheldTransfer = Omit<WithheldTransfer, 'intentMac'>;

type Row = Omit<WithheldTransfer, 'amount'> & { amount: string };

/** Adds an ordered transfer, dated now; the caller holds the withheld account it is paid out of. */
export async function insertWithheldTransfer(tx: Tx, t: Omit<WithheldTransfer, 'status' | 'orderedAt' | 'endedAt' | 'txid' | 'failure'>): Promise<void> {
  await tx`
    insert into withheld_transfers (id, gateway_id, asset_id, network_id, recipient, amount, reason, proposed_by, confirmed_by, intent_mac)
    values (${t.id}, ${t.gatewayId}, ${t.assetId}, ${t.networkId}, ${t.recipient}, ${formatAmount(t.amount)}::text::numeric, ${t.reason},
      ${t.proposedBy}, ${t.confirmedBy}, ${Buffer.from(t.intentMac)})`;
}

/** Reads one; locks nothing. */
export async function findWithheldTransfer(sql: Reads, id: string): Promise<WithheldTransfer | undefined> {
  const [row] = await sql<Row[]>`select ${columns(sql)} from withheld_transfers t where t.id = ${id}`;
  return row && fromRow(row);
}

/** Reads one and locks it until commit, before wallets and payouts: nothing is planned for one that is being ended. */
export async function lockWithheldTransfer(tx: Tx, id: string): Promise<WithheldTransfer | undefined> {
  const [row] = await tx<Row[]>`select ${columns(tx)} from withheld_transfers t where t.id = ${id} for update`;
  return row && fromRow(row);
}

/** Ordered transfers of a network, the first ordered first; locks nothing. */
export async function listOrderedWithheld(sql: Reads, networkId: string): Promise<WithheldTransfer[]> {
  const rows = await sql<
    Row[]
  >`select ${columns(sql)} from withheld_transfers t where t.network_id = ${networkId} and t.status = 'ordered' order by t.ordered_at, t.id`;
  return rows.map(fromRow);
}

/** All of a gateway's as people may read them, newest first, 100 at most; locks nothing. */
export async function listWithheldTransfers(sql: Reads, gatewayId: string): Promise<ShownWithheldTransfer[]> {
  const rows = await sql<(Omit<ShownWithheldTransfer, 'amount'> & { amount: string })[]>`
    select ${shownColumns(sql)} from withheld_transfers t where t.gateway_id = ${gatewayId} order by t.ordered_at desc, t.id limit 100`;
  return rows.map((row) => ({ ...row, amount: parseTrusted(row.amount) }));
}

/** Ends one. False, with nothing written, when it has ended already. Locks its row. */
export async function endWithheldTransfer(tx: Tx, id: string, end: { txid: string } | { failure: string }): Promise<boolean> {
  const paid = 'txid' in end;
  const rows = await tx`
    update withheld_transfers set status = ${paid ? 'paid' : 'failed'}, txid = ${paid ? end.txid : null}, failure = ${paid ? null : end.failure}, ended_at = sluice_now()
    where id = ${id} and status = 'ordered' returning id`;
  return rows.length === 1;
}

/** What is kept of one asset of a gateway. */
export interface Withheld {
  assetId: string;
  /** All that is kept, as the credits behind the account have it. */
  kept: Coins;
  /** What of it came in blocks that are final by the maturity rule (decisions 5). */
  final: Coins;
  /** What ordered transfers speak for. */
  ordered: Coins;
}

/** What is kept from a gateway, by asset; true until commit while the withheld accounts are locked, and locks nothing. */
export async function listWithheld(sql: Reads, gatewayId: string): Promise<Withheld[]> {
  const rows = await sql<{ assetId: string; kept: string; final: string; ordered: string }[]>`
    select c.asset_id, sum(c.remaining)::text as kept,
      coalesce(sum(c.remaining) filter (where c.mature_height <= coalesce(t.final_height, -1)), 0)::text as final,
      coalesce((select sum(o.amount) from withheld_transfers o where o.gateway_id = ${gatewayId} and o.asset_id = c.asset_id and o.status = 'ordered'), 0)::text as ordered
    from credits c left join chain_tips t on t.network_id = c.network_id
    where c.gateway_id = ${gatewayId} and c.taken = 'withheld' group by c.asset_id order by c.asset_id`;
  return rows.map((row) => ({ assetId: row.assetId, kept: parseTrusted(row.kept), final: parseTrusted(row.final), ordered: parseTrusted(row.ordered) }));
}

/**
 * Takes a paid transfer out of the withheld credits, the first credited first, and records out of which. The caller holds the withheld
 * account; locks the credits. Answers what they did not hold.
 */
export async function drawWithheld(tx: Tx, t: Pick<WithheldTransfer, 'id' | 'gatewayId' | 'assetId' | 'amount'>): Promise<Coins> {
  const rows = await tx<{ id: string; remaining: string }[]>`
    select id, remaining from credits where gateway_id = ${t.gatewayId} and asset_id = ${t.assetId} and taken = 'withheld' and remaining > 0
    order by credited_at, id for update`;
  const { draws, missing } = drawInOrder(
    rows.map(({ id, remaining }) => ({ id, remaining: parseTrusted<'asset'>(remaining) })),
    t.amount,
  );
  const [ids, amounts] = [draws.map(({ id }) => id), draws.map(({ taken }) => formatAmount(taken))];
  await tx`
    update credits c set remaining = c.remaining - drawn.amount from unnest(${ids}::uuid[], ${amounts}::numeric[]) as drawn (id, amount) where c.id = drawn.id`;
  await tx`
    insert into withheld_transfer_credits (transfer_id, credit_id, amount)
    select ${t.id}, drawn.id, drawn.amount from unnest(${ids}::uuid[], ${amounts}::numeric[]) as drawn (id, amount)`;
  return missing;
}

function columns(sql: Reads) {
  return sql`${shownColumns(sql)}, t.intent_mac`;
}

function shownColumns(sql: Reads) {
  return sql`t.id, t.gateway_id, t.asset_id, t.network_id, t.recipient, t.amount, t.status, t.reason,
    t.proposed_by, t.confirmed_by, t.ordered_at, t.ended_at, t.txid, t.failure`;
}

function fromRow(row: Row): WithheldTransfer {
  return { ...row, amount: parseTrusted(row.amount) };
}
