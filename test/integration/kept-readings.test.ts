import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KEPT_CHECKS } from '#api/audit/kept-checks.ts';
import { type ComparedHolding, compareInTurn, type InTurn } from '#api/audit/holdings.ts';
import { reconcile } from '#api/audit/reconcile.ts';
import { runCheck } from '#api/audit/run-audit.ts';
import { applyRescan } from '#api/consumers/apply-rescan.ts';
import type { Chain, Deps } from '#api/deps.ts';
import { runAuditNow } from '#api/operator/audit.ts';
import { rescanNetwork } from '#api/operator/rescan.ts';
import { creditFinalDeposits } from '#api/payments/credit-deposit.ts';
import { keepReading } from '#api/store/kept-readings.ts';
import { insertSightings } from '#api/store/sightings.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import type { BlockMessage, Transfer } from '#shared/core/chain-events.ts';
import { formatAmount } from '#shared/core/money.ts';
import {
  aSentTransaction,
  anAddress,
  type Books,
  type BooksAsset,
  holding,
  type PaymentOptions,
  someBooks,
  STRANGER,
  type TestPayment,
} from '#test/fixtures/books.ts';

const MOST = { unallocated: 2, touched: 3, resting: 2 };
const NOBODY = { unallocated: 0, touched: 0, resting: 0 };

describe('what addresses hold is asked in turn', () => {
  let books: Books;
  let deps: Deps;
  let chain: Chain;
  let usdt: BooksAsset;
  let eth: BooksAsset;
  /** Addresses that the node was asked about in tokens, in order. */
  let asked: string[];
  beforeEach(async () => {
    asked = [];
    books = await someBooks();
    [usdt, eth] = [books.assets.USDT, books.assets.ETH];
    const [name, own] = [...books.deps.chains][0] as [string, Chain];
    chain = {
      ...own,
      reader: {
        ...own.reader,
        balance: (address: string, contract: string | null, height?: number) => {
          if (contract === usdt.contract) asked.push(address);
          return own.reader.balance(address, contract, height);
        },
      },
    };
    deps = { ...books.deps, chains: new Map([[name, chain]]) };
    await books.chain.mine();
  });
  afterEach(async () => {
    expect(await doNotAddUp()).toEqual([]);
    await books.drop();
  });

  /** What the audit of the night says of readings. */
  const doNotAddUp = async () =>
    (await runCheck(books.db.sql, KEPT_CHECKS[0] as (typeof KEPT_CHECKS)[0], { staticAllowed: true })).rows.filter(({ list }) => list === 'kept readings');
  const change = (address: string, units: bigint, asset = usdt): void => {
    const key = holding(address, asset.contract);
    books.onChain.set(key, (books.onChain.get(key) ?? 0n) + units);
  };
  const paid = (address: string, units: bigint, asset = usdt): Transfer => {
    change(address, units, asset);
    return books.chain.transfer(address, asset, units);
  };
  const store = (compared: readonly ComparedHolding[]): Promise<boolean[]> =>
    books.deps.db.transaction(async (tx) => {
      const kept: boolean[] = [];
      for (const { reading } of compared) if (reading !== null) kept.push(await keepReading(tx, reading));
      return kept;
    });
  const differences = (compared: readonly ComparedHolding[]): string[] =>
    compared.filter(({ holding: one }) => one.difference !== 0n).map(({ holding: one }) => `${one.symbol} ${formatAmount(one.difference)}`);
  const compare = (how: Partial<InTurn> = {}): Promise<ComparedHolding[]> => {
    asked = [];
    return compareInTurn(deps, chain, { whole: false, most: MOST, ...how });
  };
  /** Compares and keeps; answers what differs. */
  const look = async (how: Partial<InTurn> = {}): Promise<string[]> => {
    const compared = await compare(how);
    expect(await store(compared)).not.toContain(false);
    return differences(compared);
  };
  const payments = async (count: number, options: PaymentOptions = {}): Promise<TestPayment[]> => {
    const made: TestPayment[] = [];
    for (let i = 0; i < count; i++) made.push(await books.aPayment(options));
    return made;
  };
  /** Addresses where something lies that nobody was credited, long ago. */
  const leftovers = async (count: number): Promise<string[]> => {
    const made = await payments(count);
    await books.chain.mine(made.map(({ address }) => paid(address, 5n)));
    await books.chain.mineEmpty(2);
    expect(await look()).toEqual([]);
    return made.map(({ address }) => address);
  };
  const touched = async (): Promise<number> => (await books.db.sql`select 1 from touched_holdings`).length;
  const deposits = (addresses: readonly string[]): string[] => addresses.filter((one) => asked.includes(one)).sort();

  it('however many there were: wallets, where credited coins lie, and so many of the others', async () => {
    const lying = (await payments(1))[0] as TestPayment;
    await books.chain.mine([paid(lying.address, 100_000_000n)]);
    await books.chain.mine();
    await creditFinalDeposits(deps, books.network.id);
    const rest = await leftovers(12);
    expect([await look(), asked.length, await touched()]).toEqual([[], 2 + 1 + MOST.resting, 0]);
    expect(asked).toEqual(expect.arrayContaining([books.hotWallet, lying.address]));
    // All of them are asked in turn, each once, before one is asked again.
    const turns = [...deposits(rest)];
    for (let i = 1; i < rest.length / MOST.resting; i++) {
      expect(await look()).toEqual([]);
      turns.push(...deposits(rest));
    }
    expect([...new Set(turns)].sort()).toEqual([...rest].sort());
    expect(turns.length).toBe(rest.length);
  });

  it('and what leaves a wallet, or an address before it was swept, is missing at once, though nothing was seen', async () => {
    const { address } = (await payments(1))[0] as TestPayment;
    await books.chain.mine([paid(address, 100_000_000n)]);
    await books.chain.mine();
    await creditFinalDeposits(deps, books.network.id);
    await leftovers(4);
    expect(await look({ most: NOBODY })).toEqual([]);
    change(address, -100_000_000n);
    expect(differences(await compare({ most: NOBODY }))).toEqual(['USDT -100']);
    change(address, 100_000_000n);
    change(books.hotWallet, -7n);
    expect(differences(await compare({ most: NOBODY }))).toEqual(['USDT -0.000007']);
  });

  it('and the largest deposits that nobody owns are asked about each time, however many small ones there are', async () => {
    const made = await payments(4);
    await books.db
      .sql`update payments set status = 'EXPIRED', grace_seconds = 0, expires_at = sluice_now() - interval '2 hours' where id = any(${made.map(({ id }) => id)}::uuid[])`;
    await books.chain.mine(made.map(({ address }, at) => paid(address, BigInt(at + 1) * 10_000_000n)));
    await books.chain.mineEmpty(2);
    await creditFinalDeposits(deps, books.network.id);
    expect(await books.db.sql`select distinct state from deposits`).toEqual([{ state: 'unallocated' }]);
    expect(await look()).toEqual([]);
    change((made[3] as TestPayment).address, -40_000_000n);
    expect(differences(await compare({ most: { ...NOBODY, unallocated: 2 } }))).toEqual(['USDT -40']);
    expect(deposits(made.map(({ address }) => address))).toEqual([made[2], made[3]].map((one) => one?.address as string).sort());
  });

  it('and a leftover that vanishes is found when its turn comes', async () => {
    const rest = await leftovers(6);
    change(rest[3] as string, -5n);
    const found: string[][] = [];
    for (let i = 0; i < 3; i++) found.push(await look());
    expect(found.flat()).toContain('USDT -0.000005');
    expect(found.at(-1)).toEqual(['USDT -0.000005']);
  });

  it('and an address is asked again when a transfer is seen, each time until that is final', async () => {
    const [address] = (await leftovers(1)) as [string];
    await books.chain.mine([paid(address, 3n)]);
    for (const still of [1, 0]) {
      expect([await look({ most: { ...NOBODY, touched: 3 } }), deposits([address]), await touched()]).toEqual([[], [address], still]);
      await books.chain.mineEmpty(2);
    }
    expect([await look({ most: { ...NOBODY, touched: 3 } }), deposits([address])]).toEqual([[], []]);
    // The same where all addresses are read while it is not final.
    await books.chain.mine([paid(address, 4n)]);
    expect([await look({ whole: true }), await look({ most: NOBODY }), await touched()]).toEqual([[], [], 1]);
    books.chain.forkAt(books.chain.height - 1);
    change(address, -4n);
    await books.chain.mine();
    expect(await look({ most: NOBODY })).toEqual([]);
  });

  it('and when one is seen late, below what is final, by a writer that was not done when the others were read', async () => {
    const [address] = (await leftovers(1)) as [string];
    const height = books.chain.height - 2;
    const late = {
      ...books.chain.transfer(address, usdt, 9n),
      height,
      blockHash: books.chain.branch.find((one) => one.to === height)?.hash as string,
      position: 7,
    };
    await books.deps.db.transaction(async (tx) => {
      await insertSightings(tx, books.network.id, [late]);
      // Compared beside the writer, with what the chain says already.
      change(address, 9n);
      expect(await look()).toEqual(['USDT 0.000009']);
    });
    expect([await look({ most: { ...NOBODY, touched: 3 } }), deposits([address])]).toEqual([[], [address]]);
    // And between what was read and what is kept.
    const before = await compare();
    change(address, 2n);
    await insertLate(address, 2n);
    await store(before);
    expect(await look({ most: NOBODY })).toEqual([]);
    expect([await look({ most: { ...NOBODY, touched: 3 } }), deposits([address])]).toEqual([[], [address]]);
  });

  it('and when blocks are read again', async () => {
    const [address] = (await leftovers(1)) as [string];
    const height = books.chain.height - 2;
    const block = books.chain.branch.find((one) => one.to === height) as BlockMessage;
    await rescanNetwork(deps, { params: { network: books.network.name }, query: {}, body: { from: height, to: height } });
    const missed = { ...paid(address, 11n), height, blockHash: block.hash, position: 0, time: block.time };
    expect(await applyRescan(deps, books.network, { ...block, sightings: [missed] })).toMatchObject({ found: 1 });
    expect([await look({ most: { ...NOBODY, touched: 3 } }), deposits([address])]).toEqual([[], [address]]);
  });

  it('and when a fork takes a transfer back, also one that was final when it was read, and brings it again', async () => {
    const [address] = (await leftovers(1)) as [string];
    await books.chain.mine([paid(address, 3n)]);
    expect(await look()).toEqual([]);
    // Not final yet: the node is on the other branch before the books are.
    change(address, -3n);
    expect(await look()).toEqual(['USDT -0.000003']);
    books.chain.forkAt(books.chain.height - 1);
    await books.chain.mine();
    expect(await look({ most: NOBODY })).toEqual([]);
    expect(await look()).toEqual([]);
    await books.chain.mineEmpty(2);
    expect([await look(), await touched()]).toEqual([[], 0]);
    // One that was final, and was read: a fork deeper than finality.
    await books.db.sql`update sightings set canonical = false where recipient = ${address} and raw_amount = 5`;
    change(address, -5n);
    expect([await look({ most: { ...NOBODY, touched: 3 } }), deposits([address])]).toEqual([[], [address]]);
    await books.db.sql`update sightings set canonical = true where recipient = ${address} and raw_amount = 5`;
    change(address, 5n);
    expect([await look({ most: { ...NOBODY, touched: 3 } }), deposits([address])]).toEqual([[], [address]]);
  });

  it('and gas that a transaction of ours cost, and what it took, are asked for where they lay', async () => {
    const [address] = (await leftovers(1)) as [string];
    await books.chain.mine([paid(address, 100_000n, eth)]);
    await books.chain.mineEmpty(2);
    expect(await look()).toEqual([]);
    const sweep = aSentTransaction(address, { rawFee: '21000' });
    change(address, -21_000n, eth);
    change(address, -5n);
    await books.chain.mine([sweep, books.chain.transfer(STRANGER, usdt, 5n, { sender: address, txid: sweep.txid })]);
    expect([await look({ most: { ...NOBODY, touched: 3 } }), deposits([address])]).toEqual([[], [address]]);
    await books.chain.mineEmpty(2);
    expect([await look(), await look(), await touched()]).toEqual([[], [], 0]);
  });

  it('and dust that somebody sends to very many is asked about some at a time, which makes nothing look missing and keeps nothing of value waiting', async () => {
    const lying = (await payments(1))[0] as TestPayment;
    await books.chain.mine([paid(lying.address, 100_000_000n)]);
    await books.chain.mine();
    await creditFinalDeposits(deps, books.network.id);
    const rest = await leftovers(9);
    await books.chain.mine(rest.map((address) => paid(address, 1n)));
    await books.chain.mineEmpty(2);
    const touchedOnly = { most: { ...NOBODY, touched: 3 } };
    for (const left of [6, 3, 0]) {
      expect([await look(touchedOnly), deposits(rest).length, asked.includes(lying.address), await touched()]).toEqual([[], 3, true, left]);
    }
    await books.chain.mine(rest.map((address) => paid(address, 1n)));
    change(lying.address, -1n);
    expect(differences(await compare(touchedOnly))).toEqual(['USDT -0.000001']);
  });

  it('and a comparison that ends before it is kept, or that the node does not answer, only has to be made again', async () => {
    const [address] = (await leftovers(1)) as [string];
    await books.chain.mine([paid(address, 3n)]);
    await books.chain.mineEmpty(2);
    await compare();
    books.node.mute.add(usdt.contract as string);
    await expect(compare()).rejects.toThrow(ChainUnavailable);
    const unread: string[] = [];
    await opened();
    await store(await compareInTurn(deps, chain, { whole: false, most: MOST }, ({ symbol }) => unread.push(symbol)));
    books.node.mute.clear();
    expect([unread, await touched()]).toEqual([['USDT'], 1]);
    // The process ends while it keeps what it read: neither the verdict nor the readings are there.
    const broken = {
      ...deps.db,
      transaction: (run: Parameters<typeof deps.db.transaction>[0]) =>
        deps.db.transaction(async (tx) => {
          const done = await run(tx);
          if ((await tx`select 1 from reconciliations`).length > 0) throw new Error('killed');
          return done;
        }),
    } as Deps['db'];
    const state = async () => books.db.sql`select address, raw_amount, height, read_at from kept_readings order by 1, 2`;
    const before = await state();
    await expect(reconcile({ ...deps, db: broken })).rejects.toThrow('killed');
    expect([await state(), await touched()]).toEqual([before, 1]);
    expect([await look({ most: { ...NOBODY, touched: 3 } }), deposits([address]), await touched()]).toEqual([[], [address], 0]);
  });

  it('and of two workers that ask at once one keeps what it read, so that an earlier reading never takes the place of a later one', async () => {
    const [address] = (await leftovers(1)) as [string];
    await books.chain.mine([paid(address, 3n)]);
    await books.chain.mineEmpty(2);
    const slow = await compare();
    change(address, 4n);
    await insertLate(address, 4n);
    const fast = await compare();
    expect([differences(slow), differences(fast)]).toEqual([[], []]);
    expect([await store(fast), await store(slow)]).toEqual([
      [true, true, true],
      [false, false, false],
    ]);
    expect([await look({ most: NOBODY }), await touched()]).toEqual([[], 0]);
    // The first readings of all, by two at once.
    await books.db.sql`delete from kept_readings`;
    await books.db.sql`delete from kept_sums`;
    const [one, other] = [await compare(), await compare()];
    expect((await Promise.all([store(one), store(other)])).map((kept) => kept.includes(true)).sort()).toEqual([false, true]);
    expect(await look({ most: NOBODY })).toEqual([]);
  });

  const insertLate = async (address: string, units: bigint): Promise<void> => {
    const height = books.chain.height - 2;
    const late = {
      ...books.chain.transfer(address, usdt, units),
      height,
      blockHash: books.chain.branch.find((one) => one.to === height)?.hash as string,
      position: 7,
    };
    await books.deps.db.transaction((tx) => insertSightings(tx, books.network.id, [late]));
  };
  /** As if the opening balances were booked. */
  const opened = () =>
    books.db
      .sql`insert into ledger_transactions (source_key, kind) select 'opening:' || w.id || ':' || a.id, 'fund' from wallets w join assets a on a.network_id = w.network_id`;

  it('and the operator asks about every address, which finds what vanished and keeps nothing', async () => {
    await opened();
    const rest = await leftovers(5);
    change(rest[2] as string, -5n);
    asked = [];
    const before = await books.db.sql`select * from kept_readings order by asset_id, address`;
    const { data } = await runAuditNow(deps);
    const a14 = (data as { checks: { check: string; rows: object[] }[] }).checks.find((one) => one.check === 'A14');
    expect(a14?.rows).toMatchObject([{ symbol: 'USDT', difference: '-0.000005' }]);
    expect(deposits(rest)).toEqual([...rest].sort());
    expect(await books.db.sql`select * from kept_readings order by asset_id, address`).toEqual(before);
    expect([await look({ most: NOBODY }), await look({ most: NOBODY, whole: true }), await look({ most: NOBODY })]).toEqual([
      [],
      ['USDT -0.000005'],
      ['USDT -0.000005'],
    ]);
  });

  it('and a database with another history is trusted by a comparison that asks about every address, once its chain was followed', async () => {
    await opened();
    const rest = await leftovers(5);
    const reconciled = async (): Promise<string[]> => {
      asked = [];
      expect(await reconcile(deps)).toBe(0);
      return deposits(rest);
    };
    await fill(250);
    await books.db.sql`update database_epochs set history = 'another'`;
    expect(await reconciled()).toEqual([]);
    await books.db.sql`
      insert into indexer_leases (network_id, holder, epoch, expires_at, published_height, caught_up_at)
      select network_id, 'test', 1, now() + interval '1 hour', height, sluice_now() from chain_tips`;
    await fill(250);
    expect(await reconciled()).toEqual([...rest].sort());
    // What it read is all that is kept.
    expect(await books.db.sql`select address from kept_readings where asset_id = ${usdt.id} order by 1`).toEqual(
      [...rest].sort().map((address) => ({ address })),
    );
    await fill(250);
    expect(await reconciled()).toEqual([]);
  });

  it('and a wrong reading makes nothing look missing: where coins seem to be, every address is asked about before that counts', async () => {
    await opened();
    const rest = await leftovers(3);
    await books.db.sql`update kept_readings set raw_amount = raw_amount - 5 where address = ${rest[0] as string}`;
    await books.db.sql`update kept_sums set raw_amount = raw_amount - 5 where asset_id = ${usdt.id}`;
    expect(differences(await compare({ most: NOBODY }))).toEqual(['USDT -0.000005']);
    await fill(250);
    expect(differences(await compareInTurn(deps, chain, { whole: false }))).toEqual(['USDT -0.000005']);
    expect(await reconcile(deps)).toBe(0);
    expect(await books.db.sql`select difference::text as difference from reconciliations where short_since is not null`).toEqual([]);
    await books.chain.mine();
    expect([await reconcile(deps), differences(await compare({ most: NOBODY }))]).toEqual([0, []]);
    // What is missing indeed is missing by that, too, and by what is kept afterwards.
    change(books.hotWallet, -1n);
    expect(await reconcile(deps)).toBe(0);
    asked = [];
    await books.chain.mine();
    expect(await reconcile(deps)).toBe(1);
    expect(asked.length).toBeLessThan(250);
  });

  /** Empty addresses with readings of their own, which come first in turn; 250 are more than a look asks about. */
  const fill = async (count: number): Promise<void> => {
    const addresses = Array.from({ length: count }, () => anAddress());
    await books.db
      .sql`insert into kept_readings (asset_id, address, raw_amount, height, read_at) select ${usdt.id}, unnest(${addresses}::text[]), 0, 1, now() - interval '1 day'`;
  };

  it('and no process but a worker may write what is kept, and nobody what moved', async () => {
    const may = async (role: 'http' | 'worker' | 'signer', table: string): Promise<boolean[]> => {
      const [row] = await books.db.as(role).sql<[{ insert: boolean; delete: boolean }]>`
        select has_table_privilege(${table}, 'INSERT') as insert, has_table_privilege(${table}, 'DELETE') as delete`;
      return [row.insert, row.delete];
    };
    for (const table of ['kept_readings', 'kept_sums', 'touched_holdings'])
      expect([table, await may('http', table), await may('signer', table)]).toEqual([table, [false, false], [false, false]]);
    expect([await may('worker', 'kept_readings'), await may('worker', 'touched_holdings')]).toEqual([
      [true, true],
      [false, true],
    ]);
  });

  it('and the audit of the night tells when readings do not add up to what is kept', async () => {
    await leftovers(1);
    expect(await doNotAddUp()).toEqual([]);
    await books.db.sql`update kept_sums set raw_amount = raw_amount + 1 where asset_id = ${usdt.id}`;
    expect(await doNotAddUp()).toMatchObject([{ list: 'kept readings', of: usdt.id }]);
    await books.db.sql`update kept_sums set raw_amount = raw_amount - 1 where asset_id = ${usdt.id}`;
  });
});
