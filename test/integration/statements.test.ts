import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEPT_CHECKS } from '#api/audit/kept-checks.ts';
import { runCheck } from '#api/audit/run-audit.ts';
import type { Gateway } from '#api/deps.ts';
import { readStatement } from '#api/gateways/read-statement.ts';
import { findGateway } from '#api/store/gateways.ts';
import { foldMonths, listMonthSums } from '#api/store/gateway-months.ts';
import { listExpensesForOperator } from '#api/store/invoices.ts';
import { listGatewayBalances } from '#api/store/ledger.ts';
import { writeHistory } from '#ops/bench/history.ts';
import { amount, formatAmount, parseTrusted } from '#shared/core/money.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import type { Posting } from '#state-machines/ledger/accounts.ts';
import * as postings from '#state-machines/ledger/postings.ts';
import { type FreshDatabase, freshDatabase } from '#test/harness/database.ts';
import { plansOfHttp, rowsRead } from '#test/harness/explained.ts';

let database: FreshDatabase;
let gateway: Gateway;
let assets: string[];
let cashouts: string[];

beforeAll(async () => {
  database = await freshDatabase();
  await database.transaction((tx) => writeHistory(tx, 1_500));
  const [busy] = await database.sql<{ id: string }[]>`select gateway_id as id from gateway_entries group by 1 order by count(*) desc limit 1`;
  await database.sql`update gateways set created_at = '2020-01-15T00:00:00Z'`;
  gateway = (await findGateway(database.sql, String(busy?.id))) as Gateway;
  assets = (await database.sql<{ id: string }[]>`select asset_id as id from ledger_accounts where gateway_id = ${gateway.id} group by 1 order by 1`).map(
    ({ id }) => id,
  );
  cashouts = (await database.sql<{ id: string }[]>`select id from settlements order by id limit 10`).map(({ id }) => id);
}, 60_000);
afterAll(() => database?.drop());

const KEPT = KEPT_CHECKS[0] as (typeof KEPT_CHECKS)[0];
const MONTHS = ['2020-01', '2020-02', '2020-03', '2020-12', '2021-01', '2024-02', '2024-03'];

/** Books of chance: every kind of posting there is, of chance amounts, at chance moments, many of them at the edge of a month. */
async function writeChance(seed: number, count: number): Promise<void> {
  let state = seed;
  const chance = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  const coins = () => amount<'asset'>(BigInt(chance(1_000_000) + 1) * 10n ** BigInt(chance(13)) + BigInt(chance(1_000)));
  const gatewayId = gateway.id;
  for (let at = 0; at < count; at++) {
    const assetId = assets[chance(assets.length)] as string;
    const pool = (['green', 'held'] as const)[chance(2)] as 'green' | 'held';
    const [large, small, smaller] = [amount<'asset'>(coins() + 10n ** 19n), coins(), coins()];
    const settlementId = cashouts[chance(cashouts.length)] as string;
    const share = { gatewayId, assetId, maturing: large, matured: small };
    const kinds: [string, Posting[]][] = [
      [
        'credit',
        postings.credit({
          gatewayId,
          assetId,
          pool,
          gross: amount(large + small + smaller),
          networkFee: small,
          commission: smaller,
          net: amount(large + small),
          platformBears: small,
        }),
      ],
      ['mature', postings.mature({ gatewayId, assetId, pool, amount: large })],
      ['reserve', postings.reserve({ gatewayId, assetId, pool, settlementId, amount: large })],
      ['release', postings.release({ gatewayId, assetId, settlementId, green: large, held: small, withheld: smaller })],
      ['settle', postings.settle({ gatewayId, assetId, settlementId, amount: large, feeLocked: small })],
      ['charge', postings.charge({ gatewayId, assetId, paid: small, owed: smaller })],
      ['collect', postings.collect({ gatewayId, assetId, pool, amount: small })],
      ['move', postings.movePool({ ...share, from: 'green', to: 'held' })],
      ['withhold', postings.withhold(share)],
      ['refund-order', postings.orderRefund({ ...share, commission: smaller })],
      ['refund-cancel', postings.cancelRefund({ ...share, commission: smaller })],
      ['refund', postings.payRefund({ gatewayId, assetId, amount: large, platformCommission: small })],
      ['withheld-pay', postings.payWithheld({ gatewayId, assetId, amount: small })],
      [
        'of-a-later-build',
        [
          { account: { kind: 'available', gatewayId, settlementId: null }, assetId, amount: small },
          { account: { kind: 'capital', gatewayId: null, settlementId: null }, assetId, amount: -small },
        ],
      ],
    ];
    const [kind, lines] = kinds[chance(kinds.length)] as [string, Posting[]];
    const month = MONTHS[chance(MONTHS.length)] as string;
    const moment = chance(2) === 0 ? `${month}-01T00:00:00Z` : `${month}-28T23:59:59.999999Z`;
    await database.transaction(async (tx) => {
      await postAt(tx, { sourceKey: `chance:${seed}:${at}`, kind, lines, moment });
    });
  }
}

async function postAt(tx: Tx, { sourceKey, kind, lines, moment }: { sourceKey: string; kind: string; lines: Posting[]; moment: string }): Promise<void> {
  const [{ id }] = await tx<
    [{ id: number }]
  >`insert into ledger_transactions (source_key, kind, at) values (${sourceKey}, ${kind}, ${moment}::text::timestamptz) returning id`;
  const rows: { account: number; assetId: string; amount: string }[] = [];
  for (const { account, assetId, amount: gained } of lines) {
    const [row] = await tx<[{ id: number }]>`
      insert into ledger_accounts (gateway_id, asset_id, kind, settlement_id) values (${account.gatewayId}, ${assetId}, ${account.kind}, ${account.settlementId})
      on conflict (asset_id, kind, gateway_id, settlement_id) do update set balance = ledger_accounts.balance returning id`;
    rows.push({ account: row.id, assetId, amount: formatAmount(gained) });
  }
  await tx`
    insert into ledger_entries (transaction_id, account_id, asset_id, amount)
    select ${id}, x.account, x."assetId", sum(x.amount) from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as x (account bigint, "assetId" uuid, amount numeric)
    group by 2, 3 having sum(x.amount) <> 0`;
}

/** Opening, closing and accounts by reading every posting that ever was. */
async function read(month: string): Promise<Map<string, { opening: string; closing: string; accounts: Map<string, string> }>> {
  const rows = await database.sql<{ asset: string; account: string; opening: string; closing: string }[]>`
    select s.symbol || ' ' || n.name as asset, a.kind as account,
      coalesce(sum(e.amount) filter (where t.at < ${`${month}-01`}::text::timestamp at time zone 'UTC'), 0)::text as opening, sum(e.amount)::text as closing
    from ledger_entries e join ledger_accounts a on a.id = e.account_id join ledger_transactions t on t.id = e.transaction_id join assets s on s.id = e.asset_id join networks n on n.id = s.network_id
    where a.gateway_id = ${gateway.id} and t.at < (${`${month}-01`}::text::timestamp + interval '1 month') at time zone 'UTC' group by 1, 2`;
  const assetsOf = [...new Set(rows.map(({ asset }) => asset))];
  const add = (amounts: string[]) => formatAmount(amounts.reduce((sum, one) => sum + parseTrusted(one), 0n));
  return new Map(
    assetsOf.map((asset) => {
      const own = rows.filter((row) => row.asset === asset);
      return [
        asset,
        {
          opening: add(own.map(({ opening }) => opening)),
          closing: add(own.map(({ closing }) => closing)),
          accounts: new Map(
            [...new Set(own.map(({ account }) => account))].map((account) => [
              account,
              add(own.filter((row) => row.account === account).map(({ closing }) => closing)),
            ]),
          ),
        },
      ];
    }),
  );
}

async function compare(month: string): Promise<void> {
  const { items } = await readStatement({ db: database.as('http') } as Parameters<typeof readStatement>[0], { gateway, month });
  const whole = await read(month);
  expect(new Set(items.map(({ asset, network }) => `${asset} ${network}`))).toEqual(new Set(whole.keys()));
  for (const item of items) {
    const expected = whole.get(`${item.asset} ${item.network}`);
    expect([month, item.opening, item.closing]).toEqual([month, expected?.opening, expected?.closing]);
    for (const [account, left] of Object.entries(item.accounts))
      expect([month, account, left]).toEqual([month, account, expected?.accounts.get(account) ?? '0']);
    const signed = [
      item.opening,
      item.credits.gross,
      minus(item.credits.networkFees),
      minus(item.credits.commissions),
      item.credits.feesBorne,
      minus(item.cashouts.paid),
      minus(item.cashouts.fees),
      minus(item.charges.amount),
      minus(item.refunds.paid),
      item.refunds.commissionsReturned,
      minus(item.withheldPaid.amount),
      item.adjustments,
    ];
    expect([month, formatAmount(signed.reduce((sum, one) => sum + parseTrusted(one), 0n))]).toEqual([month, item.closing]);
  }
}

function minus(text: string): string {
  return formatAmount(-parseTrusted(text));
}

/** Takes back a third of what was accrued, part by part, at moments of many months. */
async function takeBack(seed: number): Promise<void> {
  await database.sql`
    insert into accruals (reverses, gateway_id, payment_id, asset_id, coins, price_usd, usd, billing, at)
    select id, gateway_id, payment_id, asset_id, -coins / 2, price_usd, -usd / 2, billing, timestamptz '2020-01-31T23:59:59Z' + nth * interval '17 days 1 second'
    from (select *, row_number() over (order by id) as nth from accruals where reverses is null) r where nth % 3 = ${seed - 1}`;
}

/** What the platform bore, narrowed in each way, against the accruals themselves. */
async function compareExpenses(): Promise<void> {
  for (const [gatewayId, month, billing] of [
    [null, null, null],
    [gateway.id, null, 'MONTHLY'],
    [null, '2020-02-01', null],
    [null, null, 'PLATFORM'],
  ] as const) {
    const rows = await database.sql`
      select gateway_id, to_char(at at time zone 'UTC', 'YYYY-MM') as month, billing, asset_id, trim_scale(sum(coins))::text as amount, trim_scale(sum(usd))::text as usd, count(*) as line_count
      from accruals where (${gatewayId}::uuid is null or gateway_id = ${gatewayId}) and (${billing}::text is null or billing = ${billing})
        and (${month}::text is null or to_char(at at time zone 'UTC', 'YYYY-MM-01') = ${month}) group by 1, 2, 3, 4`;
    const { items, total } = await listExpensesForOperator(database.sql, { gatewayId, month, billing, limit: 1_000, offset: 0 });
    const line = (row: Record<string, unknown>): string => JSON.stringify([row.gatewayId, row.month, row.billing, row.amount, row.usd, row.lineCount]);
    expect([total, items.map((row) => line({ ...row })).sort()]).toEqual([rows.length, rows.map(line).sort()]);
  }
}

async function audited(): Promise<unknown> {
  return (await runCheck(database.sql, KEPT, { staticAllowed: true })).rows;
}

it('opening, movements and closing are those of all postings, whatever was posted and however much of it is added up', async () => {
  for (const seed of [1, 2, 3]) {
    await writeChance(seed, 60);
    await takeBack(seed);
    for (const month of MONTHS) await compare(month);
    await compareExpenses();
    if (seed === 2) expect(await foldMonths(database.as('worker').sql)).toBeGreaterThan(200);
  }
  const [{ month }] = await database.sql<[{ month: string }]>`select to_char(max(month), 'YYYY-MM') as month from gateway_months`;
  await compare(month);
  await compareExpenses();
  expect(await audited()).toEqual([]);
});

it('each kind of account of a gateway holds what is in all its accounts of that kind, however much of it is added up', async () => {
  // The postings of this file are written without their balances: what they add up to counts here.
  const held = new Map(
    (await listGatewayBalances(database.sql, gateway.id)).map(({ kind, assetId, balance }) => [`${kind} ${assetId}`, formatAmount(balance)]),
  );
  const reserved = await database.sql<{ of: string; sum: string }[]>`
    select 'reserved ' || e.asset_id as of, sum(e.amount)::text as sum from ledger_entries e join ledger_accounts a on a.id = e.account_id
    where a.gateway_id = ${gateway.id} and a.kind = 'reserved' group by 1`;
  const own = await database.sql<{ of: string; sum: string }[]>`
    select kind || ' ' || asset_id as of, balance::text as sum from ledger_accounts where gateway_id = ${gateway.id} and kind <> 'reserved'`;
  expect(reserved.some(({ sum }) => Number(sum) !== 0)).toBe(true);
  expect([...held].sort()).toEqual([...reserved, ...own].map(({ of, sum }) => [of, formatAmount(parseTrusted(sum))]).sort());
});

it('what was appended is added up to one row of each, and not before it is many', async () => {
  await writeChance(4, 80);
  await foldMonths(database.as('worker').sql);
  expect(await foldMonths(database.as('worker').sql)).toBe(0);
  await writeChance(5, 100);
  expect(await foldMonths(database.as('worker').sql)).toBeGreaterThan(200);
  expect(await database.sql`select 1 from gateway_months group by gateway_id, asset_id, month, kind, account having count(*) > 1`).toEqual([]);
  expect(await database.sql`select 1 from expense_months group by gateway_id, month, billing, asset_id having count(*) > 1`).toEqual([]);
  for (const month of MONTHS) await compare(month);
});

it('the statement of a late month reads sums of months, and no posting', async () => {
  await database.sql`analyze`;
  const nodes = await plansOfHttp(database, (sql) => listMonthSums(sql, { gatewayId: gateway.id, month: '2024-03-01' }));
  const own = nodes.filter((node) => node['Relation Name'] === 'gateway_months');
  expect(own.every((node) => node['Node Type'] !== 'Seq Scan')).toBe(true);
  expect(nodes.filter((node) => String(node['Relation Name']).startsWith('ledger_'))).toEqual([]);
  const [{ count }] = await database.sql<
    [{ count: number }]
  >`select count(*)::int as count from gateway_months where gateway_id = ${gateway.id} and month <= '2024-03-01'`;
  expect(rowsRead(own.filter((node) => node['Index Name'] !== undefined && node['Node Type'] !== 'Bitmap Index Scan'))).toBeLessThanOrEqual(count);
});

it('what the platform bore and what a gateway holds are read from sums: no accrual, and no account of a cashout', async () => {
  const expenses = await plansOfHttp(database, (sql) => listExpensesForOperator(sql, { gatewayId: null, month: null, billing: null, limit: 50, offset: 0 }));
  expect(expenses.map((node) => node['Relation Name'])).not.toContain('accruals');
  const balances = await plansOfHttp(database, (sql) => listGatewayBalances(sql, gateway.id));
  const [{ own }] = await database.sql<
    [{ own: number }]
  >`select count(*)::int as own from ledger_accounts where gateway_id = ${gateway.id} and kind <> 'reserved'`;
  expect(rowsRead(balances.filter((node) => node['Relation Name'] === 'ledger_accounts'))).toBe(own);
});

it('a sum that is not that of its rows is found by the audit', async () => {
  expect(await audited()).toEqual([]);
  for (const [table, list, tamper] of [
    ['gateway_months', 'months', 'amount = amount + 1'],
    ['gateway_months', 'months', 'entries = entries + 1'],
    ['expense_months', 'expenses', 'coins = coins + 1'],
    ['expense_months', 'expenses', 'usd = usd + 1'],
    ['expense_months', 'expenses', 'lines = lines + 1'],
  ])
    await expect(
      database.transaction(async (tx) => {
        await tx.unsafe(`update ${table} set ${tamper} where ctid = (select min(ctid) from ${table})`);
        expect((await runCheck(tx, KEPT, { staticAllowed: true })).rows).toMatchObject([{ list }]);
        throw new Error('taken back');
      }),
    ).rejects.toThrow('taken back');
});

it('no process that posts may write the sums itself, and none that serves requests may take them away', async () => {
  for (const table of ['gateway_months', 'expense_months']) {
    await expect(database.as('http').sql.unsafe(`delete from ${table}`)).rejects.toMatchObject({ code: '42501' });
    await expect(database.as('worker').sql.unsafe(`update ${table} set folded = true`)).rejects.toMatchObject({ code: '42501' });
  }
});
