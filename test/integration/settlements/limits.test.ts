import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { checkCaps } from '#api/signer/caps.ts';
import { listAttempts } from '#api/store/payout-attempts.ts';
import { sumOutgoing } from '#api/store/payouts.ts';
import { checkLimits } from '#api/treasury/limits.ts';
import { tendPayouts } from '#api/payouts/tend-payouts.ts';
import type { OutgoingLimits } from '#shared/core/assets.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { assertBooksEqualChain, aTreasury, MERCHANT, type Treasury } from '#test/fixtures/treasury.ts';

let treasury: Treasury;
let shop: Gateway;
beforeAll(async () => {
  treasury = await aTreasury();
  shop = await treasury.world.aGateway();
  await treasury.world.setPrice('ETH', '2000');
  await treasury.world.setPrice('USDT', '1');
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
const usdt = () => treasury.assets.USDT as NonNullable<Treasury['assets'][string]>;
const raw = (amount: string) => toUnits(parseTrusted(amount), usdt().decimals) as bigint;
const limits = (usd: string): OutgoingLimits => ({ perTransactionUsd: usd, hourlyUsd: usd, dailyUsd: usd });
const PLENTY = limits('1000000');

/** The signer's own look at bytes that move this much, under these limits. */
async function capped(over: Partial<Chain['config']['limits']>, moves: { contract?: string | null; recipient?: string; rawAmount: bigint; rawFee?: bigint }) {
  const [, chain] = [...treasury.deps.chains][0] as [string, Chain];
  const limited: Chain = { ...chain, config: { ...chain.config, limits: { ...PLENTY, ...over } } };
  const bytes = { sender: treasury.wallet('hot'), recipient: MERCHANT, contract: usdt().contract, rawFee: 0n, ...moves };
  return checkCaps(treasury.deps, sql(), limited, bytes, { payoutId: '00000000-0000-4000-8000-000000000000', counted: false });
}

describe('the signer’s caps', () => {
  it.each<[string, Partial<Chain['config']['limits']>, string, bigint, RegExp | null]>([
    ['let out exactly the limit per transaction', { perTransactionUsd: '50' }, '50', 0n, null],
    ['keep back one unit more', { perTransactionUsd: '50' }, '50.000001', 0n, /per transaction$/],
    ['let out exactly the limit of an hour, fee included', { hourlyUsd: '52' }, '50', 10n ** 15n, null],
    ['keep back one unit of its fee more', { hourlyUsd: '52' }, '50', 10n ** 15n + 1n, /hourly limit/],
    ['let out exactly the limit of a day', { dailyUsd: '52' }, '50', 10n ** 15n, null],
    ['keep back one unit more of a day', { dailyUsd: '52' }, '50.000001', 10n ** 15n, /daily limit/],
    ['hold tokens against a limit of their own', { tokens: limits('49') }, '50', 0n, /per transaction for tokens/],
    ['hold them against no limit of the native coin', { native: limits('1') }, '50', 0n, null],
    ['hold their fee against the native coin’s', { native: { ...PLENTY, hourlyUsd: '1' } }, '50', 10n ** 15n, /hourly limit .* for the native coin/],
  ])('%s', async (_, over, amount, rawFee, problem) => {
    const answer = await capped(over, { rawAmount: raw(amount), rawFee });
    if (problem === null) expect(answer).toBeNull();
    else expect(answer).toMatch(problem);
  });

  it('are held against what bytes do: between our own addresses only the fee leaves us, and to nobody’s token nothing may', async () => {
    expect(await capped({ perTransactionUsd: '3' }, { rawAmount: raw('50'), recipient: treasury.wallet('held'), rawFee: 10n ** 15n })).toBeNull();
    expect(await capped({ perTransactionUsd: '1' }, { rawAmount: raw('50'), recipient: treasury.wallet('held'), rawFee: 10n ** 15n })).toMatch(
      /per transaction/,
    );
    expect(await capped({}, { rawAmount: 1n, contract: '0x00000000000000000000000000000000cafe0009' })).toMatch(/nobody knows/);
  });

  it('never hold up what comes behind for one that is above an hour’s limit only with its fee', async () => {
    const [, chain] = [...treasury.deps.chains][0] as [string, Chain];
    const limited: Chain = { ...chain, config: { ...chain.config, limits: { ...PLENTY, hourlyUsd: '50' } } };
    const cashout = { symbol: 'USDT', decimals: usdt().decimals, native: false, rawAmount: raw('50'), planned: true };
    const fee = { symbol: 'ETH', decimals: 18, rawFee: 1n };
    expect(await checkLimits(treasury.deps, sql(), limited, cashout)).toBeNull();
    expect(await checkLimits(treasury.deps, sql(), limited, { ...cashout, fee })).toMatchObject({ lasting: true });
  });

  it('count a payout that was closed by its fees alone, once the chain shows that it moved nothing, and by its amount until then', async () => {
    await treasury.earn(shop, 'USDT', '50');
    const { id } = await treasury.cashOut(shop, 'USDT', '20');
    const moved = async () =>
      (await sumOutgoing(sql(), { networkId: treasury.network.id, seconds: 86_400, planned: false })).find((sum) => sum.symbol === 'USDT')?.rawAmount ?? 0n;
    const planned = async () =>
      (await sql()<{ id: string }[]>`select id from payouts where settlement_id = ${id} and purpose = 'settlement' and status = 'PLANNED'`)[0]?.id;
    for (let round = 0; round < 10; round++) {
      await dispatchSettlement(treasury.deps, id);
      if ((await planned()) !== undefined) break;
      await treasury.sign();
      await treasury.work();
      await treasury.mine();
    }
    const payoutId = (await planned()) as string;
    await treasury.sign();
    await treasury.work();
    const amount = await moved();
    expect(amount).toBeGreaterThan(0n);
    // The network refuses it from now on, for so long that its nonce is used up.
    await treasury.chain.node.call('anvil_dropAllTransactions', []);
    const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
    const refused = async () => ({ ok: false, rejected: 'it is paused' }) as const;
    const payer: Chain['payer'] = {
      ...chain.payer,
      quote: refused,
      estimate: async (intent) => (intent.sender === intent.recipient ? chain.payer.estimate(intent) : refused()),
    };
    const deps: Deps = { ...treasury.deps, chains: new Map([[name, { ...chain, payer }]]) };
    await treasury.mine(POLICY.payoutBumpBlocks);
    await treasury.world.advance(POLICY.payoutBumpSeconds);
    await tendPayouts(deps);
    await treasury.world.advance(POLICY.payoutCloseSeconds);
    await tendPayouts(deps);
    await treasury.sign();
    expect((await listAttempts(sql(), payoutId)).map((attempt) => attempt.kind)).toEqual(['close', 'transfer']);
    expect(await moved()).toBe(amount);
    await treasury.work();
    await treasury.mine(3);
    expect(await sql()`select status from payouts where id = ${payoutId}`).toEqual([{ status: 'FAILED' }]);
    expect(await moved()).toBe(0n);
    await treasury.settleAll();
    expect(await moved()).toBe(amount);
  });
});
