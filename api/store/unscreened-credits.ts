import { type Coins, parseTrusted } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Screening } from './credits.ts';

/** A credit as far as screening it takes. */
export interface ScreenedCredit {
  id: string;
  paymentId: string;
  gatewayId: string;
  screening: Screening;
}

/** One transfer of a credit, as a provider is asked about it. */
export interface ScreenedTransfer {
  depositId: string;
  txid: string;
  /** Everybody whose coins it moved, canonical. */
  senders: string[];
  recipient: string;
  networkName: string;
  assetId: string;
  symbol: string;
  amount: Coins;
}

/** Reads one credit with its place in screening; locks nothing. */
export async function findScreenedCredit(sql: Reads, id: string): Promise<ScreenedCredit | undefined> {
  const [row] = await sql<ScreenedCredit[]>`select id, payment_id as "paymentId", gateway_id as "gatewayId", screening from credits where id = ${id}`;
  return row;
}

/** The transfers a credit was made from, in id order; locks nothing. */
export async function listScreenedTransfers(sql: Reads, creditId: string): Promise<ScreenedTransfer[]> {
  const rows = await sql<(Omit<ScreenedTransfer, 'amount'> & { amount: string })[]>`
    select d.id as "depositId", d.txid, 
      coalesce((select array_agg(distinct p.sender order by p.sender) from transfer_sums s, unnest(s.senders) p (sender)
        where d.parts is not null and s.network_id = d.network_id and s.block_hash = d.block_hash and s.txid = d.txid and s.kind = d.kind and s.ordinal = d.ordinal),
        array_prepend(d.sender, d.co_senders)) as senders, x.address as recipient, n.name as "networkName", d.asset_id as "assetId", a.symbol, d.amount
    from deposits d join deposit_addresses x on x.id = d.address_id join networks n on n.id = d.network_id join assets a on a.id = d.asset_id
    where d.credit_id = ${creditId} order by d.id`;
  return rows.map((row) => ({ ...row, amount: parseTrusted(row.amount) }));
}

/** Keeps what a provider said of one transfer. */
export async function setDepositVerdict(tx: Tx, depositId: string, verdict: { score: number; ref: string }): Promise<void> {
  await tx`update deposits set screening_score = ${verdict.score}, screening_ref = ${verdict.ref} where id = ${depositId}`;
}

/** Says which credit deposits are part of. */
export async function linkDeposits(tx: Tx, depositIds: readonly string[], creditId: string): Promise<void> {
  await tx`update deposits set credit_id = ${creditId} where id = any(${[...depositIds]}::uuid[])`;
}

/** Credits that wait for a verdict although no outbox row would ask for one; locks nothing. */
export async function listForgottenCredits(sql: Reads): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select c.id from credits c
    where c.screening = 'waiting' and c.credited_at < sluice_now() - interval '1 minute'
      and not exists (select 1 from outbox o where o.ref_id = c.id and o.topic = 'deposit.screen' and o.state = 'due')
    order by c.credited_at, c.id limit 500`;
  return rows.map((row) => row.id);
}
