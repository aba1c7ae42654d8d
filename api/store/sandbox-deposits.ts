import { type Coins, formatAmount, parseTrusted, type Usd } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { PaymentDeposit } from './payment-deposits.ts';
import type { DepositPath } from './payments.ts';

/** A simulated deposit as it is first written. */
export interface NewSandboxDeposit {
  id: string;
  paymentId: string;
  assetId: string;
  scenario: string;
  txid: string;
  amount: Coins;
  firstSeenAt: Date;
  /** Service time from which it may count as final. */
  confirmsAt: Date;
}

/** Writes a simulated deposit as seen; the caller holds the payment's lock. @throws a unique violation when the payment has one that decides */
export async function insertSandboxDeposit(tx: Tx, d: NewSandboxDeposit): Promise<void> {
  await tx`
    insert into sandbox_deposits (id, payment_id, asset_id, scenario, txid, amount, state, first_seen_at, confirms_at)
    values (${d.id}, ${d.paymentId}, ${d.assetId}, ${d.scenario}, ${d.txid}, ${formatAmount(d.amount)}::text::numeric, 'seen', ${d.firstSeenAt}, ${d.confirmsAt})`;
}

/** How many simulated deposits of a payment decided nothing; the caller holds the payment's lock. */
export async function countSandboxDust(tx: Tx, paymentId: string): Promise<number> {
  const [row] = await tx<[{ count: number }]>`select count(*)::int as count from sandbox_deposits where payment_id = ${paymentId} and state = 'dust'`;
  return row.count;
}

/** What a simulated deposit came to. */
export type SandboxOutcome =
  | { state: 'dust' }
  | { state: 'credited'; confirmations: number; usdPrice: Usd | null; path: DepositPath; networkFee: Coins; commission: Coins; net: Coins };

/** Writes what became of a seen deposit; the caller holds the payment's lock. */
export async function settleSandboxDeposit(tx: Tx, id: string, finalAt: Date, outcome: SandboxOutcome): Promise<void> {
  const columns =
    outcome.state === 'dust'
      ? { state: 'dust' }
      : {
          state: 'credited',
          confirmations: outcome.confirmations,
          usd_price: outcome.usdPrice === null ? null : formatAmount(outcome.usdPrice),
          path: outcome.path,
          network_fee: formatAmount(outcome.networkFee),
          commission: formatAmount(outcome.commission),
          net: formatAmount(outcome.net),
        };
  await tx`update sandbox_deposits set ${tx({ ...columns, final_at: finalAt, confirms_at: null })} where id = ${id} and state = 'seen'`;
}

/** A simulated deposit that waits for its confirmation. */
export interface SeenSandboxDeposit {
  id: string;
  paymentId: string;
  assetId: string;
  txid: string;
  amount: Coins;
  firstSeenAt: Date;
}

/** The deposit of a payment that waits for its confirmation; there is one at most. Takes no lock: the caller holds the payment's, or only looks. */
export async function findSeenSandboxDeposit(sql: Reads, paymentId: string): Promise<SeenSandboxDeposit | undefined> {
  const [row] = await sql<(Omit<SeenSandboxDeposit, 'amount'> & { amount: string })[]>`
    select id, payment_id, asset_id, txid, amount, first_seen_at
    from sandbox_deposits where payment_id = ${paymentId} and state = 'seen'`;
  return row && { ...row, amount: parseTrusted<'asset'>(row.amount) };
}

/** Whether any simulated deposit waits for its confirmation, due or not; a condition. */
export function isAnySimulationSeen(sql: Reads): ReturnType<Reads> {
  return sql`exists (select 1 from sandbox_deposits where state = 'seen')`;
}

/** Payments whose simulated deposit is due to be confirmed, longest due first; locks nothing. */
export async function listDueSandboxPayments(sql: Reads, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select payment_id as id from sandbox_deposits where state = 'seen' and confirms_at <= sluice_now() order by confirms_at limit ${limit}`;
  return rows.map((row) => row.id);
}

/** What arrived for a sandbox payment, in the form in which real deposits are read; locks nothing. */
export function listSandboxDeposits(sql: Reads, paymentId: string): Promise<PaymentDeposit[]> {
  return listSandboxDepositsOf(sql, [paymentId], null);
}

/** The same of several sandbox payments, of each any `most` (all when null); locks nothing. */
export async function listSandboxDepositsOf(sql: Reads, paymentIds: readonly string[], most: number | null): Promise<PaymentDeposit[]> {
  const rows = await sql<Record<string, unknown>[]>`
    select d.id, d.payment_id, d.asset_id, a.symbol, a.type as "assetType", a.decimals, a.dust_floor, n.name as "networkName", d.amount, d.txid, d.confirmations, d.state, d.path,
      d.first_seen_at, d.first_seen_at as "blockTime", d.final_at, d.usd_price,
      d.network_fee, d.commission, d.net
    from unnest(${[...paymentIds]}::uuid[]) as asked (id)
    cross join lateral (select * from sandbox_deposits where payment_id = asked.id limit ${most}) d
    join assets a on a.id = d.asset_id join networks n on n.id = a.network_id
    order by d.first_seen_at, d.id`;
  return rows.map(({ networkFee, commission, net, ...row }) => {
    const received = parseTrusted<'asset'>(row.amount as string);
    return {
      ...(row as unknown as Omit<PaymentDeposit, 'amount' | 'dustFloor' | 'height' | 'coinbase' | 'claimedBy' | 'waits' | 'lostAt' | 'usdPrice' | 'credit'>),
      amount: received,
      dustFloor: parseTrusted<'asset'>(row.dustFloor as string),
      height: null,
      coinbase: false,
      claimedBy: null,
      waits: false,
      doubt: null,
      lostAt: null,
      usdPrice: row.usdPrice === null ? null : parseTrusted<'usd'>(row.usdPrice as string),
      credit:
        net === null
          ? null
          : {
              gross: received,
              networkFee: parseTrusted<'asset'>(networkFee as string),
              commission: parseTrusted<'asset'>(commission as string),
              net: parseTrusted<'asset'>(net as string),
            },
    };
  });
}
