import type { TransferKind } from '#shared/core/chain-events.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { isUnexplained } from './adopted.ts';

/** What the chain shows one of our addresses doing: a transaction it signed, or a transfer at one of its ends. */
export interface OutgoingSighting {
  id: number;
  kind: TransferKind | 'sent';
  txid: string;
  ordinal: number;
  height: number;
  sender: string;
  recipient: string | null;
  contract: string | null;
  rawAmount: bigint | null;
  nonce: number | null;
  succeeded: boolean | null;
  rawFee: bigint | null;
  /** The payout whose stored bytes this is; null when the books know of none. */
  payoutId: string | null;
  senderOurs: boolean;
  recipientOurs: boolean;
  /** The recipient is a wallet, not a deposit address. */
  recipientWallet: boolean;
  /** It moves a configured asset; anybody can write a contract whose transfers say anything. */
  configured: boolean;
}

type Row = Omit<OutgoingSighting, 'rawAmount' | 'rawFee'> & { rawAmount: string | null; rawFee: string | null };

/**
 * Canonical sightings up to `finalHeight` that are about our own wallets and did not reach the books yet: everything an
 * address of ours signed or sent, what came to a wallet, and what else our own transactions moved to addresses of ours.
 * Deposits are not among them. In chain order; locks nothing.
 */
export async function listFinalOutgoing(sql: Reads, networkId: string, finalHeight: number): Promise<OutgoingSighting[]> {
  const rows = await sql<Row[]>`
    with unbooked as (
      select g.*, ${isOurs(sql, sql`g.sender`)} as sender_ours, ${isOurs(sql, sql`g.recipient`)} as recipient_ours, ${isConfigured(sql)} as configured,
        exists (select 1 from wallets w where w.network_id = g.network_id and w.address = g.recipient and w.role <> 'deposit') as recipient_wallet
      from sightings g where g.network_id = ${networkId} and g.canonical and g.booked_at is null and g.height <= ${finalHeight})
    select ${columns(sql)} from unbooked g left join payout_attempts t on t.txid = g.txid
    where g.kind = 'sent' or g.sender_ours or g.recipient_wallet or t.payout_id is not null
    order by g.height, g.position, g.kind = 'sent' desc, g.ordinal`;
  return rows.map((row) => ({
    ...row,
    rawAmount: row.rawAmount === null ? null : BigInt(row.rawAmount),
    rawFee: row.rawFee === null ? null : BigInt(row.rawFee),
  }));
}

/**
 * Addresses of ours that signed something, or lost some of a configured asset, on the canonical chain that no stored bytes
 * explain, with the transaction. What other contracts log about them is anybody's word. Locks nothing.
 */
export async function listUnknownOutgoing(
  sql: Reads,
  networkId: string,
): Promise<{ address: string; txid: string; walletId: string | null; halted: boolean }[]> {
  return sql`
    select distinct on (g.sender) g.sender as address, g.txid, w.id as "walletId", w.halted_reason is not null as halted
    from sightings g left join wallets w on w.network_id = g.network_id and w.address = g.sender
    where g.network_id = ${networkId} and g.canonical and g.booked_at is null
      and ${isUnexplained(sql, sql`g.txid`)}
      and (g.kind = 'sent' or (g.raw_amount > 0 and ${isConfigured(sql)})) and ${isOurs(sql, sql`g.sender`)}
    order by g.sender, g.height, g.position`;
}

/** Marks sightings as having reached the books, once. */
export async function markBooked(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx`update sightings set booked_at = sluice_now() where id = any(${[...ids]}::bigint[]) and booked_at is null`;
}

/** An address is ours when it is a wallet of the network or a deposit address of any: those exist on every network of their family. */
function isOurs(sql: Reads, address: ReturnType<Reads>) {
  return sql`(exists (select 1 from wallets w where w.network_id = g.network_id and w.address = ${address})
    or exists (select 1 from deposit_addresses d where d.address = ${address}))`;
}

function isConfigured(sql: Reads) {
  return sql`(g.contract is null or exists (select 1 from assets a where a.network_id = g.network_id and a.contract = g.contract))`;
}

function columns(sql: Reads) {
  return sql`g.id, g.kind, g.txid, g.ordinal, g.height, g.sender, g.recipient, g.contract, g.raw_amount as "rawAmount", g.nonce, g.succeeded, g.raw_fee as "rawFee",
    t.payout_id as "payoutId", g.sender_ours as "senderOurs", g.recipient_ours as "recipientOurs", g.recipient_wallet as "recipientWallet", g.configured`;
}
