import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Chain, Gateway } from '#api/deps.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { getSettlement, type SettlementView } from '#api/settlements/view.ts';
import { listSpendable } from '#api/store/outputs.ts';
import { consolidatePools } from '#api/treasury/consolidate-pools.ts';
import { mostInputs } from '#api/payouts/rules/spending.ts';
import { formatAmount, parseTrusted, toUnits, usdToCoins } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { earnSmall } from '#test/fixtures/small-outputs.ts';
import { assertBooksEqualChain } from '#test/fixtures/treasury.ts';
import { FULL } from '#test/harness/counts.ts';
import { type BitcoinSteps, bitcoinSteps } from '#test/integration/treasury/bitcoin-steps.ts';

/** What the attacker sends to one payment of its own: outputs of twenty dollars, more than are ever looked at in one go. `npm run test:long` sends all 5,000. */
const OUTPUTS = FULL ? 5_000 : 1_200;
const EACH_USD = '20';
/** Satoshis per virtual byte, dearer than anything is joined at by itself; one input, the payment and its change take 141 of them. */
const RATE = 8n;
const LOCKED = 141n * RATE;

let steps: BitcoinSteps;
let attacker: Gateway;
let victim: Gateway;
beforeAll(async () => {
  steps = await bitcoinSteps({ configure: (network) => ({ ...network, feeRate: { fallback: `${RATE}` } }) });
  attacker = await steps.treasury.world.aGateway();
  victim = await steps.treasury.world.aGateway();
  await earnSmall(steps.treasury, attacker, { outputs: OUTPUTS, rawEach: raw(await inBitcoin(EACH_USD)) });
});
afterEach(async () => {
  await steps.treasury.mine(3);
  await assertBooksEqualChain(steps.treasury);
  await steps.treasury.audit();
});
afterAll(() => steps?.treasury.stop());

const sql = () => steps.treasury.world.database.sql;
const read = (gateway: Gateway, id: string) => getSettlement(steps.treasury.deps, { gateway, id });
const raw = (amount: string): bigint => toUnits(parseTrusted(amount), 8) ?? 0n;
const inBitcoin = async (usd: string): Promise<string> => {
  const price = await steps.treasury.deps.prices.fresh('BTC');
  if (price === undefined) throw new Error('nobody knows what a bitcoin is worth');
  return formatAmount(usdToCoins(parseTrusted(usd), price.usd, 8, 'down'));
};
const cashOut = async (gateway: Gateway, usd: string) => steps.treasury.cashOut(gateway, 'BTC', await inBitcoin(usd));
const reasonOf = async (id: string) => (await sql()<{ reason: string | null }[]>`select wait_reason as reason from settlements where id = ${id}`)[0]?.reason;

/** The transaction that paid a cashout: what it cost and how many outputs it spent. */
async function paymentOf(id: string): Promise<{ fee: bigint; inputs: number }> {
  const [row] = await sql()<{ id: string; fee: string }[]>`
    select id, raw_fee::text as fee from payouts where settlement_id = ${id} and purpose = 'settlement' and status = 'CONFIRMED'`;
  if (row === undefined) throw new Error(`cashout ${id} was not paid`);
  return { fee: BigInt(row.fee), inputs: (await steps.attemptsOf(row.id)).at(-1)?.inputs.length ?? 0 };
}

/** Paid in full: what was asked for but for what was locked, and no coin less. */
async function expectPaid(gateway: Gateway, asked: SettlementView): Promise<SettlementView> {
  const settled = await read(gateway, asked.id);
  expect(settled).toMatchObject({ status: 'SETTLED', amount: asked.amount, feeLocked: asked.feeLocked, netAmount: asked.netAmount });
  expect(raw(settled.receivedAmount as string)).toBe(raw(asked.amount) - raw(asked.feeLocked));
  return settled;
}

describe('thousands of small outputs in the pool of a Bitcoin network', () => {
  it('would make a transaction of a cashout cost seventy times what is locked for it, or impossible', async () => {
    const [chain] = [...steps.treasury.deps.chains.values()] as [Chain];
    const coins = await listSpendable(sql(), steps.purse('hot'));
    const asked = async (usd: string) =>
      chain.payer.quote(
        { sender: steps.treasury.wallet('hot'), recipient: steps.treasury.merchant, contract: null, rawAmount: raw(await inBitcoin(usd)) },
        coins,
      );
    const small = await asked('3000');
    if (!small.ok) throw new Error(small.rejected);
    expect(mostInputs(chain, [small.quote.fields])).toBeGreaterThan(150);
    expect(small.quote.rawFee).toBeGreaterThan(70n * LOCKED);
    expect(await asked('6000')).toMatchObject({ ok: false, lacking: expect.any(BigInt) });
  });

  it('leave a cashout of 3,000 USD at what was locked for it', async () => {
    const asked = await cashOut(attacker, '3000');
    await dispatchSettlement(steps.treasury.deps, asked.id);
    expect(await reasonOf(asked.id)).toBe('small outputs of its pool are joined first: 1 transaction on the way');
    await steps.treasury.settleAll();
    await expectPaid(attacker, asked);
    expect(await paymentOf(asked.id)).toEqual({ fee: LOCKED, inputs: 1 });
    expect(raw(asked.feeLocked)).toBe(LOCKED);
  });

  it('let one of 6,000 USD settle by itself, also when fees are high, and of more than a thousand of them', async () => {
    expect(await consolidatePools(steps.treasury.deps)).toBe(0);
    const asked = await cashOut(attacker, '6000');
    // However many look at it at once.
    await Promise.all(Array.from({ length: 6 }, () => dispatchSettlement(steps.treasury.deps, asked.id)));
    expect(await reasonOf(asked.id)).toBe('small outputs of its pool are joined first: 2 transactions on the way');
    await steps.treasury.settleAll();
    await expectPaid(attacker, asked);
    expect((await paymentOf(asked.id)).inputs).toBeLessThanOrEqual(3);
  });

  it('do not keep the cashout of another gateway waiting, nor cost it more, while the attacker’s is prepared', async () => {
    const { treasury } = steps;
    await treasury.earn(victim, 'BTC', await inBitcoin('5000'));
    // The attacker is first in line, with all that it has.
    const [balance] = await sql()<{ left: string }[]>`
      select sum(c.remaining)::text as left from credits c join payments p on p.id = c.payment_id where p.gateway_id = ${attacker.id}`;
    const greedy = await treasury.cashOut(attacker, 'BTC', formatAmount(parseTrusted(balance?.left as string)));
    const asked = await cashOut(victim, '4000');
    const small = await cashOut(victim, '40');
    await dispatchSettlement(treasury.deps, small.id);
    const planned = async () =>
      (await sql()<{ id: string }[]>`select settlement_id as id from payouts where purpose = 'settlement' and status <> 'CONFIRMED'`).map(({ id }) => id);
    expect(await planned()).toContain(small.id);
    await treasury.settleAll();
    for (const one of [asked, small]) {
      await expectPaid(victim, one);
      expect((await paymentOf(one.id)).inputs).toBeLessThanOrEqual(POLICY.bitcoinPaymentInputs);
    }
    await expectPaid(attacker, greedy);
    // What joining cost is the deployment's own expense: the funding wallet makes up for it, and all of what is the victim's is there.
    const rest = await cashOut(victim, '900');
    await treasury.settleAll();
    await expectPaid(victim, rest);
  });
});
