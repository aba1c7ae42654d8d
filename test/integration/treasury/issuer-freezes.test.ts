import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { createPayment } from '#api/payments/create.ts';
import { listGatewayAssets } from '#api/payments/list-assets.ts';
import { selectOffer } from '#api/payments/select-offer.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { planSweeps } from '#api/treasury/plan-sweeps.ts';
import { watchIssuers } from '#api/treasury/watch-issuers.ts';
import { ChainUnavailable, type Payer } from '#shared/chains/chain.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { assertBooksEqualChain, aTreasury, MERCHANT, type Treasury } from '#test/fixtures/treasury.ts';
import { plainCommit } from '#test/harness/in-process.ts';

const SET_FROZEN = '0xac869cd8';
const SET_BOTH = '0x2eae00ac';

let treasury: Treasury;
let shop: Gateway;
beforeEach(async () => {
  treasury = await aTreasury();
  shop = await treasury.world.aGateway();
  const { chain } = treasury;
  // The token everybody holds, with an issuer: the same storage under other code.
  await chain.node.call('evm_setAutomine', [true]);
  const freezable = await chain.deployToken('FreezableToken', 'USDT', 6);
  await chain.node.call('evm_setAutomine', [false]);
  await chain.node.call('anvil_setCode', [usdt().contract, await chain.node.call('eth_getCode', [freezable, 'latest'])]);
  await treasury.follow();
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
const usdt = () => treasury.assets.USDT as NonNullable<Treasury['assets'][string]>;
const raw = (amount: string) => toUnits(parseTrusted(amount), usdt().decimals) as bigint;
const read = (id: string) => getSettlement(treasury.deps, { gateway: shop, id });
const waitReason = async (id: string) =>
  (await sql()<{ reason: string | null }[]>`select wait_reason as reason from settlements where id = ${id}`)[0]?.reason ?? '';
const freezes = () => sql()<{ scope: string; reason: string }[]>`select scope, reason from freezes`;
const refusals = () => sql()<{ address: string; role: string }[]>`select address, role from issuer_refusals order by address`;
const hot = () => treasury.wallet('hot');
const stopped = () => ({ scope: `asset:${usdt().id}`, reason: `the issuer does not let ${checksummed(hot())} move USDT` });
const checksummed = (address: string) => ([...treasury.deps.chains.values()][0] as Chain).codec.display(address);
const swept = async (address: string) =>
  (
    await sql()<{ status: string }[]>`select p.status from payouts p join wallets w on w.id = p.wallet_id where w.address = ${address} and p.purpose = 'sweep'`
  ).map((row) => row.status);

/** The issuer's own word about an address. */
async function freeze(address: string, frozen = true): Promise<void> {
  await issuer(SET_FROZEN, address.slice(2).padStart(64, '0') + (frozen ? '1' : '0').padStart(64, '0'));
}

async function issuer(selector: string, words: string): Promise<void> {
  await treasury.chain.node.send({ from: treasury.chain.faucet, to: usdt().contract as string, data: selector + words, gas: 200_000n });
  await treasury.mine();
}

/** Two rounds of the job, at two blocks: what is found once may be chance. */
async function watch(deps: Deps = treasury.deps): Promise<number> {
  const first = await watchIssuers(deps);
  await treasury.mine();
  return first + (await watchIssuers(deps));
}

/** Puts coins into the hot wallet. */
async function fill(amount: string): Promise<void> {
  await treasury.chain.payAndMine(hot(), usdt().contract, raw(amount));
  await treasury.mine(2);
}

async function offered(): Promise<string[]> {
  const body = { currencyCode: 'USD', amount: '10', checkoutMode: 'API' as const, webhookUrl: 'http://127.0.0.1:4242/hook' };
  const created = await createPayment(treasury.deps, { gateway: shop, body, clientIp: '127.0.0.1', commit: plainCommit(treasury.deps) });
  return (created.data as { payment: { offers: { assetSymbol: string }[] } }).payment.offers.map((one) => one.assetSymbol);
}

function having(payer: Partial<Payer>): Deps {
  const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
  return { ...treasury.deps, chains: new Map([[name, { ...chain, payer: { ...chain.payer, ...payer } }]]) };
}

describe('a token of which no contract lies where it is configured', () => {
  it('is switched off, and the endpoint that says so is believed as before', async () => {
    await treasury.earn(shop, 'USDC', '50');
    const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
    const code = await treasury.chain.node.call('eth_getCode', [usdt().contract, 'latest']);
    await treasury.chain.node.call('anvil_setCode', [usdt().contract, '0x']);
    expect(await watch()).toBe(1);
    const reason = `no contract lies at ${chain.codec.display(usdt().contract as string)} on ${name}`;
    expect(await freezes()).toEqual([{ scope: `asset:${usdt().id}`, reason }]);
    expect(await offered()).not.toContain('USDT');
    expect(await offered()).toContain('USDC');
    await expect(chain.reader.balance(hot(), usdt().contract)).rejects.toMatchObject({ trouble: 'refused' });
    await expect(chain.payer.balance(hot(), usdt().contract)).rejects.toMatchObject({ trouble: 'refused' });
    await treasury.chain.node.call('anvil_setCode', [usdt().contract, code]);
  });
});

describe('a wallet that an issuer has frozen', () => {
  it('stops its asset alone and says why, until an operator lifts that, and again while it is frozen', async () => {
    await treasury.earn(shop, 'USDT', '50');
    await treasury.earn(shop, 'USDC', '50');
    await fill('100');
    const { id } = await treasury.cashOut(shop, 'USDT', '20');
    await freeze(hot());
    expect(await watchIssuers(treasury.deps)).toBe(0);
    expect(await freezes()).toEqual([]);
    await treasury.mine();
    expect(await watchIssuers(treasury.deps)).toBe(1);
    expect(await freezes()).toEqual([stopped()]);
    await expect(treasury.cashOut(shop, 'USDT', '10')).rejects.toMatchObject({ code: 'fee_estimation_unavailable' });
    await dispatchSettlement(treasury.deps, id);
    expect(await waitReason(id)).toBe(`dispatch is frozen: ${stopped().reason}`);
    // Others go on.
    const other = await treasury.cashOut(shop, 'USDC', '20');
    for (let round = 0; round < 12 && (await read(other.id)).status !== 'SETTLED'; round++) {
      await sql()`update outbox set due_at = sluice_now() where state = 'due' and topic = 'settlement.dispatch'`;
      await treasury.work();
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    expect((await read(other.id)).status).toBe('SETTLED');
    // An operator who lifts it too early meets it again.
    await sql()`delete from freezes`;
    expect(await watchIssuers(treasury.deps)).toBe(1);
    await freeze(hot(), false);
    expect(await watchIssuers(treasury.deps)).toBe(0);
    expect(await freezes()).toEqual([stopped()]);
    await sql()`delete from freezes`;
    expect(await watchIssuers(treasury.deps)).toBe(0);
    expect(await refusals()).toEqual([]);
    await treasury.settleAll();
    expect((await read(id)).status).toBe('SETTLED');
  });

  it('takes its asset out of new payments and their addresses, while what is paid already is credited', async () => {
    const call = {
      gateway: shop,
      body: { currencyCode: 'USD', amount: '10', checkoutMode: 'API' as const, webhookUrl: 'http://127.0.0.1:4242/hook' },
      clientIp: '127.0.0.1',
    };
    const created = await createPayment(treasury.deps, { ...call, commit: plainCommit(treasury.deps) });
    const { payment } = created.data as { payment: { id: string; offers: { id: string; assetSymbol: string }[] } };
    const offerId = payment.offers.find((one) => one.assetSymbol === 'USDT')?.id as string;
    const address = await treasury.earn(shop, 'USDT', '30');
    await fill('100');
    expect(await offered()).toContain('USDT');
    await freeze(hot());
    await watch();
    const left = await offered();
    expect(left).not.toContain('USDT');
    expect(left).toContain('USDC');
    await expect(selectOffer(treasury.deps, { paymentId: payment.id, offerId, clientIp: '127.0.0.1' })).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await listGatewayAssets(treasury.deps, shop)).toContainEqual(
      expect.objectContaining({ symbol: 'USDT', health: 'PAUSED', healthReasons: expect.arrayContaining(['issuer_stopped']) }),
    );
    const before = await sql()`select count(*)::int as count from credits`;
    await treasury.chain.payAndMine(address, usdt().contract, raw('5'));
    await treasury.mine(2);
    await treasury.credit();
    expect(await sql()`select count(*)::int as count from credits`).toEqual([{ count: before[0]?.count + 1 }]);
    await freeze(hot(), false);
    await sql()`delete from freezes`;
    await watchIssuers(treasury.deps);
    expect(await offered()).toContain('USDT');
  });

  it('is noted where it is the held one, and stops nothing of what everybody else was paid', async () => {
    await treasury.chain.payAndMine(treasury.wallet('held'), usdt().contract, raw('10'));
    await treasury.mine(2);
    await freeze(treasury.wallet('held'));
    expect(await watch()).toBe(0);
    expect(await freezes()).toEqual([]);
    expect(await sql()`select role from issuer_refusals where stopped_at is null`).toEqual([{ role: 'held' }]);
  });

  it('is found though nothing is in it, once no deposit address can move the token either', async () => {
    await treasury.earn(shop, 'USDT', '30');
    await treasury.earn(shop, 'USDT', '20');
    expect(await watch()).toBe(0);
    await freeze(hot());
    for (const { address } of await sql()<{ address: string }[]>`select distinct address from deposit_addresses`) await freeze(address);
    expect(await watch()).toBe(1);
    expect((await freezes())[0]?.scope).toBe(`asset:${usdt().id}`);
  });
});

describe('what an issuer does to others', () => {
  it('stops no asset: one deposit address is left alone, and what lies behind it is swept', async () => {
    const bad = await treasury.earn(shop, 'USDT', '90');
    const good = await treasury.earn(shop, 'USDT', '60');
    await freeze(bad);
    const { id } = await treasury.cashOut(shop, 'USDT', '50');
    await treasury.settleAll();
    expect((await read(id)).status).toBe('SETTLED');
    expect([await swept(bad), await swept(good)]).toEqual([[], ['CONFIRMED']]);
    expect(await refusals()).toEqual([{ address: bad, role: 'deposit' }]);
    expect(await watch()).toBe(0);
    expect(await freezes()).toEqual([]);
    // What a cashout lacks lies there, and it says so.
    const short = await treasury.cashOut(shop, 'USDT', '80');
    await dispatchSettlement(treasury.deps, short.id);
    expect(await waitReason(short.id)).toContain('lie where the issuer does not let them be moved');
    await freeze(bad, false);
    await treasury.world.advance(POLICY.issuerRetrySeconds + 1);
    await watchIssuers(treasury.deps);
    expect(await refusals()).toEqual([]);
    await treasury.settleAll();
    expect((await read(short.id)).status).toBe('SETTLED');
  });

  it('stops no asset, and no sweep of others, however many deposit addresses it is', async () => {
    const bad: string[] = [];
    for (let i = 0; i < 3; i++) bad.push(await treasury.earn(shop, 'USDT', `${100 + i}`));
    const good = await treasury.earn(shop, 'USDT', '50');
    await fill('5');
    for (const address of bad) await freeze(address);
    await treasury.world.advance(POLICY.sweepRestSeconds + 1);
    for (let round = 0; round < 8 && !(await swept(good)).includes('CONFIRMED'); round++) {
      await planSweeps(treasury.deps);
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    expect(await swept(good)).toEqual(['CONFIRMED']);
    expect(await refusals()).toHaveLength(3);
    expect(await watch()).toBe(0);
    expect(await freezes()).toEqual([]);
  });

  it('stops only the cashout of a recipient that can get nothing', async () => {
    await issuer(SET_BOTH, '1'.padStart(64, '0'));
    await treasury.earn(shop, 'USDT', '90');
    const stuck = await treasury.cashOut(shop, 'USDT', '20');
    await freeze(MERCHANT);
    const behind = await treasury.cashOut(shop, 'USDT', '20', { address: `0x${'77'.repeat(20)}` });
    for (let round = 0; round < 12 && (await read(behind.id)).status !== 'SETTLED'; round++) {
      await sql()`update outbox set due_at = sluice_now() where state = 'due' and topic = 'settlement.dispatch'`;
      await treasury.work();
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    expect((await read(behind.id)).status).toBe('SETTLED');
    expect(await waitReason(stuck.id)).toContain('the network refuses the transfer');
    expect(await watch()).toBe(0);
    expect(await freezes()).toEqual([]);
  });

  it('stops no asset though wallets that would receive are frozen as well', async () => {
    await issuer(SET_BOTH, '1'.padStart(64, '0'));
    await fill('100');
    await freeze(treasury.wallet('funding'));
    await freeze(treasury.wallet('held'));
    expect(await watch()).toBe(0);
    expect(await freezes()).toEqual([]);
  });
});

describe('a sweep that passes every simulation and fails when it is mined', () => {
  it('is not made again before a rest, neither by itself nor for a cashout, because each costs a fee', async () => {
    const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
    const deps: Deps = { ...treasury.deps, chains: new Map([[name, { ...chain, config: { ...chain.config, sweeping: { floorTimesCost: 1 } } }]]) };
    const deposit = await treasury.earn(shop, 'USDT', '100');
    await treasury.world.advance(POLICY.sweepRestSeconds + 1);
    for (let round = 0; round < 3 && !(await swept(deposit)).includes('SIGNED'); round++) {
      await planSweeps(deps);
      await treasury.sign();
      if ((await swept(deposit)).includes('SIGNED')) break;
      await treasury.work();
      await treasury.mine(3);
    }
    await freeze(deposit);
    await treasury.work();
    await treasury.mine(4);
    await freeze(deposit, false);
    expect(await swept(deposit)).toEqual(['FAILED']);
    const { id } = await treasury.cashOut(shop, 'USDT', '50');
    for (let round = 0; round < 2; round++) {
      expect(await planSweeps(deps)).toBe(0);
      await dispatchSettlement(treasury.deps, id);
      await treasury.mine();
    }
    expect(await swept(deposit)).toEqual(['FAILED']);
    await treasury.world.advance(POLICY.sweepRetrySeconds + 1);
    await treasury.settleAll();
    expect((await swept(deposit)).sort()).toEqual(['CONFIRMED', 'FAILED']);
    expect((await read(id)).status).toBe('SETTLED');
  });
});

describe('what is no word of an issuer', () => {
  it('stops nothing: a wallet that is emptied while it is tried', async () => {
    await fill('100');
    const [chain] = [...treasury.deps.chains.values()] as [Chain];
    let looks = 0;
    const deps = having({
      balance: async (address, contract) => (contract !== null && address === hot() && looks++ % 2 === 1 ? 0n : chain.payer.balance(address, contract)),
      estimate: async (intent) => (intent.sender === hot() ? { ok: false, rejected: 'balance too low' } : chain.payer.estimate(intent)),
    });
    expect(await watch(deps)).toBe(0);
    expect(await refusals()).toEqual([]);
  });

  it('stops nothing: a node that does not answer', async () => {
    await fill('100');
    await freeze(hot());
    const deps = having({ estimate: () => Promise.reject(new ChainUnavailable('away')) });
    expect(await watch(deps)).toBe(0);
    expect(await refusals()).toEqual([]);
  });
});
