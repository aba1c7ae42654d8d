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
import { keepReadings } from '#api/store/kept-readings.ts';
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
      const readings = compared.flatMap(({ reading }) => reading ?? []);
      const kept = await keepReadings(tx, readings);
      return readings.map(({ assetId }) => kept.has(assetId));
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
    // Of one asset alone: the others' readings are kept all the same.
    const partly = await compare();
    await books.db.sql`update kept_sums set version = version + 1 where asset_id = ${usdt.id}`;
    const kept = await store(partly);
    expect(kept).toEqual(partly.map(({ holding: { assetId } }) => assetId !== usdt.id));
    expect(kept).toContain(true);
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
    // Once more before it freezes; and no more once it has.
    expect(deposits(rest)).toEqual([...rest].sort());
    await fill(250);
    asked = [];
    await books.chain.mine();
    expect(await reconcile(deps)).toBe(0);
    expect(asked.length).toBeLessThan(250);
    expect(deposits(rest)).toEqual([]);
  });

  it('and where dispatch is frozen for something else already, not every address is asked about each minute for what is missing, but once that is lifted', async () => {
    await opened();
    const rest = await leftovers(3);
    await books.db.sql`insert into freezes (scope, reason) values (${`asset:${usdt.id}`}, 'its issuer does not let us move it')`;
    change(books.hotWallet, -1n);
    for (let minute = 0; minute < 3; minute++) {
      await fill(250);
      asked = [];
      await books.chain.mine();
      expect([minute, await reconcile(deps), deposits(rest)]).toEqual([minute, 0, []]);
    }
    expect(await suspected()).toBe(1);
    // A freeze of its network would not keep it from being frozen by itself.
    await books.db.sql`update freezes set scope = ${`network:${chain.config.name}`}`;
    await fill(250);
    asked = [];
    await books.chain.mine();
    expect([await reconcile(deps), deposits(rest)]).toEqual([1, [...rest].sort()]);
  });

  /** Empty addresses with readings of their own, which come first in turn; 250 are more than a look asks about. */
  const fill = async (count: number): Promise<void> => {
    const addresses = Array.from({ length: count }, () => anAddress());
    await books.db
      .sql`insert into kept_readings (asset_id, address, raw_amount, height, read_at) select ${usdt.id}, unnest(${addresses}::text[]), 0, 1, now() - interval '1 day'`;
  };

  it('and a node that told too little for one minute freezes nothing once it tells the truth, although what it told was kept', async () => {
    await opened();
    const rest = await leftovers(3);
    await fill(250);
    expect(await reconcile(deps)).toBe(0);
    change(rest[0] as string, -5n);
    await books.db.sql`update kept_readings set read_at = now() - interval '2 days' where address = ${rest[0] as string} and asset_id = ${usdt.id}`;
    expect(await reconcile(deps)).toBe(0);
    expect(await suspected()).toBe(1);
    await fill(250);
    change(rest[0] as string, 5n);
    await books.chain.mine();
    expect([await reconcile(deps), await suspected(), await books.db.sql`select scope from freezes`]).toEqual([0, 0, []]);
  });

  const suspected = async (): Promise<number> => (await books.db.sql`select 1 from reconciliations where short_since is not null`).length;

  it('and of two workers that ask at once the one that began earlier decides nothing, so that what the other one missed is not forgotten', async () => {
    await opened();
    await leftovers(1);
    await fill(1);
    expect(await reconcile(deps)).toBe(0);
    // The other worker asks, misses something and notes it, while this one has been told all and not kept it.
    let between = async (): Promise<void> => undefined;
    const slow: Deps = {
      ...deps,
      db: {
        ...deps.db,
        transaction: async (run: Parameters<typeof deps.db.transaction>[0]) => {
          const doing = between;
          if (askedSome) {
            between = async () => undefined;
            await doing();
          }
          return deps.db.transaction(run);
        },
      } as Deps['db'],
      chains: new Map([
        [
          chain.config.name,
          {
            ...chain,
            reader: {
              ...chain.reader,
              balance: (...of: Parameters<typeof chain.reader.balance>) => {
                askedSome = true;
                return chain.reader.balance(...of);
              },
            },
          },
        ],
      ]),
    };
    let askedSome = false;
    between = async () => {
      change(books.hotWallet, -7n);
      expect(await reconcile(deps)).toBe(0);
      expect(await suspected()).toBe(1);
    };
    expect(await reconcile(slow)).toBe(0);
    expect(await suspected()).toBe(1);
    await books.chain.mine();
    expect(await reconcile(deps)).toBe(1);
  });

  it('and dust that is never final at those whose turn it is keeps no other waiting', async () => {
    const rest = await leftovers(6);
    await look({ whole: true });
    await books.db.sql`update kept_readings set read_at = now() - interval '1 day' where address = any(${rest.slice(0, 2)}) and asset_id = ${usdt.id}`;
    await books.chain.mine(rest.slice(0, 2).map((address) => paid(address, 1n)));
    const turns: string[] = [];
    for (let i = 0; i < 3; i++) {
      expect(await look({ most: { ...NOBODY, resting: 2 } })).toEqual([]);
      turns.push(...deposits(rest));
    }
    expect([...new Set(turns)].sort()).toEqual([...rest].sort());
  });

  it('and dust that is never final all at once makes the list of what moved no longer than what is not final', async () => {
    const [address] = (await leftovers(1)) as [string];
    for (let block = 0; block < 8; block++) {
      await books.chain.mine([paid(address, 1n)]);
      expect([await look({ most: { ...NOBODY, touched: 3 } }), deposits([address])]).toEqual([[], [address]]);
      expect(await touched()).toBeLessThanOrEqual(2);
      expect(await doNotAddUp()).toEqual([]);
    }
    // What was added up without being asked about counts until it is.
    expect(await look({ most: NOBODY })).toEqual([]);
    change(address, -2n);
    await books.chain.mineEmpty(2);
    expect([await look({ most: { ...NOBODY, touched: 3 } }), await touched()]).toEqual([['USDT -0.000002'], 0]);
  });

  it('and what is final is asked about before what is not, so that it need not wait for the finality of others', async () => {
    const rest = await leftovers(5);
    await insertLate(rest[4] as string, 0n);
    await books.chain.mine(rest.slice(0, 4).map((address) => paid(address, 1n)));
    change(rest[4] as string, 2n);
    await insertLate(rest[4] as string, 2n);
    expect([await look({ most: { ...NOBODY, touched: 3 } }), asked.includes(rest[4] as string)]).toEqual([[], true]);
  });

  it('and one that is asked about whole answers for what only left an address, too', async () => {
    const { address } = (await payments(1))[0] as TestPayment;
    await look();
    const sweep = aSentTransaction(address, { rawFee: '0' });
    await books.chain.mine([sweep, books.chain.transfer(STRANGER, usdt, 5n, { sender: address, txid: sweep.txid })]);
    await books.chain.mineEmpty(2);
    await look({ whole: true });
    expect([deposits([address]), await touched()]).toEqual([[address], 0]);
  });

  /** What the canonical sightings of a deposit address add up to, as a node that shows just them tells. */
  const seenOf = async (address: string, contract: string | null): Promise<bigint> => {
    const [row] = await books.db.sql<[{ sum: string }]>`
      select coalesce(sum(case when kind = 'sent' then -raw_fee::numeric when sender = recipient then 0 when recipient = ${address} then raw_amount::numeric else -raw_amount::numeric end), 0)::text as sum
      from sightings where network_id = ${books.network.id} and canonical and (sender = ${address} or recipient = ${address}) and contract is not distinct from ${contract}`;
    return BigInt(row.sum);
  };
  const tellSeen = (): void => {
    const told = (address: string, contract: string | null) => {
      if (contract === usdt.contract) asked.push(address);
      return seenOf(address, contract);
    };
    chain = { ...chain, reader: { ...chain.reader, balance: told } };
    deps = { ...deps, chains: new Map([[chain.config.name, chain]]) };
  };
  /** Where what is kept, with what moved since, is not what was seen. */
  const wrong = async (addresses: readonly string[]): Promise<object[]> => {
    const found: object[] = [];
    for (const asset of [usdt, eth])
      for (const address of addresses) {
        const [row] = await books.db.sql<[{ standing: string }]>`
          select (coalesce((select raw_amount from kept_readings where asset_id = ${asset.id} and address = ${address}), 0)
            + coalesce((select sum(raw_change) from touched_holdings where asset_id = ${asset.id} and address = ${address}), 0))::text as standing`;
        const seen = await seenOf(address, asset.contract);
        if (BigInt(row.standing) !== seen) found.push({ symbol: asset.symbol, address, standing: row.standing, seen: String(seen) });
      }
    return [...found, ...(await doNotAddUp())];
  };
  /** The same numbers each time. */
  const numbers = (seed: number) => {
    let state = seed;
    return (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
  };

  it.each([1, 2, 3, 4])('and whatever comes, goes, is orphaned and comes back, each address stands at what was seen of it (%i)', async (seed) => {
    tellSeen();
    const any = numbers(seed);
    const addresses = (await payments(8)).map(({ address }) => address);
    const one = (): string => addresses[any(addresses.length)] as string;
    for (const asset of [usdt, eth]) await books.chain.mine(addresses.map((address) => books.chain.transfer(address, asset, 10_000n)));
    await books.chain.mineEmpty(3);
    for (let step = 0; step < 40; step++) {
      const asset = any(2) === 0 ? usdt : eth;
      const what = any(8);
      if (what <= 2) await books.chain.mine(Array.from({ length: any(4) }, () => books.chain.transfer(one(), asset, BigInt(1 + any(50)))));
      else if (what === 3) {
        const from = one();
        const sweep = aSentTransaction(from, { rawFee: String(any(9)) });
        await books.chain.mine([sweep, books.chain.transfer(any(2) === 0 ? one() : STRANGER, asset, BigInt(1 + any(9)), { sender: from, txid: sweep.txid })]);
      } else if (what === 4 && books.chain.height > 104) {
        books.chain.forkAt(books.chain.height - 1);
        await books.chain.mine();
      } else if (what === 5) {
        // A fork that is deeper than finality, or that ends.
        await books.db.sql`
          update sightings set canonical = not canonical where id in (select id from sightings where booked_at is null and raw_amount is distinct from 10000 order by md5(id::text || ${String(step)}) limit ${1 + any(3)})`;
      } else if (what === 6) await insertLate(one(), BigInt(1 + any(9)));
      else await books.chain.mineEmpty(1 + any(2));
      const stored = any(3) > 0;
      const compared = await compare({ whole: any(6) === 0, most: { unallocated: any(2), touched: any(4), resting: any(3) } });
      expect({ step, differs: differences(compared) }).toEqual({ step, differs: [] });
      // What is seen between a look and what is kept of it must be on neither side, or on both.
      if (any(3) === 0) await insertLate(one(), BigInt(1 + any(9)));
      if (stored) await store(compared);
      expect({ step, wrong: await wrong(addresses) }).toEqual({ step, wrong: [] });
    }
  });

  it('and writers of several chains, forks and workers at once neither wait for one another for ever nor lose what moved', async () => {
    tellSeen();
    const addresses = (await payments(6)).map(({ address }) => address);
    await books.chain.mineEmpty(4);
    await look();
    const height = books.chain.height - 2;
    const blockHash = books.chain.branch.find((one) => one.to === height)?.hash as string;
    const write = async (writer: number): Promise<void> => {
      const any = numbers(writer + 100);
      for (let i = 0; i < 25; i++) {
        const many = Array.from({ length: 1 + any(20) }, (_, at) => ({
          ...books.chain.transfer(addresses[any(addresses.length)] as string, any(2) === 0 ? usdt : eth, BigInt(1 + any(9))),
          height,
          blockHash,
          position: at,
        }));
        await books.deps.db.transaction((tx) => insertSightings(tx, any(4) === 0 ? books.otherNetwork.id : books.network.id, many));
        const txids = many.slice(0, any(many.length + 1)).map(({ txid }) => txid);
        await books.db.sql`update sightings set canonical = false where txid = any(${txids})`;
        if (any(2) === 0) await books.db.sql`update sightings set canonical = true where txid = any(${txids})`;
      }
    };
    let writing = true;
    const judge = async (): Promise<number> => {
      let kept = 0;
      while (writing) {
        const read = await compareInTurn(deps, chain, { whole: kept % 7 === 6, most: { unallocated: 1, touched: 3, resting: 2 } });
        if ((await store(read)).includes(true)) kept += 1;
        expect(await doNotAddUp()).toEqual([]);
      }
      return kept;
    };
    const judges = [judge(), judge()];
    await Promise.all([1, 2, 3, 4].map(write)).finally(() => (writing = false));
    expect((await Promise.all(judges)).reduce((sum, kept) => sum + kept, 0)).toBeGreaterThan(0);
    // What a judge was told beside a writer is asked about again, because it is on the list.
    while ((await touchedHere()) > 0) await look({ most: { ...NOBODY, touched: 3 } });
    expect(await look({ most: NOBODY })).toEqual([]);
  }, 60_000);

  const touchedHere = async (): Promise<number> =>
    (await books.db.sql`select 1 from touched_holdings where asset_id = any(${[usdt.id, eth.id]}::uuid[])`).length;

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
