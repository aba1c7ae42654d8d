import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { upsertScreeningScore } from '#api/store/screenings.ts';
import { listSweepable } from '#api/store/own-moves.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { assertBooksEqualChain, aTreasury, type Treasury } from '#test/fixtures/treasury.ts';

let treasury: Treasury;
let shop: Gateway;
beforeEach(async () => {
  treasury = await aTreasury();
  shop = await treasury.world.aGateway();
});
afterEach(async () => {
  try {
    await treasury.mine(2);
    await treasury.credit();
    await assertBooksEqualChain(treasury);
    await treasury.audit();
  } finally {
    await treasury.stop();
  }
});

const sql = () => treasury.world.database.sql;
const asset = (symbol: string) => treasury.assets[symbol] as NonNullable<Treasury['assets'][string]>;
const raw = (symbol: string, amount: string) => toUnits(parseTrusted(amount), asset(symbol).decimals) as bigint;
const sweeps = (): Promise<{ status: string; nonce: number | null; rawAmount: string }[]> =>
  sql()`select status, nonce, raw_amount from payouts where purpose = 'sweep' order by created_at`;

describe('a sweep', () => {
  it.each([
    ['USDT', '100', '30'],
    ['ETH', '0.5', '0.3'],
  ])('never takes %s that is not credited yet, so that a reorganisation cannot strand it', async (symbol, credited, more) => {
    const deposit = await treasury.earn(shop, symbol, credited);
    const cashout = await treasury.cashOut(shop, symbol, symbol === 'ETH' ? '0.2' : '50');
    await treasury.chain.payAndMine(deposit, asset(symbol).contract, raw(symbol, more));
    await treasury.follow();
    for (let round = 0; round < 5 && !(await sweeps()).some((sweep) => sweep.nonce !== null); round++) {
      await dispatchSettlement(treasury.deps, cashout.id);
      if ((await sweeps()).some((sweep) => sweep.nonce !== null)) break;
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    const [sweep] = await sweeps();
    expect(sweep?.nonce).toBe(0);
    expect(BigInt(sweep?.rawAmount ?? 0)).toBeLessThanOrEqual(raw(symbol, credited));
    await treasury.settleAll();
  });

  it('of native coins counts the fee it kept back as gone, so that dust is not swept over and over', async () => {
    await treasury.earn(shop, 'ETH', '0.5');
    await treasury.cashOut(shop, 'ETH', '0.3');
    await treasury.settleAll();
    expect(await listSweepable(sql(), { networkId: treasury.network.id, assetId: asset('ETH').id, pool: 'green', above: 0n, limit: 10 })).toEqual([]);
  });

  it('with a nonce is never cancelled by a dispatcher that saw it before it had one', async () => {
    const deposit = await treasury.earn(shop, 'USDT', '100');
    const { id } = await treasury.cashOut(shop, 'USDT', '50');
    await dispatchSettlement(treasury.deps, id);
    await treasury.sign();
    await treasury.work();
    await treasury.mine();
    expect(await sweeps()).toMatchObject([{ status: 'PLANNED', nonce: null }]);

    // Another dispatcher plans the sweep while this one asks the chain, and gets an answer that says the coins are gone.
    let overtaken = false;
    const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
    const payer: Chain['payer'] = {
      ...chain.payer,
      balance: async (address, contract) => {
        if (address !== deposit || contract === null) return chain.payer.balance(address, contract);
        if (!overtaken) await dispatchSettlement(treasury.deps, id);
        overtaken = true;
        return 0n;
      },
    };
    await dispatchSettlement({ ...treasury.deps, chains: new Map([[name, { ...chain, payer }]]) } satisfies Deps, id);
    expect(overtaken).toBe(true);
    expect(await sweeps()).toMatchObject([{ status: 'PLANNED', nonce: 0 }]);
    await treasury.settleAll();
  });

  it('that was left without a nonce does not hold back the gas of another asset at its address', async () => {
    const deposit = await treasury.earn(shop, 'ETH', '0.5');
    await treasury.chain.payAndMine(deposit, asset('USDT').contract, raw('USDT', '80'));
    await treasury.mine(2);
    await treasury.credit();
    await sql()`
      insert into wallets (id, network_id, role, address, derivation_path)
      select gen_random_uuid(), ${treasury.network.id}, 'deposit', address, 'm/44''/60''/0''/0/' || derivation_index from deposit_addresses where address = ${deposit} limit 1`;
    await sql()`
      insert into payouts (id, network_id, wallet_id, purpose, family, status, asset_id, recipient, raw_amount, plan, created_at)
      select gen_random_uuid(), network_id, id, 'sweep', 1, 'PLANNED', ${asset('ETH').id}, ${treasury.wallet('hot')}, ${raw('ETH', '0.5').toString()}::text::numeric, '{}', sluice_now()
      from wallets where address = ${deposit}`;
    const { id } = await treasury.cashOut(shop, 'USDT', '60');
    for (let round = 0; round < 12 && (await getSettlement(treasury.deps, { gateway: shop, id })).status !== 'SETTLED'; round++) {
      await sql()`update outbox set due_at = sluice_now() where state = 'due'`;
      await treasury.work();
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    expect((await getSettlement(treasury.deps, { gateway: shop, id })).status).toBe('SETTLED');
  });

  it('that waits for a verdict is no reason to pay a cashout out of the funding wallet', async () => {
    const screened = await treasury.world.aGateway({ screening: { enabled: true, credits: 10 } });
    const address = await treasury.earn(screened, 'ETH', '0.1', 0);
    await upsertScreeningScore(sql(), { address, score: null });
    await treasury.chain.payAndMine(address, null, raw('ETH', '0.01'));
    await treasury.mine(2);
    await treasury.credit();
    const { id } = await treasury.cashOut(screened, 'ETH', '0.05');
    await dispatchSettlement(treasury.deps, id);
    expect(await sql()`select purpose from payouts`).toEqual([]);
    expect(await sql()`select wait_reason from settlements where id = ${id}`).toMatchObject([{ waitReason: expect.stringContaining('verdict') }]);
    await upsertScreeningScore(sql(), { address, score: 0 });
    await treasury.world.advance(61);
    await treasury.credit();
    await treasury.settleAll();
    expect((await getSettlement(treasury.deps, { gateway: screened, id })).status).toBe('SETTLED');
  });

  it('from an address whose watch has run out is seen and booked like any other', async () => {
    await treasury.earn(shop, 'USDT', '100');
    await treasury.world.advance(92 * 86_400);
    const { id } = await treasury.cashOut(shop, 'USDT', '50');
    await treasury.settleAll();
    expect((await getSettlement(treasury.deps, { gateway: shop, id })).status).toBe('SETTLED');
  });
});
