import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Gateway } from '#api/deps.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { assertBooksEqualChain, aTreasury, MERCHANT, type Treasury } from '#test/fixtures/treasury.ts';

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

const CONTRACT = '0x00000000000000000000000000000000c0de0001';
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const word = (hex: string) => hex.replace('0x', '').padStart(64, '0');

/** Code that, whoever calls it, logs the Transfer of one unit between two addresses that have nothing to do with it. */
const claims = (from: string, to: string) => `0x60016000527f${word(to)}7f${word(from)}7f${TRANSFER}60206000a300`;
/** Code that, whoever calls it, sends a million units of a token it holds to an address, and reverts when it cannot. */
const forwards = (token: string, to: string) =>
  `0x7f${'a9059cbb'.padEnd(64, '0')}6000527f${word(to)}6004527f${word('0xf4240')}6024526000600060446000600073${token.slice(2)}5af115609257005b60006000fd`;

const install = (code: string) => treasury.chain.node.call('anvil_setCode', [CONTRACT, code]);
const status = async (id: string) => (await getSettlement(treasury.deps, { gateway: shop, id })).status;
const halted = () => treasury.world.database.sql`select role, halted_reason from wallets where halted_reason is not null`;

describe('a contract somebody else wrote', () => {
  it('cannot halt our wallets by logging transfers they never made', async () => {
    const deposit = await treasury.earn(shop, 'USDT', '50');
    for (const victim of [treasury.wallet('hot'), treasury.wallet('funding'), deposit]) {
      await install(claims(victim, MERCHANT));
      await treasury.chain.payAndMine(CONTRACT, null, 1n);
      await treasury.mine();
    }
    const { id } = await treasury.cashOut(shop, 'USDT', '20');
    await treasury.settleAll();
    expect(await halted()).toEqual([]);
    expect(await status(id)).toBe('SETTLED');
  });

  it('cannot make its own cashout look unpaid by logging another transfer of ours while it receives it', async () => {
    await treasury.earn(shop, 'ETH', '0.5');
    await install(claims(treasury.wallet('hot'), MERCHANT));
    const { id } = await treasury.cashOut(shop, 'ETH', '0.2', { address: CONTRACT });
    await treasury.settleAll();
    expect(await halted()).toEqual([]);
    expect(await status(id)).toBe('SETTLED');
  });

  it.each(['hot', 'deposit'])('that sends coins to a %s address of ours while it is paid has them booked, and they are no deposit', async (target) => {
    const deposit = await treasury.earn(shop, 'ETH', '0.5');
    const usdc = treasury.assets.USDC?.contract as string;
    await treasury.chain.payAndMine(CONTRACT, usdc, 5_000_000n);
    await install(forwards(usdc, target === 'hot' ? treasury.wallet('hot') : deposit));
    const { id } = await treasury.cashOut(shop, 'ETH', '0.2', { address: CONTRACT });
    await treasury.settleAll();
    expect(await status(id)).toBe('SETTLED');
    expect(await treasury.chain.tokenBalance(usdc, target === 'hot' ? treasury.wallet('hot') : deposit)).toBe(1_000_000n);
    expect(await treasury.world.database.sql`select 1 from deposits where asset_id = ${treasury.assets.USDC?.id as string}`).toHaveLength(0);
    const booked = await treasury.world.database.sql`
      select kind, trim_scale(balance)::text as balance from ledger_accounts where asset_id = ${treasury.assets.USDC?.id as string} order by kind`;
    expect(booked).toEqual([
      { kind: target === 'hot' ? 'capital' : 'chain', balance: target === 'hot' ? '1' : '-1' },
      { kind: target === 'hot' ? 'chain' : 'unallocated', balance: target === 'hot' ? '-1' : '1' },
    ]);
  });
});
