import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEPT_CHECKS } from '#api/audit/kept-checks.ts';
import { runCheck } from '#api/audit/run-audit.ts';
import { listUnexplained } from '#api/store/adopted.ts';
import { listHeldOutputs } from '#api/store/holdings.ts';
import { listSpendable } from '#api/store/outputs.ts';
import { listSweepable } from '#api/store/own-moves.ts';
import { writeHistory } from '#ops/bench/history.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { type FreshDatabase, freshDatabase } from '#test/harness/database.ts';

let database: FreshDatabase;
let networks: Record<string, string>;
beforeAll(async () => {
  database = await freshDatabase();
  await database.transaction((tx) => writeHistory(tx, 1_500));
  networks = Object.fromEntries((await database.sql<{ name: string; id: string }[]>`select name, id from networks`).map(({ name, id }) => [name, id]));
}, 60_000);
afterAll(() => database?.drop());

const worker = () => database.as('worker');
const missed = async () =>
  (await runCheck(database.sql, KEPT_CHECKS[0] as (typeof KEPT_CHECKS)[0], { staticAllowed: true })).rows as { list: string; of: string }[];

/** A transaction that stays open until it is told to end. */
function held(run: (tx: Tx) => Promise<unknown>): { ran: Promise<void>; end(how?: 'commit' | 'rollback'): Promise<void> } {
  let end = (_how: 'commit' | 'rollback'): void => undefined;
  const told = new Promise<'commit' | 'rollback'>((resolve) => {
    end = resolve;
  });
  let ran = (): void => undefined;
  const running = new Promise<void>((resolve) => {
    ran = resolve;
  });
  const done = worker()
    .transaction(async (tx) => {
      await run(tx);
      ran();
      if ((await told) === 'rollback') throw new Error('taken back');
    })
    .catch((error: Error) => expect(error.message).toBe('taken back'));
  return {
    ran: running,
    end: (how = 'commit') => {
      end(how);
      return done;
    },
  };
}

/** Swept addresses of one asset, with the deposit that lay there and the sweep that took it. */
async function swept(count: number): Promise<{ address: string; depositId: string; payoutId: string; assetId: string }[]> {
  return database.sql`
    select a.address, d.id as "depositId", p.id as "payoutId", d.asset_id from payouts p join wallets w on w.id = p.wallet_id
      join deposit_addresses a on a.address = w.address join deposits d on d.address_id = a.id and d.asset_id = p.asset_id
    where p.purpose = 'sweep' and p.status = 'CONFIRMED' and d.network_id = ${networks.ethereum as string} and d.kind = 'token' order by p.id limit ${count}`;
}

const sweepable = async (assetId: string): Promise<string[]> =>
  (await listSweepable(worker().sql, { networkId: networks.ethereum as string, assetId, pool: 'green', above: 0n, limit: 10_000 })).map(
    ({ address }) => address,
  );

/** The same, from all that ever was. */
const lying = async (assetId: string): Promise<string[]> =>
  (
    await database.sql<{ address: string }[]>`
      select a.address from deposits d join deposit_addresses a on a.id = d.address_id join payments p on p.id = d.payment_id and p.status <> 'PENDING'
        join credits c on c.id = d.credit_id and c.pool = 'green' join chain_tips t on t.network_id = d.network_id and d.height <= t.final_height
      where d.network_id = ${networks.ethereum as string} and d.asset_id = ${assetId} and d.state = 'credited'
      group by a.address
      having sum(d.raw_amount) > coalesce((
        select sum(o.raw_amount) from payouts o join wallets w on w.id = o.wallet_id
        where w.address = a.address and o.asset_id = ${assetId} and o.purpose = 'sweep' and o.status not in ('FAILED', 'CANCELLED')), 0)`
  ).map(({ address }) => address);

async function isListed(address: string): Promise<boolean> {
  return (await database.sql`select 1 from lying_deposits where address = ${address}`).length > 0;
}

describe('what is to be swept', () => {
  it('is all that lies at deposit addresses, however credits, sweeps, and what takes either back come together', async () => {
    const all = await swept(60);
    const assetId = all[0]?.assetId as string;
    await Promise.all(
      Array.from({ length: 6 }, async (_, at) => {
        for (const [turn, { depositId, payoutId }] of all.entries()) {
          const back = (turn + at) % 5 === 0;
          await worker()
            .transaction(async (tx) => {
              if ((turn * 7 + at) % 3 === 0)
                await tx`update deposits set state = case state when 'credited' then 'unallocated' else 'credited' end where id = ${depositId}`;
              else await tx`update payouts set status = case status when 'CONFIRMED' then 'FAILED' else 'CONFIRMED' end where id = ${payoutId}`;
              if (back) throw new Error('taken back');
            })
            .catch((error: Error) => expect(error.message).toMatch(/taken back|deadlock/));
        }
      }),
    );
    expect((await sweepable(assetId)).sort()).toEqual((await lying(assetId)).sort());
    expect(await missed()).toEqual([]);
    await worker().sql`update deposits set state = 'credited' where id = any(${all.map(({ depositId }) => depositId)}::uuid[]) and state <> 'credited'`;
    await worker().sql`update payouts set status = 'BROADCAST' where id = any(${all.map(({ payoutId }) => payoutId)}::uuid[])`;
    await worker().sql`update payouts set status = 'CONFIRMED' where id = any(${all.map(({ payoutId }) => payoutId)}::uuid[])`;
    // What is over is not looked for any more.
    expect(await database.sql`select address from lying_deposits where address = any(${all.map(({ address }) => address)})`).toEqual([]);
    expect(await missed()).toEqual([]);
  });

  it.each(['credit', 'sweep'])('is not forgotten when a credit and the end of the sweep before it come at once, and the %s commits first', async (first) => {
    const [one] = await swept(1);
    if (one === undefined) throw new Error('no sweep');
    const { address, depositId, payoutId } = one;
    await worker().sql`update payouts set status = 'BROADCAST' where id = ${payoutId}`;
    // Another transfer to the same address, which no sweep knows of.
    const [{ id }] = await database.sql<[{ id: string }]>`
      insert into deposits (id, network_id, txid, kind, ordinal, address_id, payment_id, asset_id, sender, raw_amount, amount, height, block_hash, position, block_time, first_seen_at, state, credit_id)
      select gen_random_uuid(), network_id, 'another for ' || ${first}, kind, 0, address_id, payment_id, asset_id, sender, raw_amount, amount, height, block_hash, position, block_time,
        first_seen_at, 'seen', credit_id from deposits where id = ${depositId} returning id`;
    const credit = held((tx) => tx`update deposits set state = 'credited' where id = ${id}`);
    await credit.ran;
    const end = held((tx) => tx`update payouts set status = 'CONFIRMED' where id = ${payoutId}`);
    await end.ran;
    await (first === 'credit' ? credit : end).end();
    await (first === 'credit' ? end : credit).end();
    expect(await isListed(address)).toBe(true);
    expect(await sweepable(one.assetId)).toContain(address);
    await database.sql`delete from deposits where id = ${id}`;
    await worker().sql`update payouts set status = 'BROADCAST' where id = ${payoutId}`;
    await worker().sql`update payouts set status = 'CONFIRMED' where id = ${payoutId}`;
    expect(await isListed(address)).toBe(false);
  });

  it('is there again when its sweep fails, is given up or turns out to take less', async () => {
    const [failed, cancelled, less] = await swept(3);
    if (failed === undefined || cancelled === undefined || less === undefined) throw new Error('too few sweeps');
    await worker().sql`update payouts set status = 'FAILED' where id = ${failed.payoutId}`;
    await worker().sql`update payouts set status = 'CANCELLED' where id = ${cancelled.payoutId}`;
    await worker().sql`update payouts set raw_amount = raw_amount - 1 where id = ${less.payoutId}`;
    expect(await sweepable(failed.assetId)).toEqual(expect.arrayContaining([failed.address, cancelled.address, less.address]));
    expect(await missed()).toEqual([]);
  });
});

describe('outputs', () => {
  /** Outputs of deposits that the transaction of this sighting spends. */
  const aSpend = async () =>
    (
      await database.sql<[{ sightingId: string; txid: string; vout: number }]>`
        select x.sighting_id, x.txid, x.vout from spent_outputs x join sightings g on g.id = x.sighting_id and g.canonical where x.vout = 0 order by x.sighting_id desc limit 1`
    )[0];
  const names = async () => (await listHeldOutputs(worker().sql, networks.bitcoin as string)).map(({ txid }) => txid);
  const spendable = async () =>
    (await listSpendable(worker().sql, { networkId: networks.bitcoin as string, address: 'bitcoin-hot', pool: 'green' })).map(({ txid }) => txid);

  it('are unspent again when a fork takes away what spent them, and spent when it comes back', async () => {
    const { sightingId, txid } = await aSpend();
    expect(await names()).not.toContain(txid);
    await worker().sql`update sightings set canonical = false where id = ${sightingId}`;
    expect(await names()).toContain(txid);
    expect(await missed()).toEqual([]);
    await worker().sql`update sightings set canonical = true where id = ${sightingId}`;
    expect(await names()).not.toContain(txid);
    expect(await database.sql`select 1 from lying_outputs where txid = ${txid}`).toEqual([]);
  });

  it('that one process hears are spent while another takes that block off the chain stay among the unspent', async () => {
    const { sightingId } = await aSpend();
    const [output] = await database.sql<{ txid: string; vout: number }[]>`
      select txid, vout from lying_outputs where spendable and address <> 'bitcoin-hot' order by txid limit 1`;
    if (output === undefined) throw new Error('no output');
    const spend = held((tx) => tx`insert into spent_outputs (sighting_id, txid, vout) values (${sightingId}, ${output.txid}, ${output.vout})`);
    await spend.ran;
    const fork = worker().sql`update sightings set canonical = false where id = ${sightingId}`.execute();
    await expect
      .poll(async () => (await database.sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`).length)
      .toBe(1);
    await spend.end();
    await fork;
    expect(await names()).toContain(output.txid);
    expect(await missed()).toEqual([]);
  });

  it('that nobody credited lie there without being looked at by whoever pays', async () => {
    const dust = await database.sql<{ txid: string }[]>`select txid from lying_outputs where not spendable`;
    expect(dust.length).toBeGreaterThan(10);
    expect(await names()).toEqual(expect.arrayContaining(dust.map(({ txid }) => txid)));
    const [{ txid }] = dust as unknown as [{ txid: string }];
    expect(await spendable()).not.toContain(txid);
    // An operator gives it to a payment.
    await worker().sql`update deposits set state = 'credited' where txid = ${txid}`;
    expect(await database.sql`select spendable from lying_outputs where txid = ${txid} order by 1`).toEqual([{ spendable: false }, { spendable: true }]);
  });
});

it('what an address of ours sent is unknown until there are bytes of it or an operator explains it', async () => {
  const networkId = networks.ethereum as string;
  const unknown = async () => (await listUnexplained(worker().sql, networkId)).map(({ txid }) => txid);
  const known = (await database.sql<[{ txid: string }]>`select txid from payout_attempts limit 1`)[0].txid;
  const sent = (txid: string, block: string): Promise<unknown> => worker().sql`
    insert into sightings (network_id, kind, txid, ordinal, height, block_hash, position, block_time, sender, nonce, succeeded, raw_fee)
    values (${networkId}, 'sent', ${txid}, 0, 1, ${block}, 0, now(), 'ethereum-hot', 1000, true, 1)`;
  expect(await unknown()).toEqual([]);
  await sent(known, 'another block');
  for (const txid of ['explained', 'signed', 'nobody knows']) await sent(txid, 'a block');
  expect(await unknown()).toEqual(['explained', 'signed', 'nobody knows']);
  await database.sql`insert into adopted_transactions (network_id, txid, purpose, reason) values (${networkId}, 'explained', 'other', 'a test')`;
  await database.sql`
    insert into payout_attempts (id, payout_id, number, txid, signed_bytes, fee_limit) select gen_random_uuid(), payout_id, 99, 'signed', signed_bytes, 1 from payout_attempts limit 1`;
  expect(await unknown()).toEqual(['nobody knows']);
  expect(await database.sql`select txid from unknown_outgoing`).toEqual([{ txid: 'nobody knows' }]);
});

it.each([
  ['lying_deposits', 'lying deposits'],
  ['lying_outputs', 'lying outputs'],
  ['unknown_outgoing', 'unknown outgoing'],
])('the audit of the night finds what is missing in %s, and no process may take anything off', async (table, list) => {
  const { sql } = database;
  await expect(worker().sql`delete from ${sql(table)}`).rejects.toThrow(/permission denied/);
  await expect(
    database.transaction(async (tx) => {
      await tx`delete from ${tx(table)}`;
      const { rows } = await runCheck(tx, KEPT_CHECKS[0] as (typeof KEPT_CHECKS)[0], { staticAllowed: true });
      expect(new Set(rows.map((row) => row.list))).toEqual(new Set([list]));
      throw new Error('taken back');
    }),
  ).rejects.toThrow('taken back');
});
