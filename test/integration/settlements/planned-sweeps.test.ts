import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { upsertScreeningScore } from '#api/store/screenings.ts';
import { planSweeps } from '#api/treasury/plan-sweeps.ts';
import { watchIssuers } from '#api/treasury/watch-issuers.ts';
import { reportFunding } from '#api/treasury/report-funding.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { POLICY } from '#shared/core/policy.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import { assertBooksEqualChain, aTreasury, type Treasury } from '#test/fixtures/treasury.ts';

let treasury: Treasury;
let shop: Gateway;
beforeAll(async () => {
  treasury = await aTreasury();
  shop = await treasury.world.aGateway();
});
afterAll(async () => {
  try {
    await treasury.mine(2);
    await assertBooksEqualChain(treasury);
    await treasury.audit();
  } finally {
    await treasury.stop();
  }
});

const sql = () => treasury.world.database.sql;
const sweeping = (config: NetworkConfig['sweeping']): Deps => {
  const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
  return { ...treasury.deps, chains: new Map([[name, { ...chain, config: { ...chain.config, ...(config && { sweeping: config }) } }]]) };
};
const swept = async () =>
  (
    await sql()<
      { address: string }[]
    >`select w.address from payouts p join wallets w on w.id = p.wallet_id where p.purpose = 'sweep' and p.status <> 'CANCELLED' order by p.created_at, p.id`
  ).map((row) => row.address);
const rest = () => treasury.world.advance(POLICY.sweepRestSeconds + 1);
/** Sweeps, signs and mines until nothing is on its way. */
async function finish(deps: Deps): Promise<void> {
  for (let round = 0; round < 12; round++) {
    await planSweeps(deps);
    await treasury.sign();
    await treasury.work();
    await treasury.mine();
  }
}

describe('a planned sweep', () => {
  it('takes the largest deposits first, a few at once, above the floor, once they have rested, and fills the hot wallet without a cashout', async () => {
    const [small, large, middle] = [await treasury.earn(shop, 'USDT', '20'), await treasury.earn(shop, 'USDT', '90'), await treasury.earn(shop, 'USDT', '40')];
    const two = sweeping({ floorTimesCost: 1, atOnce: 2 });
    expect(await planSweeps(two)).toBe(0);
    await rest();
    expect(await planSweeps(two)).toBe(2);
    expect(await swept()).toEqual([large, middle]);
    // As many as there may be at once are on their way.
    expect(await planSweeps(two)).toBe(0);
    await finish(sweeping({ floorTimesCost: 1, atOnce: 2 }));
    expect(new Set(await swept())).toEqual(new Set([small, large, middle]));
    expect(await treasury.chain.tokenBalance(treasury.assets.USDT?.contract as string, treasury.wallet('hot'))).toBe(150_000_000n);
    const { id } = await treasury.cashOut(shop, 'USDT', '100');
    await treasury.settleAll();
    expect(await sql()`select 1 from payouts where purpose = 'sweep' and settlement_id = ${id}`).toEqual([]);
  });

  it('is moved on once its gas has come, though nothing else lies anywhere', async () => {
    const deposit = await treasury.earn(shop, 'USDT', '50');
    await rest();
    const one = sweeping({ floorTimesCost: 1 });
    expect(await planSweeps(one)).toBe(1);
    // The list of where coins lie may have forgotten its address by then.
    await sql()`delete from lying_deposits`;
    await finish(one);
    const [sweep] = await sql()`
      select p.status from payouts p join wallets w on w.id = p.wallet_id where p.purpose = 'sweep' and w.address = ${deposit} order by p.created_at desc limit 1`;
    expect(sweep).toEqual({ status: 'CONFIRMED' });
  });

  it('leaves what is not worth many times its cost, until fees are lower', async () => {
    const before = await swept();
    const deposit = await treasury.earn(shop, 'USDT', '10');
    await rest();
    const gas = async (gwei: bigint) => {
      await treasury.chain.node.call('anvil_setNextBlockBaseFeePerGas', [`0x${(gwei * 10n ** 9n).toString(16)}`]);
      await treasury.mine();
    };
    await gas(200n);
    expect(await planSweeps(sweeping({ floorTimesCost: 20 }))).toBe(0);
    expect(await swept()).toEqual(before);
    await gas(1n);
    await treasury.mine(5);
    // A little of what it brings, at these fees: about thirty cents.
    expect(await planSweeps(sweeping({ floorTimesCost: 2 }))).toBe(1);
    expect(await swept()).toEqual([...before, deposit]);
    await finish(sweeping({ floorTimesCost: 2 }));
  });

  it('gives its place to others when the network refuses it, or a verdict about it is awaited', async () => {
    const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
    const one = sweeping({ floorTimesCost: 1, atOnce: 1 });
    const screened = await treasury.world.aGateway({ screening: { enabled: true, credits: 10 } });
    const refused = await treasury.earn(shop, 'USDT', '95');
    const waiting = await treasury.earn(screened, 'USDT', '85', 0);
    const good = await treasury.earn(shop, 'USDT', '75');
    await rest();
    const before = await swept();
    // Its issuer has locked the largest one.
    const locking = (deps: Deps): Deps => {
      const { config } = deps.chains.get(name) as Chain;
      const estimate: Chain['payer']['estimate'] = async (intent) =>
        intent.sender === refused ? { ok: false, rejected: 'it is locked' } : chain.payer.estimate(intent);
      return { ...deps, chains: new Map([[name, { ...chain, config, payer: { ...chain.payer, estimate } }]]) };
    };
    expect(await planSweeps(one)).toBe(1);
    // What is given up makes room for the next look.
    const twice = async () => [await planSweeps(locking(one)), await planSweeps(locking(one))];
    await twice();
    expect(await swept()).toEqual([...before, waiting]);
    await upsertScreeningScore(sql(), { address: waiting, score: null });
    await treasury.chain.payAndMine(waiting, treasury.assets.USDT?.contract as string, 10_000_000n);
    await treasury.mine(2);
    await treasury.credit();
    await twice();
    expect(await swept()).toEqual([...before, good]);
    await twice();
    expect(await sql()`select count(*)::int as rows from payouts where purpose = 'sweep' and status = 'CANCELLED'`).toEqual([{ rows: 2 }]);
    await upsertScreeningScore(sql(), { address: waiting, score: 0 });
    await treasury.world.advance(61);
    await treasury.credit();
    await rest();
    // What an issuer has locked is tried again by itself, and swept once it is not.
    await watchIssuers(treasury.deps);
    await finish(one);
    await finish(one);
    expect(new Set(await swept())).toEqual(new Set([...before, refused, waiting, good]));
  });

  it('keeps no place from another asset while its own is frozen', async () => {
    const one = sweeping({ floorTimesCost: 1, atOnce: 1 });
    const before = await swept();
    const frozen = await treasury.earn(shop, 'USDC', '60');
    await rest();
    expect(await planSweeps(one)).toBe(1);
    await sql()`insert into freezes (scope, reason) values (${`asset:${treasury.assets.USDC?.id}`}, 'a test')`;
    const free = await treasury.earn(shop, 'USDT', '60');
    await rest();
    expect([await planSweeps(one), await swept()]).toEqual([1, [...before, frozen, free]]);
    await sql()`delete from freezes`;
    // Both wait now, and there are no more of them than there may be.
    await treasury.earn(shop, 'USDT', '60');
    await rest();
    expect(await planSweeps(one)).toBe(0);
    await finish(one);
    expect(await sql()`select 1 from payouts where purpose = 'sweep' and status not in ('CONFIRMED', 'CANCELLED')`).toEqual([]);
  });

  it('takes its turn: however much lies of one asset, there is a place for each of the others', async () => {
    const two = sweeping({ floorTimesCost: 1, atOnce: 2 });
    const before = await swept();
    const many: string[] = [];
    for (const amount of ['90', '80', '70']) many.push(await treasury.earn(shop, 'USDC', amount));
    const single = await treasury.earn(shop, 'USDT', '60');
    await rest();
    expect(await planSweeps(two)).toBe(2);
    expect((await swept()).filter((address) => !before.includes(address)).sort()).toEqual([many[0] as string, single].sort());
    await finish(two);
    expect((await swept()).filter((address) => !before.includes(address)).sort()).toEqual([...many, single].sort());
  });

  it.each<[string, () => PromiseLike<unknown>, () => PromiseLike<unknown>]>([
    ['dispatch is frozen', () => sql()`insert into freezes (scope, reason) values ('all', 'a test')`, () => sql()`delete from freezes`],
    ['the network is paused', () => sql()`update networks set paused_at = now()`, () => sql()`update networks set paused_at = null`],
    [
      'the hot wallet is halted',
      () => sql()`update wallets set halted_reason = 'a test' where role = 'hot'`,
      () => sql()`update wallets set halted_reason = null`,
    ],
  ])('is not made while %s', async (_, stop, start) => {
    const before = await swept();
    await treasury.earn(shop, 'USDT', '60');
    await rest();
    await stop();
    expect(await planSweeps(sweeping({ floorTimesCost: 1 }))).toBe(0);
    expect(await swept()).toEqual(before);
    await start();
    expect(await planSweeps(sweeping({ floorTimesCost: 1 }))).toBe(1);
    await finish(sweeping({ floorTimesCost: 1 }));
  });
});

describe('the funding wallet', () => {
  it('is reported with the sweeps it still brings gas for, and called low before it is empty', async () => {
    const metrics = createApiMetrics('test');
    const left = async () => Number(/^sluice_wallet_gas_runway_transfers\{chain="[^"]+",wallet="funding"\} (\d+)$/m.exec((await metrics.scrape()).body)?.[1]);
    expect(await reportFunding({ ...treasury.deps, metrics })).toBe(0);
    expect(await left()).toBeGreaterThan(POLICY.fundingLowSweeps);
    const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
    const poor: Deps = { ...treasury.deps, metrics, chains: new Map([[name, { ...chain, payer: { ...chain.payer, balance: async () => 1_000n } }]]) };
    expect(await reportFunding(poor)).toBe(1);
    expect(await left()).toBe(0);
  });
});
