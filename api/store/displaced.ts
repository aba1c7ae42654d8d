import type { Reads } from '#shared/platform/postgres.ts';
import type { OutgoingTransaction } from './adopted.ts';

/** A payout of which nothing can be mined beside a transaction that used its nonce or its anchor. */
export interface DisplacedPayout {
  id: string;
  walletId: string;
  settlementId: string | null;
}

/**
 * The open payouts whose nonce or whose anchor a transaction has used, other than by their own stored bytes. A sweep, or coins that follow their
 * payment, of exactly what that transaction moved is not among them: it is what the transaction was, and must not be made again. Locks nothing.
 */
export async function listDisplaced(sql: Reads, by: OutgoingTransaction): Promise<DisplacedPayout[]> {
  return sql<DisplacedPayout[]>`
    select p.id, p.wallet_id as "walletId", p.settlement_id as "settlementId" from payouts p join wallets w on w.id = p.wallet_id join assets a on a.id = p.asset_id
    where p.network_id = ${by.networkId} and p.status in ('PLANNED', 'SIGNED', 'BROADCAST', 'REPLACING')
      and (p.nonce = ${by.nonce}::bigint and w.address = ${by.sender} or p.anchor is not null and exists (
        select 1 from sightings g join spent_outputs x on x.sighting_id = g.id
        where g.network_id = p.network_id and g.txid = ${by.txid} and g.canonical and x.txid || ':' || x.vout = p.anchor))
      and not exists (select 1 from payout_attempts t where t.payout_id = p.id and t.txid = ${by.txid})
      and not (p.purpose in ('sweep', 'held_release') and exists (
        select 1 from sightings m where m.network_id = p.network_id and m.txid = ${by.txid} and m.canonical and m.kind <> 'sent' and m.recipient = p.recipient
          and m.contract is not distinct from a.contract and m.raw_amount = p.raw_amount))
    order by p.settlement_id nulls last, p.id`;
}

/**
 * The final transaction that has used a payout's nonce, or spent its anchor, though none of its own bytes did, by the word of an operator
 * (decision 0024); undefined when there is none. Locks nothing.
 */
export async function findDisplacer(sql: Reads, payoutId: string): Promise<string | undefined> {
  const [row] = await sql<{ txid: string }[]>`
    select g.txid from payouts p join wallets w on w.id = p.wallet_id
      join sightings g on g.network_id = p.network_id and g.kind = 'sent' and g.canonical
      join adopted_transactions d on d.network_id = g.network_id and d.txid = g.txid
      join chain_tips t on t.network_id = g.network_id and g.height <= t.final_height
    where p.id = ${payoutId} and not exists (select 1 from payout_attempts b where b.txid = g.txid)
      and (p.nonce = g.nonce and g.sender = w.address
        or p.anchor is not null and exists (select 1 from spent_outputs x where x.sighting_id = g.id and x.txid || ':' || x.vout = p.anchor))
    order by g.id limit 1`;
  return row?.txid;
}
