import type { Reads } from '#shared/platform/postgres.ts';
import type { Sought } from './operator-seeks.ts';

/** Hits of one kind that are looked at; a search shows no more of all kinds together. */
export const HITS = 20;

/** Which payments, deposits and cashouts are of one amount, the newest of each. */
export interface OfAmount {
  payments: string[];
  deposits: string[];
  settlements: string[];
}

/** A transaction, or its plan, of ours. Amounts are exact decimal text. */
export interface FoundPayout {
  id: string;
  gatewayId: string | null;
  purpose: string;
  status: string;
  amount: string;
  assetSymbol: string;
  network: string;
  createdAt: Date;
}

/** An address of ours, or one that somebody is paid at. */
export interface FoundAddress {
  id: string;
  gatewayId: string | null;
  address: string;
  network: string;
  /** What it is: a payment's deposit address, or a role of a wallet. */
  role: string;
  paymentId: string | null;
  at: Date | null;
}

/**
 * Finds what is of exactly this amount: invoice amounts as they were sent, in any of the spellings given, and coins that came or are paid out. Reads payments_amount,
 * deposits_amount and settlements_amount; locks nothing.
 */
export async function seekAmount(sql: Reads, amount: string, spellings: readonly string[]): Promise<OfAmount> {
  const rows = await sql<{ kind: keyof OfAmount; id: string }[]>`
    (select 'payments' as kind, p.id from unnest(${spellings}::text[]) w (text) cross join lateral (
      select p.id, p.created_at from payments p where p.amount = w.text order by p.created_at desc, p.id desc limit ${HITS + 1}) p
      order by p.created_at desc, p.id desc limit ${HITS + 1})
    union all (select 'deposits', d.id from deposits d where d.amount = ${amount}::text::numeric order by d.first_seen_at desc, d.id desc limit ${HITS + 1})
    union all (select 'settlements', s.id from settlements s where s.amount = ${amount}::text::numeric order by s.created_at desc, s.id desc limit ${HITS + 1})`;
  const of = (kind: keyof OfAmount): string[] => rows.filter((row) => row.kind === kind).map(({ id }) => id);
  return { payments: of('payments'), deposits: of('deposits'), settlements: of('settlements') };
}

/**
 * Finds payouts by their id, a transaction signed for them, or, where they pay somebody back, their recipient. Reads the keys of payouts and payout_attempts, and
 * payouts_repaid; locks nothing.
 */
export async function searchPayouts(sql: Reads, { id, txids, addresses }: Pick<Sought, 'id' | 'txids' | 'addresses'>): Promise<FoundPayout[]> {
  return sql<FoundPayout[]>`
    select o.id, coalesce(s.gateway_id, p.gateway_id) as "gatewayId", o.purpose, o.status,
      trim_scale(o.raw_amount::numeric / power(10::numeric, a.decimals))::text as amount, a.symbol as "assetSymbol", n.name as network, o.created_at
    from (
      select o.id from payouts o where o.id = ${id}::uuid
      union select t.payout_id from payout_attempts t where t.txid = any(${txids})
      union select r.id from unnest(${addresses}::text[]) w (address) cross join lateral (
        select o.id from payouts o where o.recipient = w.address and o.purpose in ('refund', 'withheld') order by o.created_at desc, o.id desc limit ${HITS}) r) f
    join payouts o on o.id = f.id join assets a on a.id = o.asset_id join networks n on n.id = o.network_id
    left join settlements s on s.id = o.settlement_id left join payments p on p.id = o.payment_id
    order by o.created_at desc, o.id desc limit ${HITS}`;
}

/** Finds addresses of ours: of payments, and of wallets. Reads deposit_addresses_address and the addresses of each network's wallets; locks nothing. */
export async function searchAddresses(sql: Reads, addresses: readonly string[]): Promise<FoundAddress[]> {
  if (addresses.length === 0) return [];
  return sql<FoundAddress[]>`
    (select d.id, p.gateway_id, d.address, n.name as network, 'deposit' as role, d.payment_id, d.created_at as at
      from deposit_addresses d join payments p on p.id = d.payment_id join networks n on n.id = d.network_id
      where d.address = any(${addresses}) order by d.created_at desc limit ${HITS})
    union all
    (select w.id, null, w.address, n.name, w.role, null, null from networks n join wallets w on w.network_id = n.id
      where w.address = any(${addresses}) and w.role <> 'deposit' limit ${HITS})`;
}
