import type { OwnOutput } from '#shared/chains/chain.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/** An output of ours on the canonical chain, whether final or not, and the role of the wallet it lies at: hot, funding, held, deposit. */
export interface HeldOutput extends OwnOutput {
  role: string;
}

type Row = Omit<HeldOutput, 'rawAmount'> & { rawAmount: string };

/** Every output of ours on a network that nothing on the canonical chain spends. Locks nothing. */
export async function listHeldOutputs(reads: Reads, networkId: string): Promise<HeldOutput[]> {
  const rows = await reads<Row[]>`
    select o.txid, o.vout, o.raw_amount::text as "rawAmount", o.address, o.role from (${ownOutputs(reads, networkId)}) o
    where not ${isSpent(reads, networkId, null)} order by o.txid, o.vout`;
  return rows.map(fromRow);
}

/** What they are worth together, by role, chain units. Locks nothing. */
export async function sumHeldOutputs(reads: Reads, networkId: string): Promise<Map<string, bigint>> {
  const rows = await reads<{ role: string; sum: string }[]>`
    select o.role, sum(o.raw_amount)::text as sum from (${ownOutputs(reads, networkId)}) o where not ${isSpent(reads, networkId, null)} group by o.role`;
  return new Map(rows.map(({ role, sum }) => [role, BigInt(sum)]));
}

/**
 * Those among `outputs` that are there by what was applied up to a block: made in it or before, and spent by nothing up to it.
 * Locks nothing.
 */
export async function listHeldAt(
  reads: Reads,
  { networkId, height, outputs }: { networkId: string; height: number; outputs: readonly Pick<OwnOutput, 'txid' | 'vout'>[] },
): Promise<HeldOutput[]> {
  if (outputs.length === 0) return [];
  const rows = await reads<Row[]>`
    select o.txid, o.vout, o.raw_amount::text as "rawAmount", o.address, o.role
    from unnest(${outputs.map((one) => one.txid)}::text[], ${outputs.map((one) => one.vout)}::int[]) as k (txid, vout)
      join (${ownOutputs(reads, networkId)}) o on o.txid = k.txid and o.vout = k.vout
    where o.height <= ${height} and not ${isSpent(reads, networkId, height)} order by o.txid, o.vout`;
  return rows.map(fromRow);
}

/**
 * Chain units that canonical sightings brought to our addresses or spent there without having reached the books yet, whoever
 * else pays in the same transactions. Locks nothing.
 */
export async function sumUnbookedOutputs(reads: Reads, networkId: string): Promise<bigint> {
  const [row] = await reads<{ sum: string }[]>`
    select coalesce(sum(case when g.kind = 'sent' then -s.spent when ${isOurs(reads)} then g.raw_amount else 0 end), 0)::text as sum
    from sightings g
      left join lateral (
        select sum(coalesce(o.raw_amount, p.raw_amount)) as spent from spent_outputs x
          left join sightings o on o.network_id = g.network_id and o.txid = x.txid and o.kind = 'native' and o.ordinal = x.vout and o.canonical
          left join opening_outputs p on p.network_id = g.network_id and p.txid = x.txid and p.vout = x.vout
        where x.sighting_id = g.id and g.kind = 'sent') s on true
    where g.network_id = ${networkId} and g.canonical and g.booked_at is null and g.kind in ('sent', 'native')`;
  return BigInt(row?.sum ?? '0');
}

/** True when a block is on the branch that was applied. Locks nothing. */
export async function isApplied(reads: Reads, networkId: string, hash: string): Promise<boolean> {
  return (await reads`select 1 from chain_blocks where network_id = ${networkId} and hash = ${hash} and canonical`).length === 1;
}

/** Outputs that were sighted at addresses of ours, and those a wallet held before it was watched; spent ones are among them. */
function ownOutputs(reads: Reads, networkId: string) {
  return reads`
    select g.txid, g.ordinal as vout, g.raw_amount, g.recipient as address, g.height, coalesce(w.role, 'deposit') as role
    from sightings g left join wallets w on w.network_id = g.network_id and w.address = g.recipient
    where g.network_id = ${networkId} and g.kind = 'native' and g.canonical and g.raw_amount > 0
      and ${isOurs(reads)}
    union all
    select p.txid, p.vout, p.raw_amount, p.address, p.height, w.role from opening_outputs p join wallets w on w.id = p.wallet_id
    where p.network_id = ${networkId} and p.raw_amount > 0 and not exists (
      select 1 from sightings g where g.network_id = p.network_id and g.txid = p.txid and g.kind = 'native' and g.ordinal = p.vout and g.canonical)`;
}

/** Whether something on the canonical chain spends output `o`, up to a block where one is given. */
function isSpent(reads: Reads, networkId: string, height: number | null) {
  return reads`exists (
    select 1 from spent_outputs s join sightings x on x.id = s.sighting_id
    where s.txid = o.txid and s.vout = o.vout and x.network_id = ${networkId} and x.canonical and (${height}::bigint is null or x.height <= ${height}::bigint))`;
}

/** Whether sighting `g` brings something to an address of ours. */
function isOurs(reads: Reads) {
  return reads`(exists (select 1 from wallets a where a.network_id = g.network_id and a.address = g.recipient)
    or exists (select 1 from deposit_addresses d where d.address = g.recipient))`;
}

function fromRow(row: Row): HeldOutput {
  return { ...row, rawAmount: BigInt(row.rawAmount) };
}
