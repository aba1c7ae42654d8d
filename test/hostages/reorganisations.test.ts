import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { insertFreeze } from '#api/store/freezes.ts';
import { assertBooksEqualChain } from '#test/fixtures/treasury.ts';
import { type BitcoinSteps, bitcoinSteps } from '#test/integration/treasury/bitcoin-steps.ts';

let steps: BitcoinSteps;
let address: string;
beforeAll(async () => {
  // As on mainnet small payments are: credited in their first block, which the network as a whole does not call final yet.
  steps = await bitcoinSteps({
    configure: (network) => ({ ...network, finality: { resolve: [{ rule: { blocks: 1 }, mature: { blocks: 1 } }], mature: { blocks: 2 } } }),
  });
  address = await steps.treasury.earn(steps.shop, 'BTC', '0.01');
});
afterEach(async () => {
  await sql()`delete from freezes`;
  await steps.treasury.mine(3);
  await steps.treasury.credit();
  await assertBooksEqualChain(steps.treasury);
  await steps.treasury.audit();
});
afterAll(() => steps?.treasury.stop());

const sql = () => steps.treasury.world.database.sql;
const scope = () => `asset:${steps.treasury.assets.BTC?.id}`;
const frozen = async () => (await sql()<{ scope: string }[]>`select scope from freezes`).map((one) => one.scope);
const lost = async () => (await sql()`select id from deposits where lost_at is not null`).length;
const lifts = () => sql()<{ reason: string; deposits: string[]; actor: string | null }[]>`
  select reason, details->'deposits' as deposits, actor from operator_actions where action = 'dispatch.unfreeze' and target = ${scope()} order by id`;

/** Further deposits in one block, booked in it. Answers their ids and their transactions. */
async function booked(...amounts: bigint[]): Promise<{ ids: string[]; raws: string[] }> {
  const { treasury } = steps;
  const signed = await treasury.chain.purse.sign(amounts.map((rawAmount) => ({ to: address, rawAmount })));
  const raws = [signed.hex];
  await treasury.chain.mineOnly(raws);
  await treasury.follow();
  await treasury.credit();
  const rows = await sql()<{ id: string }[]>`select id from deposits where final_at is not null and txid = ${signed.txid} order by ordinal`;
  expect(rows).toHaveLength(amounts.length);
  return { ids: rows.map(({ id }) => id), raws };
}

it('lifts the freeze of a one-block reorganisation by itself once what it took back is mined again and final', async () => {
  const { treasury, shop } = steps;
  const { ids, raws } = await booked(200_000n);
  await treasury.reorganise(1);
  expect([await frozen(), await lost()]).toEqual([[scope()], 1]);
  const { id } = await treasury.cashOut(shop, 'BTC', '0.002');
  await dispatchSettlement(treasury.deps, id);
  expect(await sql()`select wait_reason ~ 'took back deposit' as told from settlements where id = ${id}`).toEqual([{ told: true }]);

  await treasury.chain.mineOnly(raws);
  await treasury.follow();
  // Mined again, and not final yet: another block could still take it back.
  expect([await frozen(), await lost()]).toEqual([[scope()], 0]);
  await treasury.mine(1);
  expect(await frozen()).toEqual([]);
  expect(await lifts()).toEqual([{ reason: 'every deposit that the reorganisation took back is final again', deposits: ids, actor: null }]);
  await treasury.settleAll();
  expect(await sql()`select status from settlements where id = ${id}`).toEqual([{ status: 'SETTLED' }]);
});

it('lifts it when the very block that replaces the lost one holds the transaction too', async () => {
  const { raws } = await booked(150_000n, 160_000n);
  await steps.treasury.reorganise(1, [{ transaction: raws[0] as string, block: 0 }]);
  expect(await lost()).toBe(0);
  expect(await frozen()).toEqual([scope()]);
  await steps.treasury.mine(1);
  expect(await frozen()).toEqual([]);
});

it('keeps it while one of several is still lost, however the others came back', async () => {
  const { treasury } = steps;
  const [one, other] = [
    await treasury.chain.purse.sign([{ to: address, rawAmount: 110_000n }]),
    await treasury.chain.purse.sign([{ to: address, rawAmount: 120_000n }]),
  ];
  await treasury.chain.mineOnly([one.hex, other.hex]);
  await treasury.follow();
  await treasury.credit();
  await treasury.reorganise(1, [{ transaction: one.hex, block: 0 }]);
  await treasury.mine(3);
  expect([await frozen(), await lost()]).toEqual([[scope()], 1]);
  await treasury.chain.mineOnly([other.hex]);
  await treasury.follow();
  await treasury.mine(1);
  expect([await frozen(), await lost()]).toEqual([[], 0]);
});

it('leaves to an operator what somebody else froze too, before or after', async () => {
  const { treasury } = steps;
  const comeAndGo = async (between: () => Promise<unknown>): Promise<void> => {
    const { raws } = await booked(130_000n);
    await treasury.reorganise(1);
    await between();
    await treasury.chain.mineOnly(raws);
    await treasury.follow();
    await treasury.mine(2);
  };
  await comeAndGo(() => insertFreeze(sql(), { scope: scope(), reason: 'coins are missing' }));
  expect(await sql()`select scope, reason ~ 'took back deposit' as told from freezes`).toEqual([{ scope: scope(), told: true }]);
  await sql()`delete from freezes`;
  await insertFreeze(sql(), { scope: scope(), reason: 'an operator looks into it' });
  await comeAndGo(async () => undefined);
  expect(await sql()`select scope, reason from freezes`).toEqual([{ scope: scope(), reason: 'an operator looks into it' }]);
  await sql()`delete from freezes`;
  // Nor does it touch the freeze of a whole network.
  await insertFreeze(sql(), { scope: `network:${treasury.network.config.name}`, reason: 'a branch leaves the chain below a final block' });
  await comeAndGo(async () => undefined);
  expect(await frozen()).toEqual([`network:${treasury.network.config.name}`]);
});

it('keeps it while another deposit is lost that an operator had dispatch go on without', async () => {
  const { treasury } = steps;
  const first = await booked(140_000n);
  await treasury.reorganise(1);
  await sql()`delete from freezes`;
  const second = await booked(145_000n);
  await treasury.reorganise(1);
  await treasury.chain.mineOnly(second.raws);
  await treasury.follow();
  await treasury.mine(2);
  expect([await frozen(), await lost()]).toEqual([[scope()], 1]);
  await treasury.chain.mineOnly(first.raws);
  await treasury.follow();
  await treasury.mine(1);
  expect([await frozen(), await lost()]).toEqual([[], 0]);
});
