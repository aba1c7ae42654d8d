import { type Coins, formatAmount, parseTrusted } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';

/** Where a credit is with its verdict: not asked for, awaited, or given. */
export type Screening = 'none' | 'waiting' | 'clean' | 'flagged';

/** What one deposit added to a gateway's balance. */
export interface Credit {
  /** Id of the deposit it came from, the first one when a block's transfers were summed. */
  id: string;
  gatewayId: string;
  assetId: string;
  paymentId: string;
  networkId: string;
  pool: Pool;
  screening: 'none' | 'waiting';
  gross: Coins;
  networkFee: Coins;
  commission: Coins;
  net: Coins;
  /** Block that must be final before it can be withdrawn. */
  matureHeight: number;
  /** Seconds of service time from now until it can be withdrawn. */
  maturitySeconds: number;
}

/** Records a credit made now; its whole net amount is still to be drawn. */
export async function insertCredit(tx: Tx, credit: Credit): Promise<void> {
  await tx`
    insert into credits (id, gateway_id, asset_id, payment_id, pool, screening, gross, network_fee, commission, net, remaining, credited_at, matures_at, mature_height, network_id)
    values (${credit.id}, ${credit.gatewayId}, ${credit.assetId}, ${credit.paymentId}, ${credit.pool}, ${credit.screening}, ${formatAmount(credit.gross)}::text::numeric,
      ${formatAmount(credit.networkFee)}::text::numeric, ${formatAmount(credit.commission)}::text::numeric, ${formatAmount(credit.net)}::text::numeric,
      ${formatAmount(credit.net)}::text::numeric, sluice_now(), sluice_now() + make_interval(secs => ${credit.maturitySeconds}), ${credit.matureHeight}, ${credit.networkId})`;
}

/** True when a network fee was already taken from this payment on this network: it is due once (decisions 11). */
export async function hasCreditOnNetwork(reads: Reads, paymentId: string, networkId: string): Promise<boolean> {
  const rows = await reads`select 1 from credits where payment_id = ${paymentId} and network_id = ${networkId} limit 1`;
  return rows.length > 0;
}

/** Ids of credits whose time has come, whose block is final and which wait for no verdict, oldest first; takes no lock. */
export async function listMaturingCredits(reads: Reads, limit: number): Promise<string[]> {
  const rows = await reads<{ id: string }[]>`
    select c.id from credits c join chain_tips t on t.network_id = c.network_id
    where c.matured_at is null and c.screening <> 'waiting' and c.taken is null and c.matures_at <= sluice_now() and c.mature_height <= t.final_height
    order by c.matures_at, c.id limit ${limit}`;
  return rows.map((row) => row.id);
}

export interface MaturedCredit {
  id: string;
  gatewayId: string;
  assetId: string;
  pool: Pool;
  net: Coins;
}

/** Marks one credit as withdrawable and locks it until commit; undefined when somebody else did, or when it is being decided about right now. */
export async function markMatured(tx: Tx, id: string): Promise<MaturedCredit | undefined> {
  const [row] = await tx<(Omit<MaturedCredit, 'net'> & { net: string })[]>`
    update credits set matured_at = sluice_now()
    where id = (select id from credits where id = ${id} and matured_at is null and screening <> 'waiting' and taken is null for update skip locked)
    returning id, gateway_id as "gatewayId", asset_id as "assetId", pool, net`;
  return row && { ...row, net: parseTrusted(row.net) };
}
