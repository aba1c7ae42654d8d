import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEPT_CHECKS } from '#api/audit/kept-checks.ts';
import { runCheck } from '#api/audit/run-audit.ts';
import { listUnexplained } from '#api/store/adopted.ts';
import { listHeldOutputs } from '#api/store/holdings.ts';
import { listSpendable } from '#api/store/outputs.ts';
import { listSweepable } from '#api/store/own-moves.ts';
import { listUnknownOutgoing } from '#api/store/sightings.ts';
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

describe('what left our addresses', () => {
  const STRANGER = '0x00000000000000000000000000000000000000ff';
  let number = 0;
  let final: number;
  let token: string;

  /** A transfer that a block holds; `above` finality is its height. */
  async function moved(given: { sender: string; contract?: string | null; rawAmount?: number; above: number; txid?: string; block?: string }): Promise<string> {
    const { sender, contract = null, rawAmount = 5, above, txid = `moved ${++number}`, block = 'a block' } = given;
    await worker().sql`
      insert into sightings (network_id, kind, txid, ordinal, height, block_hash, position, block_time, sender, recipient, contract, raw_amount)
      values (${networks.ethereum as string}, ${contract === null ? 'native' : 'token'}, ${txid}, 0, ${final + above}, ${block}, 0, now(), ${sender}, ${STRANGER}, ${contract}, ${rawAmount})
      on conflict (network_id, block_hash, txid, kind, ordinal) do update set canonical = true where not sightings.canonical`;
    return txid;
  }

  const found = async (): Promise<string[]> =>
    (await listUnknownOutgoing(worker().sql, networks.ethereum as string)).map(({ txid }) => txid).filter((txid) => txid.startsWith('moved'));

  /** The same, from all that did not reach the books. */
  const unbooked = async (): Promise<string[]> =>
    (
      await database.sql<{ txid: string }[]>`
        select distinct on (g.sender) g.txid from sightings g
        where g.network_id = ${networks.ethereum as string} and g.canonical and g.booked_at is null and g.txid like 'moved%'
          and not exists (select 1 from payout_attempts t where t.txid = g.txid) and not exists (select 1 from adopted_transactions d where d.txid = g.txid)
          and (g.kind = 'sent' or g.raw_amount > 0 and (g.contract is null or exists (select 1 from assets a where a.network_id = g.network_id and a.contract = g.contract)))
          and (exists (select 1 from wallets w where w.network_id = g.network_id and w.address = g.sender) or exists (select 1 from deposit_addresses d where d.address = g.sender))
        order by g.sender, g.height, g.position`
    ).map(({ txid }) => txid);

  beforeAll(async () => {
    const networkId = networks.ethereum as string;
    [{ final }] = await database.sql<[{ final: number }]>`select final_height::int as final from chain_tips where network_id = ${networkId}`;
    [{ token }] = await database.sql<
      [{ token: string }]
    >`select contract as token from assets where network_id = ${networkId} and contract is not null limit 1`;
  });

  it('is unknown from the moment it is sighted, of wallets and deposit addresses, of coins and configured tokens, in whatever block it is', async () => {
    const addresses = await database.sql<{ address: string }[]>`select address from deposit_addresses where family = 'evm' order by id limit 40`;
    const senders = ['ethereum-funding', STRANGER, ...addresses.map(({ address }) => address)];
    const told: { sender: string; contract: string | null; rawAmount: number; above: number; block: string }[] = senders.flatMap((sender, at) =>
      [0, 1, 2].map((turn) => ({
        sender,
        contract: [null, token, '0x00000000000000000000000000000000000000ee'][(at + turn) % 3] as string | null,
        rawAmount: (at * 3 + turn) % 5 === 0 ? 0 : 7,
        above: (at + turn * 5) % 9 === 0 ? -1 : 3 + turn,
        block: `block ${turn}`,
      })),
    );
    const txids: string[] = [];
    for (const one of told) txids.push(await moved(one));
    expect((await found()).length).toBeGreaterThan(30);
    expect(await found()).toEqual(await unbooked());
    // A fork, and back.
    await worker().sql`update sightings set canonical = false where block_hash = 'block 0' and txid = any(${txids})`;
    expect(await found()).toEqual(await unbooked());
    for (const [at, one] of told.entries()) if (one.block === 'block 0') await moved({ ...one, txid: txids[at] as string });
    expect(await found()).toEqual(await unbooked());
    expect(await missed()).toEqual([]);
    // An operator explains some, and others reach the books.
    await database.sql`
      insert into adopted_transactions (network_id, txid, purpose, reason) select ${networks.ethereum as string}, txid, 'other', 'a test' from unnest(${txids.slice(0, 20)}::text[]) txid`;
    await worker().sql`update sightings set booked_at = now() where txid = any(${txids.slice(20, 60)})`;
    expect(await found()).toEqual(await unbooked());
    expect((await found()).length).toBeGreaterThan(10);
    expect(await missed()).toEqual([]);
    await worker().sql`update sightings set booked_at = now() where txid like 'moved%'`;
    expect(await found()).toEqual([]);
  });

  it('is not looked for among what strangers sent, and none of it is on the list that they, or a token that nobody configured, could fill', async () => {
    const before = await database.sql`select count(*) from unknown_outgoing`;
    const ours = (await database.sql<[{ address: string }]>`select address from deposit_addresses where family = 'evm' order by id desc limit 1`)[0].address;
    await moved({ sender: STRANGER, above: 2 });
    await moved({ sender: STRANGER, contract: token, above: 2 });
    await moved({ sender: ours, contract: '0x00000000000000000000000000000000000000ee', above: 2 });
    await moved({ sender: ours, contract: token, rawAmount: 0, above: 2 });
    expect(await database.sql`select count(*) from unknown_outgoing`).toEqual(before);
  });

  it.each([
    ['the address becomes a wallet of ours', '0x00000000000000000000000000000000000000a1', null],
    ['the token is configured', 'ethereum-held', '0x00000000000000000000000000000000000000a2'],
  ])('is unknown when it is final at the latest, where %s only after it was sighted', async (_, sender, contract) => {
    const networkId = networks.ethereum as string;
    const txid = await moved({ sender, contract, above: 2 });
    if (contract === null)
      await database.sql`
        insert into wallets (id, network_id, role, address, derivation_path) values (gen_random_uuid(), ${networkId}, 'deposit', ${sender}, 'later')`;
    else
      await database.sql`
        insert into assets select (jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid(), 'contract', ${contract}::text, 'symbol', 'LATER', 'created_at', now()))).*
        from assets a where a.network_id = ${networkId} and a.contract = ${token}`;
    expect(await missed()).toEqual([]);
    await database.sql`update chain_tips set final_height = final_height + 2, height = height + 2 where network_id = ${networkId}`;
    expect(await found()).toEqual([txid]);
    await worker().sql`update sightings set booked_at = now() where txid = ${txid}`;
    await database.sql`update chain_tips set final_height = final_height - 2, height = height - 2 where network_id = ${networkId}`;
  });

  it('is unknown, too, of a block that was off the chain when the list was begun and comes back', async () => {
    const txid = await database.transaction(async (tx) => {
      await tx`alter table sightings disable trigger sightings_open_new`;
      const [row] = await tx<[{ txid: string }]>`
        insert into sightings (network_id, kind, txid, ordinal, height, block_hash, position, block_time, sender, recipient, contract, raw_amount, canonical)
        values (${networks.ethereum as string}, 'token', 'moved in a fork', 0, ${final + 2}, 'a fork', 0, now(), 'ethereum-held', ${STRANGER}, ${token}, 5, false) returning txid`;
      await tx`alter table sightings enable trigger sightings_open_new`;
      const migration = await readFile('shared/schema/0090_transfers_nothing_explains.sql', 'utf8');
      await tx.unsafe(migration.slice(migration.lastIndexOf('insert into unknown_outgoing')));
      return row.txid;
    });
    expect(await found()).toEqual([]);
    await worker().sql`update sightings set canonical = true where txid = ${txid}`;
    expect(await found()).toEqual([txid]);
    expect(await missed()).toEqual([]);
    await worker().sql`update sightings set booked_at = now() where txid = ${txid}`;
  });

  it('is told by the audit of the night where a transfer is missing on the list', async () => {
    const txid = await moved({ sender: 'ethereum-held', above: 2 });
    expect(await missed()).toEqual([]);
    await expect(
      database.transaction(async (tx) => {
        await tx`delete from unknown_outgoing where txid = ${txid}`;
        const { rows } = await runCheck(tx, KEPT_CHECKS[0] as (typeof KEPT_CHECKS)[0], { staticAllowed: true });
        expect(rows).toEqual([expect.objectContaining({ list: 'unknown outgoing', of: txid })]);
        throw new Error('taken back');
      }),
    ).rejects.toThrow('taken back');
    await worker().sql`update sightings set booked_at = now() where txid = ${txid}`;
  });
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
