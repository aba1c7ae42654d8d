import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { bookedCold } from '#api/ledger/balances.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { listSpendable } from '#api/store/outputs.ts';
import { moveExcess } from '#api/treasury/move-excess.ts';
import { formatAmount, parseTrusted, toUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { assertBooksEqualChain } from '#test/fixtures/treasury.ts';
import { type BitcoinSteps, bitcoinSteps } from './bitcoin-steps.ts';

let steps: BitcoinSteps;
beforeAll(async () => {
  // The faucet plays cold storage: its key is in no configuration, and it can pay back. A rate at which a move is worth its fee.
  steps = await bitcoinSteps({
    configure: (network, chain) => ({
      ...network,
      feeRate: { fallback: '5' },
      cold: { address: chain.faucet },
      assets: network.assets.map((asset) => ({ ...asset, coldStorage: { ceiling: '0.5', floor: '0.1' } })),
    }),
  });
});
afterEach(async () => {
  await steps.treasury.mine(3);
  await assertBooksEqualChain(steps.treasury);
  await steps.treasury.audit();
});
afterAll(() => steps.treasury.stop());

const sql = () => steps.treasury.world.database.sql;
const raw = (amount: string): bigint => toUnits(parseTrusted(amount), 8) ?? 0n;
const cold = async () => bookedCold(sql(), steps.treasury.assets.BTC?.id as string);
const spendable = async () => (await listSpendable(sql(), steps.purse('hot'))).reduce((sum, one) => sum + one.rawAmount, 0n);
const moves = () =>
  sql()<
    { id: string; status: string; amount: string }[]
  >`select id, status, raw_amount::text as amount from payouts where purpose = 'cold' order by created_at`;
const waitReason = async (id: string) =>
  (await sql()<{ reason: string | null }[]>`select wait_reason as reason from settlements where id = ${id}`)[0]?.reason ?? '';

/** Pays the hot wallet several outputs at once, and waits until they are final. */
async function fill(...amounts: string[]): Promise<void> {
  const { chain } = steps.treasury;
  await chain.purse.pay(amounts.map((amount) => ({ to: steps.treasury.wallet('hot'), rawAmount: raw(amount) })));
  await steps.treasury.mine(3);
}

it('moves whole outputs, so that what cashouts may spend meanwhile is no less than the target', async () => {
  const { treasury } = steps;
  await fill('0.2', '0.2', '0.15', '0.1');
  expect(await moveExcess(treasury.deps)).toBe(1);
  expect(await spendable()).toBeGreaterThanOrEqual(raw('0.3'));
  expect(await moveExcess(treasury.deps)).toBe(0);
  await treasury.settleAll();
  expect(await moves()).toMatchObject([{ status: 'CONFIRMED' }]);
  expect(formatAmount(await cold())).toBe(formatAmount(parseTrusted((Number((await moves())[0]?.amount) / 1e8).toFixed(8))));
});

it('that waits in vain is raised out of its own change, and takes no other output of the pool', async () => {
  const { treasury } = steps;
  await fill('0.15', '0.15');
  expect(await moveExcess(treasury.deps)).toBe(1);
  await treasury.sign();
  await treasury.work();
  const before = await spendable();
  const taken = (await steps.locks()).size;
  await steps.bump();
  const id = (await moves()).at(-1)?.id as string;
  const [first, second] = await steps.attemptsOf(id);
  expect(second?.fee).toBeGreaterThan(first?.fee as bigint);
  expect([await spendable(), (await steps.locks()).size]).toEqual([before, taken]);
  await treasury.settleAll();
  expect((await moves()).at(-1)?.status).toBe('CONFIRMED');
});

it('splits an output that is larger than the excess, where what is left to cashouts meanwhile is no less than the floor', async () => {
  const { treasury } = steps;
  await fill('2');
  expect(await moveExcess(treasury.deps)).toBe(1);
  await treasury.settleAll();
  expect((await moves()).at(-1)?.status).toBe('CONFIRMED');
  expect(await spendable()).toBeGreaterThanOrEqual(raw('0.3'));
  expect(await spendable()).toBeLessThanOrEqual(raw('0.31'));
});

it('takes nothing that a cashout has claimed, and makes none wait', async () => {
  const { treasury, shop } = steps;
  await treasury.earn(shop, 'BTC', '0.4');
  const { id } = await treasury.cashOut(shop, 'BTC', '0.39');
  expect(await spendable()).toBeGreaterThan(raw('0.5'));
  expect(await moveExcess(treasury.deps)).toBe(0);
  await dispatchSettlement(treasury.deps, id);
  expect(await waitReason(id)).toBe('');
  await treasury.settleAll();
  expect((await getSettlement(treasury.deps, { gateway: shop, id })).status).toBe('SETTLED');
});

it('comes back as a refill, for which a cashout waits and says so', async () => {
  const { treasury, shop } = steps;
  await treasury.earn(shop, 'BTC', '0.6');
  await treasury.world.advance(POLICY.sweepRestSeconds);
  expect(await moveExcess(treasury.deps)).toBe(1);
  await treasury.settleAll();
  const { id } = await treasury.cashOut(shop, 'BTC', '0.6');
  await dispatchSettlement(treasury.deps, id);
  expect(await waitReason(id)).toContain('BTC lie in cold storage: refill the hot wallet');
  const stored = await cold();
  await fill('0.4');
  expect(await cold()).toBe(stored - parseTrusted('0.4'));
  await treasury.settleAll();
  expect((await getSettlement(treasury.deps, { gateway: shop, id })).status).toBe('SETTLED');
});
