import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEPT_CHECKS } from '#api/audit/kept-checks.ts';
import { runCheck } from '#api/audit/run-audit.ts';
import { findBookEntry, foldAddressUses, isBookFull, listBook } from '#api/store/address-book.ts';
import { writeHistory } from '#ops/bench/history.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { type FreshDatabase, freshDatabase } from '#test/harness/database.ts';
import { plansOfHttp, rowsRead } from '#test/harness/explained.ts';

const KEPT = KEPT_CHECKS[0] as (typeof KEPT_CHECKS)[0];
let database: FreshDatabase;
let gatewayId: string;

beforeAll(async () => {
  database = await freshDatabase();
  await database.transaction((tx) => writeHistory(tx, 1_500));
  await database.sql`analyze`;
  const [busy] = await database.sql<{ id: string }[]>`select gateway_id as id from settlements group by 1 order by count(*) desc limit 1`;
  gatewayId = String(busy?.id);
}, 60_000);
afterAll(() => database?.drop());

async function compare(): Promise<void> {
  const entries = await database.sql<{ id: string; asset: string; cashouts: number; amount: string; first: Date; last: Date }[]>`
    select s.address_id as id, a.symbol as asset, count(*)::int as cashouts, trim_scale(sum(s.received_amount))::text as amount, min(s.settled_at) as first, max(s.settled_at) as last
    from settlements s join assets a on a.id = s.asset_id where s.status = 'SETTLED' and s.gateway_id = ${gatewayId} group by 1, 2 order by 1, 2`;
  expect(entries.length).toBeGreaterThan(0);
  for (const id of new Set(entries.map((entry) => entry.id))) {
    const own = entries.filter((entry) => entry.id === id);
    expect(await findBookEntry(database.as('http').sql, gatewayId, id)).toMatchObject({
      sent: own.map(({ asset, cashouts, amount }) => ({ asset, cashouts, amount })),
      firstUsedAt: new Date(Math.min(...own.map(({ first }) => first.getTime()))),
      lastUsedAt: new Date(Math.max(...own.map(({ last }) => last.getTime()))),
    });
  }
  expect((await runCheck(database.sql, KEPT, { staticAllowed: true })).rows).toEqual([]);
}

it('an entry tells what its settled cashouts sent, however much of it is added up', async () => {
  await compare();
  // Settled cashouts are settled once more: what the trigger sees is a cashout that becomes SETTLED.
  const worker = database.as('worker').sql;
  const rows = await database.sql<{ id: string; amount: string; txid: string; settledAt: Date }[]>`
    select id, received_amount as amount, txid, settled_at from settlements where status = 'SETTLED' and gateway_id = ${gatewayId} order by id limit 250`;
  await database.sql`delete from address_uses where address_id in (select address_id from settlements where gateway_id = ${gatewayId})`;
  await database.sql`
    insert into address_uses (address_id, asset_id, cashouts, sent, first_at, last_at, folded)
    select address_id, asset_id, count(*), sum(received_amount), min(settled_at), max(settled_at), true from settlements
    where status = 'SETTLED' and gateway_id = ${gatewayId} and not id = any(${rows.map(({ id }) => id)}::uuid[]) group by 1, 2`;
  await database.sql`update settlements set status = 'PROCESSING', received_amount = null, txid = null, settled_at = null where id = any(${rows.map(({ id }) => id)}::uuid[])`;
  for (const { id, amount, txid, settledAt } of rows)
    await worker`update settlements set status = 'SETTLED', received_amount = ${amount}, txid = ${txid}, settled_at = ${settledAt} where id = ${id}`;
  await compare();
  const folded = await foldAddressUses(worker);
  expect(folded === rows.length || rows.length < 200).toBe(true);
  await compare();
});

it('a sum that is not that of the cashouts is found by the audit', async () => {
  await expect(
    database.transaction(async (tx) => {
      await tx`update address_uses set sent = sent + 1 where ctid = (select min(ctid) from address_uses)`;
      expect((await runCheck(tx, KEPT, { staticAllowed: true })).rows).toMatchObject([{ list: 'addresses' }]);
      throw new Error('taken back');
    }),
  ).rejects.toThrow('taken back');
});

it('a page of the book, and the question whether it is full, read their own rows by an index, whoever else has how many', async () => {
  const nodes = await plansOfHttp(database, async (sql: Reads) => {
    const first = (await listBook(sql, { gatewayId, limit: 5, after: null })) ?? [];
    await listBook(sql, { gatewayId, limit: 5, after: first[0]?.id ?? null });
    await isBookFull(sql as Tx, gatewayId, { shown: 10, ever: 20 });
  });
  const own = nodes.filter((node) => node['Relation Name'] === 'address_book');
  expect(new Set(own.map((node) => node['Index Name']))).toEqual(new Set(['address_book_shown', 'address_book_pkey', 'address_book_by_hand']));
  for (const node of own) expect(rowsRead([node])).toBeLessThanOrEqual(6);
  for (const node of nodes.filter((one) => one['Relation Name'] === 'address_uses')) expect(node['Node Type']).not.toBe('Seq Scan');
});

it('no process that serves requests may write what was sent, or change where an entry points', async () => {
  await expect(database.as('http').sql`update address_uses set sent = 0`).rejects.toMatchObject({ code: '42501' });
  for (const column of ['address', 'label', 'gateway_id', 'network_id'])
    await expect(database.as('http').sql.unsafe(`update address_book set ${column} = ${column}`)).rejects.toMatchObject({ code: '42501' });
});
