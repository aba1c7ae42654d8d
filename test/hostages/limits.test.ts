import { afterEach, describe, expect, it } from 'vitest';
import type { Gateway } from '#api/deps.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { tendPayouts } from '#api/payouts/tend-payouts.ts';
import type { NetworkConfig, OutgoingLimits } from '#shared/core/assets.ts';
import { POLICY } from '#shared/core/policy.ts';
import { OUT_OF_TURNS } from '#api/payouts/send.ts';
import { assertBooksEqualChain, aTreasury, type Treasury } from '#test/fixtures/treasury.ts';

let treasury: Treasury;
let greedy: Gateway;
let modest: Gateway;
const usd = (value: string): OutgoingLimits => ({ perTransactionUsd: value, hourlyUsd: value, dailyUsd: value });

async function open(limits: NetworkConfig['limits'], greedyCashout: Record<string, unknown> = {}): Promise<void> {
  treasury = await aTreasury({ configure: (network) => ({ ...network, limits }) });
  greedy = await treasury.world.aGateway({ name: 'Greedy', cashout: { enabled: true, ...greedyCashout } });
  modest = await treasury.world.aGateway({ name: 'Modest', cashout: { enabled: true } });
  await treasury.world.setPrice('ETH', '1');
  await treasury.world.setPrice('USDT', '1');
}
afterEach(async () => {
  try {
    await treasury.mine(2);
    await assertBooksEqualChain(treasury);
    await treasury.audit();
  } finally {
    await treasury.stop();
  }
});

const status = async (gateway: Gateway, id: string) => (await getSettlement(treasury.deps, { gateway, id })).status;
const reasonFor = async (id: string) =>
  (await treasury.world.database.sql<{ reason: string | null }[]>`select wait_reason as reason from settlements where id = ${id}`)[0]?.reason;

async function rounds(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await treasury.world.database.sql`update outbox set due_at = sluice_now() where state = 'due' and topic = 'settlement.dispatch'`;
    await treasury.work();
    await treasury.sign();
    await treasury.work();
    await treasury.mine();
  }
}

describe('bytes that became too cheap once they were signed', () => {
  it('are raised with the market, beyond the budget for fees as well, rather than block their wallet and be given up at the same price', async () => {
    await open({ ...usd('10000'), dailyFeeExpenseUsd: '0' });
    const { chain, deps } = treasury;
    await treasury.earn(greedy, 'ETH', '5');
    await chain.payAndMine(treasury.wallet('hot'), null, 10n ** 19n);
    await treasury.mine(2);
    const { id } = await treasury.cashOut(greedy, 'ETH', '2');
    await treasury.work();
    await treasury.sign();
    await treasury.work();
    const payouts = () => treasury.world.database.sql<{ status: string; cap: string }[]>`
      select status, plan->'fields'->>'maxFeePerGas' as cap from payouts where settlement_id = ${id} and purpose = 'settlement' order by family`;
    const [first] = await payouts();
    const dearBlocks = async (): Promise<void> => {
      for (let i = 0; i < POLICY.payoutBumpBlocks; i++) {
        await chain.node.call('anvil_setNextBlockBaseFeePerGas', [`0x${((BigInt(first?.cap as string) * 11n) / 10n).toString(16)}`]);
        await treasury.mine();
      }
    };
    await dearBlocks();
    for (let minutes = 0; minutes < 5 && (await status(greedy, id)) !== 'SETTLED'; minutes++) {
      await treasury.world.advance(POLICY.payoutBumpSeconds);
      await tendPayouts(deps);
      await treasury.sign();
      await treasury.work();
      await dearBlocks();
    }
    expect((await payouts()).map((payout) => payout.status)).toEqual(['CONFIRMED']);
    expect(await status(greedy, id)).toBe('SETTLED');
  });
});

describe('a gateway that sends all it can', () => {
  it('cannot use up what the network may let out: the next gateway is paid in the same hour', async () => {
    await open(usd('100'));
    await treasury.earn(greedy, 'USDT', '200');
    await treasury.earn(modest, 'USDT', '50');
    const sent: string[] = [];
    for (let i = 0; i < 12; i++) sent.push((await treasury.cashOut(greedy, 'USDT', '10')).id);
    await rounds(8);
    const settled = (await Promise.all(sent.map((id) => status(greedy, id)))).filter((one) => one === 'SETTLED').length;
    // A quarter of 100 is kept, 12.50 for each of two: 87.50 for one of them, fees included.
    expect(settled).toBe(8);
    expect(await reasonFor(sent.at(-1) as string)).toMatch(/what one gateway may have of the hourly limit/);
    const { id } = await treasury.cashOut(modest, 'USDT', '10');
    await rounds(4);
    expect(await status(modest, id)).toBe('SETTLED');
  });

  it('keeps nobody from being paid when nobody knows any more what its coins are worth', async () => {
    await open(usd('100'));
    await treasury.world.setPrice('USDT', '1', 'median');
    await treasury.earn(greedy, 'USDT', '50');
    await treasury.earn(modest, 'ETH', '30');
    const sent = await treasury.cashOut(greedy, 'USDT', '20');
    await rounds(6);
    expect(await status(greedy, sent.id)).toBe('SETTLED');
    await treasury.world.advance(600);
    const { id } = await treasury.cashOut(modest, 'ETH', '20');
    await rounds(6);
    expect(await reasonFor(id)).toBeNull();
    expect(await status(modest, id)).toBe('SETTLED');
  });

  it('holds no more nonces than its turns: the next gateway’s cashout has few before it, and all of its own go in the end', async () => {
    await open(usd('100000'));
    await treasury.earn(greedy, 'USDT', '150');
    await treasury.earn(modest, 'USDT', '50');
    await treasury.chain.payAndMine(treasury.wallet('hot'), treasury.assets.USDT?.contract ?? null, 200_000_000n);
    await treasury.chain.payAndMine(treasury.wallet('hot'), null, 10n ** 18n);
    await treasury.mine(2);
    const ids: string[] = [];
    for (let i = 0; i < POLICY.noncesPerGateway + 4; i++) ids.push((await treasury.cashOut(greedy, 'USDT', '2')).id);
    for (const id of ids) await dispatchSettlement(treasury.deps, id);
    const { id } = await treasury.cashOut(modest, 'USDT', '10');
    await dispatchSettlement(treasury.deps, id);
    const planned = await treasury.world.database.sql<{ settlementId: string }[]>`
      select settlement_id from payouts where purpose = 'settlement' order by nonce`;
    expect(planned).toHaveLength(POLICY.noncesPerGateway + 1);
    expect(planned.at(-1)?.settlementId).toBe(id);
    expect(await reasonFor(ids.at(-1) as string)).toBe(OUT_OF_TURNS);
    await treasury.settleAll();
    expect(new Set(await Promise.all(ids.map((one) => status(greedy, one))))).toEqual(new Set(['SETTLED']));
  });

  it('is held by its cap however many of its cashouts are planned at once', async () => {
    await open(usd('10000'), { dailyCapUsd: '25' });
    await treasury.earn(greedy, 'USDT', '200');
    await treasury.chain.payAndMine(treasury.wallet('hot'), treasury.assets.USDT?.contract ?? null, 200_000_000n);
    await treasury.chain.payAndMine(treasury.wallet('hot'), null, 10n ** 18n);
    await treasury.mine(2);
    const ids: string[] = [];
    for (let i = 0; i < 8; i++) ids.push((await treasury.cashOut(greedy, 'USDT', '10')).id);
    await Promise.all(ids.map((id) => dispatchSettlement(treasury.deps, id)));
    const planned = await treasury.world.database.sql`select 1 from payouts where purpose = 'settlement'`;
    expect(planned).toHaveLength(2);
  });

  it('is held by its own cap a day, on all networks together, and nobody else is', async () => {
    await open(usd('10000'), { dailyCapUsd: '25' });
    await treasury.earn(greedy, 'USDT', '200');
    await treasury.earn(modest, 'USDT', '50');
    const ids: string[] = [];
    for (const amount of ['10', '10', '10', '5', '30']) ids.push((await treasury.cashOut(greedy, 'USDT', amount)).id);
    const { id } = await treasury.cashOut(modest, 'USDT', '40');
    await rounds(8);
    expect(await Promise.all(ids.map((one) => status(greedy, one)))).toEqual(['SETTLED', 'SETTLED', 'REQUESTED', 'SETTLED', 'REQUESTED']);
    expect(await reasonFor(ids[2] as string)).toBe("the gateway's own limit of 25.00 USD a day is used up");
    expect(await status(modest, id)).toBe('SETTLED');
    await treasury.world.advance(86_401);
    await rounds(4);
    expect(await Promise.all(ids.map((one) => status(greedy, one)))).toEqual(['SETTLED', 'SETTLED', 'SETTLED', 'SETTLED', 'REQUESTED']);
  });
});
