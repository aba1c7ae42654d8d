import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Chain, Deps } from '#api/deps.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { estimateFee } from '#api/settlements/estimate-fee.ts';
import { rejectSettlement } from '#api/settlements/reject.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { listSpendable } from '#api/store/outputs.ts';
import { nameOf } from '#api/payouts/rules/spending.ts';
import { reportFunding } from '#api/treasury/report-funding.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { assertBooksEqualChain } from '#test/fixtures/treasury.ts';
import { aPurse } from '#test/harness/bitcoin-purse.ts';
import { times } from '#test/harness/counts.ts';
import { type BitcoinSteps, bitcoinSteps } from './bitcoin-steps.ts';

/** Satoshis per virtual byte, configured: a local node cannot tell what blocks take. Dear enough that a few inputs cost more than deposits were charged. */
const RATE = 50n;

let steps: BitcoinSteps;
beforeAll(async () => {
  steps = await bitcoinSteps({ configure: (network) => ({ ...network, feeRate: { fallback: `${RATE}` } }) });
});
afterEach(async () => {
  await steps.treasury.mine(3);
  await assertBooksEqualChain(steps.treasury);
  await steps.treasury.audit();
});
afterAll(() => steps.treasury.stop());

const sql = () => steps.treasury.world.database.sql;
const read = (id: string) => getSettlement(steps.treasury.deps, { gateway: steps.shop, id });
const raw = (amount: string): bigint => toUnits(parseTrusted(amount), 8) ?? 0n;
const spendable = async () => (await listSpendable(sql(), steps.purse('hot'))).reduce((sum, one) => sum + one.rawAmount, 0n);

it('has the funding wallet bring what the pool lacks in fees, once, and pays out everything there is', async () => {
  const { treasury, shop } = steps;
  for (const amount of ['0.0005', '0.0003', '0.0002']) await treasury.earn(shop, 'BTC', amount);
  const { id } = await treasury.cashOut(shop, 'BTC', '0.00097');
  await dispatchSettlement(treasury.deps, id);
  await dispatchSettlement(treasury.deps, id);
  expect(await sql()`select purpose, status from payouts`).toEqual([{ purpose: 'top_up', status: 'PLANNED' }]);
  await treasury.settleAll();
  const settled = await read(id);
  expect(settled).toMatchObject({ status: 'SETTLED', amount: '0.00097' });
  expect(await treasury.chain.balance(treasury.merchant)).toBe(raw(settled.netAmount));
  expect(await sql()`select purpose, status from payouts order by created_at`).toEqual([
    { purpose: 'top_up', status: 'CONFIRMED' },
    { purpose: 'settlement', status: 'CONFIRMED' },
  ]);
});

it('has many small deposits joined first, at our own expense, and pays no more than was locked for one', async () => {
  const { treasury, shop } = steps;
  const { chain } = treasury;
  const { payAndMine } = chain;
  chain.payAndMine = async (to) => {
    const { txid } = await chain.purse.pay(Array.from({ length: 30 }, () => ({ to, rawAmount: 20_000n })));
    await chain.mine(1);
    return txid as Awaited<ReturnType<typeof payAndMine>>;
  };
  try {
    await treasury.earn(shop, 'BTC', '0.006');
  } finally {
    chain.payAndMine = payAndMine;
  }
  const { id } = await treasury.cashOut(shop, 'BTC', '0.0045');
  await dispatchSettlement(treasury.deps, id);
  expect(await sql()`select wait_reason as reason from settlements where id = ${id}`).toEqual([
    { reason: 'small outputs of its pool are joined first: 1 transaction on the way' },
  ]);
  await treasury.settleAll();
  const settled = await read(id);
  expect(settled.status).toBe('SETTLED');
  const paid = await sql()<
    { purpose: string; fee: string }[]
  >`select purpose, raw_fee::text as fee from payouts where settlement_id = ${id} order by created_at`;
  expect(paid.map(({ purpose }) => purpose)).toEqual(['consolidation', 'settlement']);
  expect(BigInt(paid[0]?.fee ?? 0)).toBeGreaterThan(10n * raw(settled.feeLocked));
  expect(BigInt(paid[1]?.fee ?? 0)).toBeLessThanOrEqual(raw(settled.feeLocked));
});

it('reports for how many fees the funding wallet has coins, and calls it low before it is empty', async () => {
  const { treasury } = steps;
  expect(await reportFunding(treasury.deps)).toBe(0);
  const { height } = (await sql()<{ height: string }[]>`select final_height as height from chain_tips`)[0] ?? { height: '0' };
  // Before its coins are final it has none.
  await sql()`update chain_tips set final_height = 0`;
  expect(await reportFunding(treasury.deps)).toBe(1);
  await sql()`update chain_tips set final_height = ${height}`;
});

it('pays straight out of deposits with nothing swept, and spends the change only once it is final', async () => {
  const { treasury, shop } = steps;
  await treasury.earn(shop, 'BTC', '0.03');
  const { settlementId, payoutId } = await steps.sent('0.01');
  const [attempt] = await steps.attemptsOf(payoutId);
  expect((await steps.payoutsOf(settlementId))[0]?.anchor).toBe(attempt?.inputs[0]);
  expect((await steps.locks()).get(attempt?.inputs[0] as string)).toBe(payoutId);
  const { id } = await treasury.cashOut(shop, 'BTC', '0.015');
  await dispatchSettlement(treasury.deps, id);
  const waits = async () => (await sql()<{ reason: string }[]>`select wait_reason as reason from settlements where id = ${id}`)[0]?.reason;
  expect(await waits()).toMatch(/^waiting for 0\.0\d+ BTC of the pool that are not final yet/);
  await treasury.mine(1);
  await dispatchSettlement(treasury.deps, id);
  expect(await waits()).toMatch(/^waiting for .* not final yet/);
  await treasury.settleAll();
  expect(await read(settlementId)).toMatchObject({ status: 'SETTLED', txHash: attempt?.txid });
  expect((await read(id)).status).toBe('SETTLED');
  expect(await sql()`select 1 from payouts where purpose = 'sweep'`).toHaveLength(0);
  // What was mined stays taken: whatever a reorganisation does to it, nothing else ever spends it.
  expect((await steps.locks()).get(attempt?.inputs[0] as string)).toBe(payoutId);
});

it('never spends one output for two payouts, however many plan at once', async () => {
  const { treasury, shop } = steps;
  const cashouts = times(60);
  for (let i = 0; i < 4; i++) await treasury.earn(shop, 'BTC', '0.004');
  const before = await spendable();
  const ids: string[] = [];
  for (let i = 0; i < cashouts; i++) ids.push((await treasury.cashOut(shop, 'BTC', '0.001')).id);
  await Promise.all([...ids, ...ids, ...ids].map((id) => dispatchSettlement(treasury.deps, id)));
  const plans = await sql()<{ id: string; inputs: string }[]>`select id, plan->'fields'->>'inputs' as inputs from payouts where status = 'PLANNED'`;
  const used = plans.flatMap(({ inputs }) => inputs.split(',').map((input) => input.split(':').slice(0, 2).join(':')));
  expect(plans.length).toBeGreaterThan(1);
  expect(new Set(used).size).toBe(used.length);
  expect(before).toBeGreaterThan(await spendable());
  await treasury.settleAll();
  for (const id of ids) expect((await read(id)).status).toBe('SETTLED');
  const [paid] = await sql()<{ count: number }[]>`select count(distinct t.txid)::int as count from payouts p join payout_attempts t on t.payout_id = p.id
    where p.settlement_id = any(${ids}::uuid[]) and p.purpose = 'settlement'`;
  expect(paid?.count).toBe(cashouts);
});

it('gives the outputs of a cashout that was rejected before signing to the next one', async () => {
  const { treasury, shop } = steps;
  await treasury.earn(shop, 'BTC', '0.02');
  const before = await spendable();
  const { settlementId, payoutId } = await steps.planned('0.012');
  expect(await spendable()).toBeLessThan(before);
  await rejectSettlement(treasury.deps, { id: settlementId, reason: 'a test' });
  expect(await spendable()).toBe(before);
  expect([...(await steps.locks()).values()]).not.toContain(payoutId);
  expect((await read(settlementId)).status).toBe('REJECTED');
});

it('quotes a cashout to the virtual byte of its destination, whatever the wallets hold', async () => {
  const { treasury, shop } = steps;
  // One input of ours and the change beside the payment (chains 2.3): 10.5 + 68 + 31 + the output of its type.
  for (const [kind, output] of [
    ['legacy', 34n],
    ['p2sh-segwit', 32n],
    ['bech32', 31n],
    ['bech32m', 43n],
  ] as const) {
    const { address } = aPurse(treasury.chain.node, new Uint8Array(32).fill(9), kind);
    const { feeLocked } = await estimateFee(treasury.deps, { gateway: shop, body: { assetId: treasury.assets.BTC?.id as string, amount: '0.001', address } });
    const vsize = (21n + 2n * (68n + 31n + output) + 1n) / 2n;
    expect(raw(feeLocked), kind).toBe(vsize * RATE);
  }
});

it('signs nothing once any row of the plan was changed, freezes the network, and signs when all are as they were', async () => {
  const { treasury, shop } = steps;
  await treasury.earn(shop, 'BTC', '0.02');
  await treasury.earn(shop, 'BTC', '0.02');
  const { payoutId } = await steps.planned('0.025');
  const attempt = () => signPayout(treasury.deps, treasury.signers, payoutId);
  const [plan] = await sql()<{ inputs: string; change: string; fee: string; anchor: string }[]>`
    select plan->'fields'->>'inputs' as inputs, plan->'fields'->>'change' as change, plan->>'rawFee' as fee, anchor from payouts where id = ${payoutId}`;
  if (plan === undefined) throw new Error('no plan');
  const [first, second] = plan.inputs.split(',') as [string, string];
  const [txid, vout, amount, address] = second.split(':') as [string, string, string, string];
  const setInputs = (inputs: string) => sql()`update payouts set plan = jsonb_set(plan, '{fields,inputs}', to_jsonb(${inputs}::text)) where id = ${payoutId}`;
  const setChange = (change: string) => sql()`update payouts set plan = jsonb_set(plan, '{fields,change}', to_jsonb(${change}::text)) where id = ${payoutId}`;
  const setFee = (fee: string) => sql()`update payouts set plan = jsonb_set(plan, '{rawFee}', to_jsonb(${fee}::text)) where id = ${payoutId}`;
  const [change, home] = plan.change.split(':') as [string, string];
  const [funding] = await listSpendable(sql(), steps.purse('funding'));
  if (funding === undefined) throw new Error('the funding wallet is empty');
  const tamperings: [string, () => Promise<unknown>, () => Promise<unknown>, string][] = [
    ['the anchor last', () => setInputs(`${second},${first}`), () => setInputs(plan.inputs), 'refused'],
    ['an input left out', () => setInputs(first), () => setInputs(plan.inputs), 'refused'],
    ['an input twice', () => setInputs(`${first},${second},${second}`), () => setInputs(plan.inputs), 'refused'],
    ['another amount', () => setInputs(`${first},${txid}:${vout}:${BigInt(amount) + 1n}:${address}`), () => setInputs(plan.inputs), 'refused'],
    ['another address', () => setInputs(`${first},${txid}:${vout}:${amount}:${home}`), () => setInputs(plan.inputs), 'refused'],
    [
      'an output of the funding wallet',
      () => setInputs(`${plan.inputs},${nameOf(funding)}:${funding.rawAmount}:${funding.address}`),
      () => setInputs(plan.inputs),
      'refused',
    ],
    ['an output nobody knows', () => setInputs(`${first},${'ab'.repeat(32)}:0:${amount}:${address}`), () => setInputs(plan.inputs), 'waiting'],
    ['the change to somebody', () => setChange(`${change}:${treasury.merchant}`), () => setChange(plan.change), 'refused'],
    ['the change to the funding wallet', () => setChange(`${change}:${treasury.wallet('funding')}`), () => setChange(plan.change), 'refused'],
    ['less change', () => setChange(`${BigInt(change) - 1n}:${home}`), () => setChange(plan.change), 'refused'],
    ['no change', () => setChange(''), () => setChange(plan.change), 'refused'],
    ['another fee', () => setFee(`${BigInt(plan.fee) + 1n}`), () => setFee(plan.fee), 'refused'],
    ['more change and less fee than the plan says', () => setChange(`${BigInt(change) + 1n}:${home}`), () => setChange(plan.change), 'refused'],
    [
      'another anchor',
      () => sql()`update payouts set anchor = ${`${txid}:${vout}`} where id = ${payoutId}`,
      () => sql()`update payouts set anchor = ${plan.anchor} where id = ${payoutId}`,
      'refused',
    ],
    [
      'no anchor',
      () => sql()`update payouts set anchor = null where id = ${payoutId}`,
      () => sql()`update payouts set anchor = ${plan.anchor} where id = ${payoutId}`,
      'refused',
    ],
    [
      'a lock that is gone',
      () => sql()`update output_locks set released_at = now() where payout_id = ${payoutId} and txid = ${txid} and vout = ${vout}`,
      () => sql()`update output_locks set released_at = null where payout_id = ${payoutId} and txid = ${txid} and vout = ${vout}`,
      'refused',
    ],
    [
      'a payment flagged since',
      () => sql()`update credits set pool = 'held' where payment_id in (select payment_id from deposits where txid = ${txid} and ordinal = ${vout})`,
      () => sql()`update credits set pool = 'green' where payment_id in (select payment_id from deposits where txid = ${txid} and ordinal = ${vout})`,
      'waiting',
    ],
    [
      'another derivation index',
      () => sql()`update deposit_addresses set derivation_index = derivation_index + 1000 where address = ${address}`,
      () => sql()`update deposit_addresses set derivation_index = derivation_index - 1000 where address = ${address}`,
      'refused',
    ],
  ];
  for (const [what, tamper, restore, outcome] of tamperings) {
    await tamper();
    expect(await attempt(), what).toBe(outcome);
    await restore();
    await sql()`delete from freezes`;
  }
  expect(await steps.attemptsOf(payoutId)).toHaveLength(0);
  expect(await attempt()).toBe('signed');
  await treasury.settleAll();
});

it('signs nothing while the node says that an output is gone or holds another amount, whatever our own rows say', async () => {
  const { treasury, shop } = steps;
  await treasury.earn(shop, 'BTC', '0.01');
  const { settlementId, payoutId } = await steps.planned('0.004');
  const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
  const told = (rawAmount: (raw: bigint) => bigint | null): Deps => {
    const outputs: Chain['reader']['outputs'] = async (wanted) => {
      const { at, rawAmounts } = (await chain.reader.outputs?.(wanted)) ?? { at: { height: 0, hash: '', parentHash: '', time: 0 }, rawAmounts: [] };
      return { at, rawAmounts: rawAmounts.map((one) => (one === null ? null : rawAmount(one))) };
    };
    return { ...treasury.deps, chains: new Map([[name, { ...chain, reader: { ...chain.reader, outputs } }]]) };
  };
  for (const rawAmount of [(one: bigint) => one + 1n, () => null]) {
    expect(await signPayout(told(rawAmount), treasury.signers, payoutId)).toBe('waiting');
    expect((await steps.payoutsOf(settlementId))[0]).toMatchObject({ status: 'PLANNED', failure: expect.stringMatching(/^the node says that output/) });
  }
  expect(await sql()`select 1 from freezes`).toEqual([]);
  expect(await signPayout(treasury.deps, treasury.signers, payoutId)).toBe('signed');
  await treasury.settleAll();
  expect((await read(settlementId)).status).toBe('SETTLED');
});
