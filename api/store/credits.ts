import { amount, type Coins, formatAmount, parseTrusted, zero } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Pool } from '#state-machines/ledger/accounts.ts';
import { Invariant } from '#shared/core/errors.ts';
import type { Taken, PooledCredit } from '#state-machines/aml/shares.ts';
import { type Draw, drawInOrder, shareDraws } from '#state-machines/ledger/draw.ts';
import { type CreditTally, listCreditTallies } from './tallies.ts';

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

/** The networks on which a network fee was already taken from this payment: it is due once on each (decisions 11). Locks nothing. */
export async function listCreditedNetworks(reads: Reads, paymentId: string): Promise<Set<string>> {
  const rows = await reads<{ networkId: string }[]>`select distinct network_id from credits where payment_id = ${paymentId}`;
  return new Set(rows.map(({ networkId }) => networkId));
}

/** Ids of credits whose time has come, whose block is final and which wait for no verdict, oldest first, those behind the credit `after`; takes no lock. */
export async function listMaturingCredits(reads: Reads, limit: number, after?: string): Promise<string[]> {
  return (await maturingCredits(reads, limit, after)).map((row) => row.id);
}

/** Whether there are any; a condition. */
export function isAnyMaturing(reads: Reads): ReturnType<Reads> {
  return reads`exists (${maturingCredits(reads, 1)})`;
}

function maturingCredits(reads: Reads, limit: number, after?: string) {
  return reads<{ id: string }[]>`
    select c.id from credits c join chain_tips t on t.network_id = c.network_id
    where c.matured_at is null and c.screening <> 'waiting' and c.taken is null and c.matures_at <= sluice_now() and c.mature_height <= t.final_height
      ${after === undefined ? reads`` : reads`and (c.matures_at, c.id) > (select f.matures_at, f.id from credits f where f.id = ${after})`}
    order by c.matures_at, c.id limit ${limit}`;
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
    returning id, gateway_id, asset_id, pool, net`;
  return row && { ...row, net: parseTrusted(row.net) };
}

/** Cashouts that draw together from one pool of a gateway, in their order. */
export interface CreditDraws {
  gatewayId: string;
  assetId: string;
  pool: Pool;
  claims: readonly { settlementId: string; amount: Coins }[];
}

/**
 * Draws what cashouts claim from a pool's matured credits, first matured first, and records which ones each of them took (decisions 10).
 * The caller holds the pool's ledger account, which is what keeps two claims apart; the drawn credits are locked in draw order.
 * @throws Invariant when the credits do not hold what the account says they do
 */
export async function drawCredits(tx: Tx, { claims, ...of }: CreditDraws): Promise<void> {
  const total = claims.reduce<Coins>((sum, claim) => amount(sum + claim.amount), zero);
  const { draws, missing } = await drawMatured(tx, { ...of, total });
  if (missing > 0n) throw new Invariant(`credits of gateway ${of.gatewayId} hold ${formatAmount(missing)} less than their account`);
  const drawn = shareDraws(draws, claims);
  await tx`
    insert into credit_draws (settlement_id, credit_id, amount, state)
    select drawn.settlement_id, drawn.id, drawn.amount, 'reserved'
    from unnest(${drawn.map(({ settlementId }) => settlementId)}::uuid[], ${drawn.map(({ id }) => id)}::uuid[],
      ${drawn.map(({ taken }) => formatAmount(taken))}::numeric[]) as drawn (settlement_id, id, amount)`;
}

/**
 * Lowers what is left of a pool's matured credits by `total`, first matured first, and says by how much each. What they do not hold is
 * `missing`. The caller holds the pool's ledger account, and records what the coins were drawn for; the credits are locked in draw order.
 */
export async function drawMatured(tx: Tx, draw: { gatewayId: string; assetId: string; pool: Pool; total: Coins }): Promise<{ draws: Draw[]; missing: Coins }> {
  const draws: Draw[] = [];
  let missing = draw.total;
  while (missing > 0n) {
    const rows = await tx<{ id: string; remaining: string }[]>`
      select id, remaining from credits
      where gateway_id = ${draw.gatewayId} and asset_id = ${draw.assetId} and pool = ${draw.pool} and matured_at is not null and taken is null and remaining > 0
      order by matured_at, id limit 200 for update`;
    if (rows.length === 0) break;
    const taken = drawInOrder(
      rows.map(({ id, remaining }) => ({ id, remaining: parseTrusted<'asset'>(remaining) })),
      missing,
    );
    missing = taken.missing;
    draws.push(...taken.draws);
    const ids = taken.draws.map(({ id }) => id);
    const amounts = taken.draws.map((one) => formatAmount(one.taken));
    await tx`
      update credits c set remaining = c.remaining - drawn.amount
      from unnest(${ids}::uuid[], ${amounts}::numeric[]) as drawn (id, amount) where c.id = drawn.id`;
  }
  return { draws, missing };
}

/** Marks the credits a cashout was paid from as spent, when it settles; the caller holds the settlement's lock. */
export async function spendDraws(tx: Tx, settlementId: string): Promise<void> {
  await tx`update credit_draws set state = 'spent' where settlement_id = ${settlementId} and state = 'reserved'`;
}

/** What a cashout reserves of one credit, with where that credit is by now. */
export interface ReservedDraw {
  pool: Pool;
  taken: Taken | null;
  amount: Coins;
}

/**
 * Gives back what a cashout reserves of its credits, and answers it by the state each credit is in. The caller holds the
 * settlement's lock and the ledger accounts that may get it back; locks the credits, in id order.
 */
export async function releaseDraws(tx: Tx, settlementId: string): Promise<ReservedDraw[]> {
  const rows = await tx<{ id: string; pool: Pool; taken: Taken | null; amount: string }[]>`
    select c.id, c.pool, c.taken, w.amount from credit_draws w join credits c on c.id = w.credit_id
    where w.settlement_id = ${settlementId} and w.state = 'reserved' order by c.id for update of c`;
  await tx`
    update credits c set remaining = c.remaining + w.amount from credit_draws w
    where w.credit_id = c.id and w.settlement_id = ${settlementId} and w.state = 'reserved'`;
  await tx`update credit_draws set state = 'released' where settlement_id = ${settlementId} and state = 'reserved'`;
  return rows.map((row) => ({ pool: row.pool, taken: row.taken, amount: parseTrusted(row.amount) }));
}

/** Ids of the held payments that a cashout has drawn from, in id order; locks nothing. */
export async function listHeldPaymentsOfDraws(sql: Reads, settlementId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select distinct p.id from credit_draws w join credits c on c.id = w.credit_id join payments p on p.id = c.payment_id
    where w.settlement_id = ${settlementId} and p.aml_state = 'HELD' order by p.id`;
  return rows.map((row) => row.id);
}

/** What a gateway's credits of one asset add up to, in one pool, matured or still maturing; the sums are lifetime sums, with credits that were drawn, refunded or withheld. */
export interface CreditSummary extends CreditTally {
  /** Payments that have a credit among these with anything left to draw, now or once it has matured (decisions 10). */
  open: number;
  /** When the first of those that mature may do so; null when none does. One without a verdict waits longer. */
  nextMaturityAt: Date | null;
}

/** Adds up a gateway's credits per asset, pool and maturity (contract 2.9); locks nothing. Read beside other figures, in one snapshot. */
export async function summariseCredits(sql: Reads, gatewayId: string): Promise<CreditSummary[]> {
  // Only credits with anything left, and those that mature: few among all that ever were.
  const open = await sql<{ assetId: string; pool: Pool; matured: boolean; open: number }[]>`
    select asset_id, pool, matured_at is not null as matured, count(distinct payment_id)::int as open
    from credits where gateway_id = ${gatewayId} and remaining > 0 and taken is null group by 1, 2, 3`;
  const next = await sql<{ assetId: string; pool: Pool; at: Date }[]>`
    select asset_id, pool, min(matures_at) as at from credits where gateway_id = ${gatewayId} and matured_at is null and remaining > 0 and taken is null group by 1, 2`;
  return (await listCreditTallies(sql, gatewayId)).map((tally) => {
    const same = (one: { assetId: string; pool: Pool }): boolean => one.assetId === tally.assetId && one.pool === tally.pool;
    return {
      ...tally,
      open: open.find((one) => same(one) && one.matured === tally.matured)?.open ?? 0,
      nextMaturityAt: (tally.matured ? undefined : next.find(same)?.at) ?? null,
    };
  });
}

/** One credit of a payment with everything that decides what may become of it. */
export interface PaymentCredit extends PooledCredit {
  id: string;
  gatewayId: string;
  networkId: string;
  screening: Screening;
  commission: Coins;
  /** What cashouts reserve of it, and what those that settled, and charges, took. */
  reserved: Coins;
  spent: Coins;
}

type PaymentCreditRow = Omit<PaymentCredit, 'net' | 'remaining' | 'commission' | 'reserved' | 'spent'> &
  Record<'net' | 'remaining' | 'commission' | 'reserved' | 'spent', string>;

/** Locks the credits of a payment that are still maturing, in id order, so that none of them matures until commit. */
export async function lockMaturingCredits(tx: Tx, paymentId: string): Promise<void> {
  await tx`select 1 from credits where payment_id = ${paymentId} and matured_at is null order by id for update`;
}

/** Locks every credit of a payment, in id order; a caller who is to change one holds the ledger accounts of its pools already. */
export async function lockCredits(tx: Tx, paymentId: string): Promise<void> {
  await tx`select 1 from credits where payment_id = ${paymentId} order by id for update`;
}

/** Reads every credit of a payment, in id order; locks nothing. */
export async function listPaymentCredits(sql: Reads, paymentId: string): Promise<PaymentCredit[]> {
  const rows = await sql<PaymentCreditRow[]>`
    select c.id, c.gateway_id, c.asset_id, c.network_id, c.pool, c.taken, c.screening, c.matured_at is not null as matured,
      c.net, c.remaining, c.commission,
      coalesce((select sum(w.amount) from credit_draws w where w.credit_id = c.id and w.state = 'reserved'), 0) as reserved,
      coalesce((select sum(w.amount) from credit_draws w where w.credit_id = c.id and w.state = 'spent'), 0)
        + coalesce((select sum(x.amount) from charge_draws x where x.credit_id = c.id), 0) as spent
    from credits c where c.payment_id = ${paymentId} order by c.id`;
  return rows.map((row) => ({
    ...row,
    net: parseTrusted(row.net),
    remaining: parseTrusted(row.remaining),
    commission: parseTrusted(row.commission),
    reserved: parseTrusted(row.reserved),
    spent: parseTrusted(row.spent),
  }));
}

/** Puts locked credits into another pool. */
export async function setPool(tx: Tx, ids: readonly string[], pool: Pool): Promise<void> {
  await tx`update credits set pool = ${pool} where id = any(${[...ids]}::uuid[])`;
}

/** Takes locked credits of the held pool out of it, or, with null, puts them back; what is refunded has nothing left. */
export async function setTaken(tx: Tx, ids: readonly string[], taken: Taken | null): Promise<void> {
  await tx`update credits set taken = ${taken}, remaining = case when ${taken}::text = 'refunded' then 0 else remaining end where id = any(${[...ids]}::uuid[])`;
}

/** Writes the verdict about a locked credit. */
export async function setVerdict(tx: Tx, id: string, verdict: { screening: 'clean' | 'flagged'; score: number }): Promise<void> {
  await tx`update credits set screening = ${verdict.screening}, screening_score = ${verdict.score} where id = ${id}`;
}

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
  const [row] = await sql<ScreenedCredit[]>`select id, payment_id, gateway_id, screening from credits where id = ${id}`;
  return row;
}

/** The transfers a credit was made from, in id order; locks nothing. */
export async function listScreenedTransfers(sql: Reads, creditId: string): Promise<ScreenedTransfer[]> {
  const rows = await sql<(Omit<ScreenedTransfer, 'amount'> & { amount: string })[]>`
    select d.id as "depositId", d.txid, 
      coalesce((select array_agg(distinct p.sender order by p.sender) from transfer_sums s, unnest(s.senders) p (sender)
        where d.parts is not null and s.network_id = d.network_id and s.block_hash = d.block_hash and s.txid = d.txid and s.kind = d.kind and s.ordinal = d.ordinal),
        array_prepend(d.sender, d.co_senders)) as senders, x.address as recipient, n.name as "networkName", d.asset_id, a.symbol, d.amount
    from deposits d join deposit_addresses x on x.id = d.address_id join networks n on n.id = d.network_id join assets a on a.id = d.asset_id
    where d.credit_id = ${creditId} order by d.id`;
  return rows.map((row) => ({ ...row, amount: parseTrusted(row.amount) }));
}

/** Keeps what a provider said of one transfer. */
export async function setDepositVerdict(tx: Tx, depositId: string, verdict: { score: number; ref: string }): Promise<void> {
  await tx`update deposits set screening_score = ${verdict.score}, screening_ref = ${verdict.ref} where id = ${depositId}`;
}

/** Credits that wait for a verdict although no outbox row would ask for one; locks nothing. */
export async function listForgottenCredits(sql: Reads): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`${forgottenCredits(sql)} order by c.credited_at, c.id limit 500`;
  return rows.map((row) => row.id);
}

/** Whether there are any; a condition. */
export function isAnyCreditForgotten(sql: Reads): ReturnType<Reads> {
  return sql`exists (${forgottenCredits(sql)})`;
}

function forgottenCredits(sql: Reads): ReturnType<Reads> {
  return sql`
    select c.id from credits c
    where c.screening = 'waiting' and c.credited_at < sluice_now() - interval '1 minute'
      and not exists (select 1 from outbox o where o.ref_id = c.id and o.topic = 'deposit.screen' and o.state = 'due')`;
}
