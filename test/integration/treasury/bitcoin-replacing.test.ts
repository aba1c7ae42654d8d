import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Chain, Deps } from '#api/deps.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { listSpendable } from '#api/store/outputs.ts';
import { tendPayouts } from '#api/payouts/tend-payouts.ts';
import { decodePsbt } from '#shared/chains/bitcoin/psbt.ts';
import { networkBytes } from '#shared/chains/bitcoin/spend.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { assertBooksEqualChain } from '#test/fixtures/treasury.ts';
import { type BitcoinSteps, bitcoinSteps } from './bitcoin-steps.ts';

let steps: BitcoinSteps;
let paidBefore: bigint;
beforeAll(async () => {
  steps = await bitcoinSteps();
  paidBefore = 0n;
});
afterEach(async () => {
  await steps.treasury.mine(3);
  await assertBooksEqualChain(steps.treasury);
  await steps.treasury.audit();
  paidBefore = await steps.treasury.chain.balance(steps.treasury.merchant);
});
afterAll(() => steps.treasury.stop());

const sql = () => steps.treasury.world.database.sql;
const read = (id: string) => getSettlement(steps.treasury.deps, { gateway: steps.shop, id });
const one = async (settlementId: string) => (await steps.payoutsOf(settlementId))[0];

async function paidOnce(settlementId: string, txid?: string): Promise<void> {
  const settled = await read(settlementId);
  expect(settled).toMatchObject({ status: 'SETTLED', ...(txid === undefined ? {} : { txHash: txid }) });
  const paid = (await steps.treasury.chain.balance(steps.treasury.merchant)) - paidBefore;
  expect(paid).toBe(toUnits(parseTrusted(settled.netAmount), 8));
}

/** A worker to which the market has no room for a higher fee; closing needs none. */
function crowded(): Deps {
  const [name, chain] = [...steps.treasury.deps.chains][0] as [string, Chain];
  const bump: Chain['payer']['bump'] = async (fields, family) => (family?.intent.rawAmount === 0n ? (chain.payer.bump?.(fields, family) ?? null) : null);
  return { ...steps.treasury.deps, chains: new Map([[name, { ...chain, payer: { ...chain.payer, bump } }]]) };
}

it('replaces with the same anchor and whatever else it takes, and frees that again when the older one is mined', async () => {
  const { treasury, shop } = steps;
  await treasury.earn(shop, 'BTC', '0.002');
  await treasury.earn(shop, 'BTC', '0.001');
  // So near to all of the larger deposit that there is no change to take a higher fee from.
  const { settlementId, payoutId } = await steps.sent('0.002001');
  const [first] = await steps.attemptsOf(payoutId);
  expect(first?.inputs).toHaveLength(1);
  await steps.bump();
  const [, second] = await steps.attemptsOf(payoutId);
  expect(second?.inputs[0]).toBe(first?.inputs[0]);
  expect(second?.inputs).toHaveLength(2);
  expect(second?.fee).toBeGreaterThan(first?.fee as bigint);
  expect(await treasury.chain.node.call('getrawmempool')).toContain(second?.txid);
  const further = second?.inputs[1] as string;
  expect((await steps.locks()).get(further)).toBe(payoutId);
  expect(await listSpendable(sql(), steps.purse('hot'))).toEqual([]);

  await treasury.chain.mineOnly([first?.hex as string]);
  await treasury.follow();
  expect((await one(settlementId))?.status).toBe('INCLUDED');
  expect((await steps.locks()).get(further)).toBe(payoutId);
  await treasury.mine(2);
  await paidOnce(settlementId, first?.txid);
  expect((await steps.locks()).has(further)).toBe(false);
  expect((await listSpendable(sql(), steps.purse('hot'))).map(({ txid, vout }) => `${txid}:${vout}`)).toContain(further);
});

it('pays once when the block of the newest bytes is taken back and older ones are mined instead', async () => {
  const { treasury, shop } = steps;
  await treasury.earn(shop, 'BTC', '0.01');
  const { settlementId, payoutId } = await steps.sent('0.004');
  await steps.bump();
  await steps.bump();
  const [first, , newest] = await steps.attemptsOf(payoutId);
  await treasury.mine(1);
  expect((await one(settlementId))?.status).toBe('INCLUDED');
  expect((await treasury.chain.node.call<string[]>('getrawmempool')).includes(newest?.txid as string)).toBe(false);
  await treasury.reorganise(1, [{ transaction: first?.hex as string, block: 0 }]);
  expect((await one(settlementId))?.status).toBe('INCLUDED');
  await treasury.mine(3);
  await paidOnce(settlementId, first?.txid);
});

it('sends every attempt again when its block is gone, and signs nothing new for it', async () => {
  const { treasury, shop } = steps;
  await treasury.earn(shop, 'BTC', '0.01');
  const { settlementId, payoutId } = await steps.sent('0.004');
  await treasury.mine(1);
  await treasury.reorganise(1);
  expect((await one(settlementId))?.status).toBe('BROADCAST');
  await treasury.work();
  await treasury.settleAll();
  expect(await steps.attemptsOf(payoutId)).toHaveLength(1);
  await paidOnce(settlementId);
});

it('waits without signing while a node knows the anchor to be spent and the scan does not yet', async () => {
  const { treasury, shop } = steps;
  await treasury.earn(shop, 'BTC', '0.01');
  const { settlementId, payoutId } = await steps.sent('0.004');
  await treasury.world.advance(POLICY.payoutBumpSeconds);
  await steps.mineEmpty(POLICY.payoutBumpBlocks);
  await treasury.chain.mine(1);
  await tendPayouts(treasury.deps);
  expect(await one(settlementId)).toMatchObject({ status: 'BROADCAST', failure: null });
  expect(await steps.attemptsOf(payoutId)).toHaveLength(1);
  await treasury.follow();
  await treasury.mine(2);
  await paidOnce(settlementId);
});

it('never signs without an anchor that a fork has taken: it says so, and goes on when the anchor is back', async () => {
  const { treasury, shop } = steps;
  await treasury.earn(shop, 'BTC', '0.02');
  await treasury.earn(shop, 'BTC', '0.02');
  const { settlementId, payoutId } = await steps.sent('0.015');
  const [txid, vout] = ((await one(settlementId))?.anchor ?? '').split(':') as [string, string];
  const setCanonical = (canonical: boolean) =>
    sql()`update sightings set canonical = ${canonical} where txid = ${txid} and kind = 'native' and ordinal = ${vout}`;
  await setCanonical(false);
  await steps.bump();
  await treasury.world.advance(POLICY.anchorCloseSeconds);
  await steps.bump();
  expect(await steps.attemptsOf(payoutId)).toHaveLength(1);
  expect(await one(settlementId)).toMatchObject({ status: 'BROADCAST', failure: expect.stringMatching(/^its anchor .* is gone from the chain/) });
  await setCanonical(true);
  await steps.bump();
  expect(await steps.attemptsOf(payoutId)).toHaveLength(2);
  await treasury.mine(3);
  await paidOnce(settlementId);
});

it('closes what can never be mined because another output than its anchor is gone for good, and pays with others', async () => {
  const { treasury, shop } = steps;
  await treasury.earn(shop, 'BTC', '0.06');
  await treasury.earn(shop, 'BTC', '0.06');
  const { settlementId, payoutId } = await steps.sent('0.1');
  const [first] = await steps.attemptsOf(payoutId);
  const [txid, vout] = (first?.inputs[1] ?? '').split(':') as [string, string];
  const setCanonical = (canonical: boolean) =>
    sql()`update sightings set canonical = ${canonical} where txid = ${txid} and kind = 'native' and ordinal = ${vout}`;
  await setCanonical(false);
  await steps.bump();
  expect(await one(settlementId)).toMatchObject({ status: 'BROADCAST', failure: expect.stringMatching(/^an output that was signed for is gone/) });
  await treasury.world.advance(POLICY.anchorCloseSeconds);
  await steps.bump();
  expect((await steps.attemptsOf(payoutId)).map(({ kind, inputs }) => [kind, inputs])).toEqual([
    ['transfer', first?.inputs],
    ['close', [first?.inputs[0]]],
  ]);
  await setCanonical(true);
  await treasury.settleAll();
  expect((await steps.payoutsOf(settlementId)).map(({ status }) => status)).toEqual(['FAILED', 'CONFIRMED']);
  await paidOnce(settlementId);
});

it('gives the anchor back to its wallet when it could not be sent for long, and then pays with new outputs, once', async () => {
  const { treasury, shop } = steps;
  await treasury.earn(shop, 'BTC', '0.01');
  const { settlementId, payoutId } = await steps.sent('0.004');
  await treasury.world.advance(POLICY.payoutBumpSeconds);
  await steps.mineEmpty(POLICY.payoutBumpBlocks);
  await tendPayouts(crowded());
  await treasury.world.advance(POLICY.anchorCloseSeconds);
  await tendPayouts(crowded());
  expect((await one(settlementId))?.status).toBe('REPLACING');
  // A close that keeps something of what it gives back is not signed; whoever decided it (decision 0036).
  const [kept] = await sql()<{ plan: { rawFee: string } }[]>`select plan from payouts where id = ${payoutId}`;
  await sql()`update payouts set plan = plan || jsonb_build_object('fields', (plan->'fields') || jsonb_build_object('change', ${`1000:${treasury.merchant}`}::text)) where id = ${payoutId}`;
  expect(await signPayout(treasury.deps, treasury.signers, payoutId)).toBe('refused');
  await sql()`delete from freezes`;
  await sql()`update payouts set plan = ${sql().json(kept?.plan as never)} where id = ${payoutId}`;
  await treasury.sign();
  await treasury.work();
  const [first, close] = await steps.attemptsOf(payoutId);
  expect(close).toMatchObject({ kind: 'close', inputs: [first?.inputs[0]] });
  await treasury.mine(3);
  expect(await one(settlementId)).toMatchObject({ status: 'FAILED', failure: expect.stringContaining('its anchor went back') });
  await treasury.settleAll();
  expect((await steps.payoutsOf(settlementId)).map(({ status }) => status)).toEqual(['FAILED', 'CONFIRMED']);
  await paidOnce(settlementId);
});

it('signs no further bytes that would leave the anchor of those signed before', async () => {
  const { treasury, shop } = steps;
  await treasury.earn(shop, 'BTC', '0.03');
  const { settlementId, payoutId } = await steps.sent('0.004');
  await treasury.world.advance(POLICY.payoutBumpSeconds);
  await steps.mineEmpty(POLICY.payoutBumpBlocks);
  await tendPayouts(treasury.deps);
  const planned = await one(settlementId);
  expect(planned?.status).toBe('REPLACING');
  const [other] = await listSpendable(sql(), steps.purse('hot'));
  if (other === undefined || planned === undefined) throw new Error('nothing else can be spent');
  const name = `${other.txid}:${other.vout}`;
  // Every row agrees on the other output: only the very bytes that were signed tell.
  const fields = { inputs: `${name}:${other.rawAmount}:${other.address}`, change: '' };
  const [kept] = await sql()<{ plan: Record<string, unknown> }[]>`select plan from payouts where id = ${payoutId}`;
  await sql()`update payouts set anchor = ${name}, plan = plan || jsonb_build_object('fields', ${sql().json(fields)}::jsonb) where id = ${payoutId}`;
  await sql()`insert into output_locks (network_id, txid, vout, payout_id) values (${treasury.network.id}, ${other.txid}, ${other.vout}, ${payoutId})`;
  expect(await signPayout(treasury.deps, treasury.signers, payoutId)).toBe('refused');
  expect((await one(settlementId))?.failure).toContain('bytes signed before do not spend its anchor');
  await sql()`delete from freezes`;
  await sql()`update payouts set anchor = ${planned.anchor}, plan = ${sql().json(kept?.plan as never)} where id = ${payoutId}`;
  await sql()`update output_locks set released_at = now() where payout_id = ${payoutId} and txid = ${other.txid} and vout = ${other.vout}`;
  expect(await treasury.sign()).toEqual(['signed']);
  await treasury.settleAll();
  await paidOnce(settlementId);
});

it('halts the wallet of the pool at first sight when somebody else spends an output of ours, and books what is lost', async () => {
  const { treasury, shop } = steps;
  const deposit = await treasury.earn(shop, 'BTC', '0.05');
  const output = (await listSpendable(sql(), steps.purse('hot'))).find(({ address }) => address === deposit);
  const [row] = await sql()<{ index: number }[]>`select derivation_index as index from deposit_addresses where address = ${deposit}`;
  const signer = [...treasury.signers.values()][0];
  if (output === undefined || row === undefined || signer === undefined) throw new Error('there is nothing to steal');
  const path = `${treasury.network.config.accountPath}/0/${row.index}`;
  const { txid, vout, rawAmount } = output;
  const stolen = await signer.sign(treasury.network.config.wallets.hot.path, {
    intent: { sender: treasury.wallet('hot'), recipient: treasury.chain.outsider, contract: null, rawAmount: 1_000_000n },
    nonce: null,
    fields: { inputs: `${txid}:${vout}:${rawAmount}:${deposit}`, change: `${rawAmount - 1_000_500n}:${treasury.wallet('hot')}` },
    paths: { [deposit]: path },
  });
  await treasury.chain.mineOnly([networkBytes(decodePsbt(stolen.signedBytes)).toString('hex')]);
  await treasury.follow();
  const halted = await sql()`select role from wallets where halted_reason like ${`transaction ${stolen.txid} is not one of ours%`} order by role`;
  expect(halted).toEqual([{ role: 'deposit' }, { role: 'hot' }]);
  const { id } = await treasury.cashOut(shop, 'BTC', '0.001');
  await dispatchSettlement(treasury.deps, id);
  expect(await sql()`select status, wait_reason from settlements where id = ${id}`).toEqual([
    { status: 'REQUESTED', waitReason: expect.stringContaining('the wallet is halted') },
  ]);
  await treasury.mine(3);
  const [loss] = await sql()<{ balance: string }[]>`select trim_scale(balance)::text as balance from ledger_accounts where kind = 'loss'`;
  expect(loss?.balance).toBe('-0.010005');
});
