import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { resolveHeldPayment } from '#api/aml/resolve-held-payment.ts';
import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { consolidateOutputs } from '#api/operator/consolidate.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { listSpendable, sumSpendable } from '#api/store/outputs.ts';
import { consolidatePool, consolidatePools } from '#api/treasury/consolidate-pools.ts';
import { nameOf } from '#api/payouts/rules/spending.ts';
import { tendPayouts } from '#api/payouts/tend-payouts.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';
import { formatAmount, fromUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { earnSmall } from '#test/fixtures/small-outputs.ts';
import { assertBooksEqualChain, payHeld } from '#test/fixtures/treasury.ts';
import { type AttemptRow, type BitcoinSteps, bitcoinSteps } from './bitcoin-steps.ts';

/** Satoshis per virtual byte: at this rate an output costs 340 satoshis to spend. */
const RATE = '5';
const INPUT = 340n;
/** The day's budget pays for so many outputs at 60,000 USD a bitcoin. */
const BUDGET_USD = '20';
const FLAGGED = 90;

let steps: BitcoinSteps;
let shop: Gateway;
beforeAll(async () => {
  steps = await bitcoinSteps({
    configure: (network) => ({ ...network, feeRate: { fallback: RATE, cap: '20' }, consolidation: { aboveOutputs: 10, dailyUsd: BUDGET_USD } }),
  });
  shop = await steps.treasury.world.aGateway({ screening: { enabled: true, credits: 1_000 } });
});
afterEach(async () => {
  await steps.treasury.settleAll();
  await steps.treasury.mine(3);
  await assertBooksEqualChain(steps.treasury);
  await steps.treasury.audit();
  // Another day, another budget; and nothing of one test is left for the next one.
  await steps.treasury.world.advance(86_400);
  await steps.treasury.world.setPrice('BTC', '60000');
});
afterAll(() => steps.treasury.stop());

const sql = () => steps.treasury.world.database.sql;
const names = async (role: 'hot' | 'held' = 'hot') => (await listSpendable(sql(), steps.purse(role))).map(nameOf);
const joins = () => sql()<{ id: string; status: string; raw: string; fee: string; wallet: string; failure: string | null }[]>`
  select p.id, p.status, p.raw_amount::text as raw, coalesce(p.raw_fee::text, p.plan->>'rawFee') as fee, w.role as wallet, p.failure
  from payouts p join wallets w on w.id = p.wallet_id where p.purpose = 'consolidation' and p.created_at > sluice_now() - interval '12 hours' order by p.created_at, p.id`;
const earn = (outputs: number, rawEach: bigint, score = 0) => earnSmall(steps.treasury, shop, { outputs, rawEach, score });
/** A worker that is served by another configuration, or asks another node. */
function withChain(change: (chain: Chain) => Partial<Chain>, deps = steps.treasury.deps): Deps {
  const [name, chain] = [...deps.chains][0] as [string, Chain];
  return { ...deps, chains: new Map([[name, { ...chain, ...change(chain) }]]) };
}
const configured = (consolidation: NonNullable<NetworkConfig['consolidation']>, deps = steps.treasury.deps) =>
  withChain(({ config }) => ({ config: { ...config, consolidation: { ...config.consolidation, ...consolidation } } }), deps);
/** Does something while the verdict about a payment's coins is awaited. */
async function whileWaiting(paymentId: string, work: () => Promise<void>): Promise<void> {
  await sql()`create table set_aside as select id, screening, screening_score, matured_at from credits where payment_id = ${paymentId}`;
  await sql()`update credits set screening = 'waiting', screening_score = null, matured_at = null where payment_id = ${paymentId}`;
  try {
    await work();
  } finally {
    await sql()`
      update credits c set screening = s.screening, screening_score = s.screening_score, matured_at = s.matured_at from set_aside s where s.id = c.id`;
    await sql()`drop table set_aside`;
  }
}
/** One transaction that joins all the small outputs of the pool, signed and handed over. */
async function aJoin(outputs = 12): Promise<{ id: string; first: AttemptRow }> {
  await earn(outputs, 50_000n);
  await consolidatePools(steps.treasury.deps);
  await steps.treasury.sign();
  await steps.treasury.work();
  const [join] = await joins();
  const [first] = await steps.attemptsOf(join?.id as string);
  return { id: join?.id as string, first: first as AttemptRow };
}

it('joins the smallest outputs of a pool that has too many, at its own wallet, down to half of what is too many', async () => {
  const { treasury } = steps;
  await earn(10, 40_000n);
  expect(await consolidatePools(treasury.deps)).toBe(0);
  await earn(4, 90_000n);
  const before = await sumSpendable(sql(), steps.purse('hot'));
  expect(await consolidatePools(treasury.deps)).toBe(1);
  expect(await consolidatePools(treasury.deps)).toBe(0);
  // The larger ones stay where any cashout can have them.
  expect((await listSpendable(sql(), steps.purse('hot'))).map(({ rawAmount }) => rawAmount)).toEqual([90_000n, 90_000n, 90_000n, 90_000n]);
  await treasury.settleAll();
  const [join] = await joins();
  expect(join).toMatchObject({ status: 'CONFIRMED', wallet: 'hot', failure: null });
  const after = await listSpendable(sql(), steps.purse('hot'));
  expect(after[0]).toMatchObject({ address: treasury.wallet('hot'), rawAmount: 400_000n - BigInt(join?.fee as string) });
  expect(after).toHaveLength(5);
  // Its fee is gas, the deployment's own expense, and nothing else moved.
  expect(before.rawAmount - (await sumSpendable(sql(), steps.purse('hot'))).rawAmount).toBe(BigInt(join?.fee as string));
  const [booked] = await sql()`
    select -sum(e.amount) filter (where a.kind = 'gas') as gas, count(distinct a.kind)::int as kinds from payouts p
      join ledger_transactions t on t.source_key = 'gas:' || p.network_id || ':' || p.txid join ledger_entries e on e.transaction_id = t.id
      join ledger_accounts a on a.id = e.account_id where p.id = ${join?.id as string}`;
  expect(booked).toEqual({ gas: formatAmount(fromUnits(BigInt(join?.fee as string), 8)), kinds: 2 });
});

it('leaves outputs alone while fees are high, and those that are hardly worth more than what spending them costs for ever', async () => {
  const { treasury } = steps;
  await earn(12, INPUT * BigInt(POLICY.bitcoinConsolidation.worthTimesCost));
  expect(await consolidatePools(treasury.deps)).toBe(0);
  await earn(12, 60_000n);
  expect(await consolidatePools(configured({ belowFeeRate: '4.999' }))).toBe(0);
  expect(await consolidatePools(configured({ aboveOutputs: 40 }))).toBe(0);
  const hot = new Set(await names());
  expect(await consolidatePools(treasury.deps)).toBe(1);
  await treasury.sign();
  const [join] = await joins();
  const [attempt] = await steps.attemptsOf(join?.id as string);
  expect(attempt?.inputs.every((name) => hot.has(name))).toBe(true);
  const rows = await sql()<{ raw: string }[]>`
    select distinct d.raw_amount::text as raw from deposits d where d.txid || ':' || d.ordinal = any(${attempt?.inputs as string[]}::text[])`;
  expect(rows.map(({ raw }) => BigInt(raw)).every((raw) => raw > INPUT * BigInt(POLICY.bitcoinConsolidation.worthTimesCost))).toBe(true);
});

it('spends no more in a day than its budget, whatever is sent to us', async () => {
  const { treasury } = steps;
  await earn(120, 30_000n);
  const spent = async () => (await joins()).filter(({ status }) => status !== 'CANCELLED').reduce((sum, { fee }) => sum + Number(fee) * 0.0006, 0);
  await consolidatePools(treasury.deps);
  const first = await spent();
  expect(first).toBeGreaterThan(10);
  expect(first).toBeLessThanOrEqual(Number(BUDGET_USD));
  await treasury.settleAll();
  await consolidatePools(treasury.deps);
  await treasury.settleAll();
  expect(await spent()).toBeLessThanOrEqual(Number(BUDGET_USD));
  const hot = [...treasury.deps.chains.values()][0] as Chain;
  // Nor does the word of an operator.
  expect((await consolidatePool(treasury.deps, hot, 'green', { now: true })).problem).toMatch(/^the budget of 20\.00 USD a day/);
});

it('never joins outputs of two pools, nor what waits for a verdict, and what was joined follows its payment into another pool', async () => {
  const { treasury } = steps;
  const flagged = await earn(14, 70_000n, FLAGGED);
  const clean = await earn(14, 60_000n);
  const waiting = await earn(3, 50_000n);
  const paymentOf = async (address: string) =>
    (await sql()<{ id: string }[]>`select payment_id as id from deposit_addresses where address = ${address}`)[0]?.id as string;
  const held = new Set(await names('held'));
  expect(held.size).toBe(14);
  const green = [...treasury.deps.chains.values()][0] as Chain;
  await whileWaiting(await paymentOf(waiting), async () => {
    await consolidatePool(treasury.deps, green, 'green', { now: true });
    await consolidatePool(treasury.deps, green, 'held', { now: true });
    await treasury.sign();
  });
  const made = await joins();
  expect(made.map(({ wallet }) => wallet).sort()).toEqual(['held', 'hot']);
  for (const { id, wallet } of made) {
    const inputs = (await steps.attemptsOf(id))[0]?.inputs as string[];
    expect(inputs.every((name) => held.has(name))).toBe(wallet === 'held');
    const of = await sql()`select 1 from deposits where payment_id = ${await paymentOf(waiting)} and txid || ':' || ordinal = any(${inputs}::text[])`;
    expect(of).toHaveLength(0);
  }
  await treasury.settleAll();
  // Released, all of it follows to the hot wallet: what is spent has moved (decision 0018).
  const id = await paymentOf(flagged);
  const before = (await sumSpendable(sql(), steps.purse('hot'))).rawAmount;
  await resolveHeldPayment(treasury.deps, { paymentId: id, resolution: { action: 'RELEASE' }, reason: 'a test' });
  // The fee of joining them is made up for first.
  for (let round = 0; round < 2; round++) {
    await payHeld(treasury.deps);
    await treasury.settleAll();
  }
  expect((await sumSpendable(sql(), steps.purse('hot'))).rawAmount).toBe(before + 14n * 70_000n);
  expect(await paymentOf(clean)).not.toBe(id);
});

it('joins what an operator says at once, says what it costs, and keeps who asked for it', async () => {
  const { treasury } = steps;
  await treasury.settleAll();
  await earn(6, 80_000n);
  const call = (body: unknown) => consolidateOutputs(treasury.deps, { params: {}, query: {}, body } as never);
  await expect(call({ network: 'nowhere' })).rejects.toMatchObject({ field: 'network' });
  await expect(call({ network: 'bitcoin', pool: 'blue' })).rejects.toMatchObject({ field: 'pool' });
  // Dearer than anything is joined at by itself.
  const { status, data } = await consolidateOutputs(configured({ belowFeeRate: '1' }), {
    params: {},
    query: {},
    body: { network: 'bitcoin', pool: 'green', reason: 'before the weekend' },
  } as never);
  expect(status).toBe(202);
  const [pool] = (data as { pools: { pool: string; transactions: { payoutId: string; outputs: number; fee: string }[]; problem: string | null }[] }).pools;
  const [join] = await joins();
  expect(pool).toMatchObject({
    pool: 'green',
    problem: null,
    transactions: [{ payoutId: join?.id, fee: formatAmount(fromUnits(BigInt(join?.fee as string), 8)) }],
  });
  expect(pool?.transactions[0]?.outputs).toBeGreaterThanOrEqual(6);
  expect(await sql()`select target, reason, details from operator_actions where action = 'outputs.consolidate' order by id`).toEqual([
    { target: 'bitcoin', reason: 'before the weekend', details: { pools: ['green'] } },
  ]);
});

it('raises its fee out of what arrives, spending the same outputs, and is done by whichever of its bytes is mined', async () => {
  const { treasury } = steps;
  const { id, first } = await aJoin();
  await steps.bump();
  const [, second] = await steps.attemptsOf(id);
  expect(second?.inputs).toEqual(first.inputs);
  expect(second?.fee).toBeGreaterThan(first.fee);
  const waiting = await treasury.chain.node.call<string[]>('getrawmempool');
  expect([waiting.includes(first.txid), waiting.includes(second?.txid as string)]).toEqual([false, true]);
  const [raised] = await joins();
  expect(BigInt(raised?.raw as string) + (second?.fee as bigint)).toBe(BigInt(first.inputs.length) * 50_000n);
  await treasury.chain.mineOnly([first.hex]);
  await treasury.follow();
  await treasury.mine(2);
  expect((await joins())[0]).toMatchObject({ status: 'CONFIRMED', fee: first.fee.toString(), failure: null });
  expect(await sql()`select 1 from wallets where halted_reason is not null`).toEqual([]);
});

it('prices a plan that nobody signed again, with the same outputs, and gives it up when one of them is gone', async () => {
  const { treasury } = steps;
  await earn(12, 50_000n);
  await consolidatePools(treasury.deps);
  const [planned] = await joins();
  const dearer = withChain(({ payer }) => ({
    payer: {
      ...payer,
      join: async (...asked) => {
        const answer = (await payer.join?.(...asked)) ?? { ok: false, rejected: 'nobody' };
        return answer.ok ? { ok: true, quote: { ...answer.quote, rawFee: answer.quote.rawFee + 500n } } : answer;
      },
    },
  }));
  await treasury.world.advance(POLICY.payoutQuoteSeconds);
  await treasury.world.setPrice('BTC', '60000');
  await tendPayouts(dearer);
  const [again] = await joins();
  expect(again).toMatchObject({ id: planned?.id, status: 'PLANNED', raw: String(BigInt(planned?.raw as string) - 500n) });
  expect(await signPayout(treasury.deps, treasury.signers, planned?.id as string)).toBe('signed');

  await earn(12, 50_000n);
  await consolidatePools(treasury.deps);
  const unsigned = (await joins()).find(({ status }) => status === 'PLANNED');
  const locked = [...(await steps.locks())].filter(([, payoutId]) => payoutId === unsigned?.id).map(([name]) => name);
  const [of] = await sql()<{ id: string }[]>`select payment_id as id from deposits where txid || ':' || ordinal = ${locked[0] as string}`;
  await whileWaiting(of?.id as string, async () => {
    await treasury.world.advance(POLICY.payoutQuoteSeconds);
    await treasury.world.setPrice('BTC', '60000');
    await tendPayouts(treasury.deps);
  });
  expect((await joins()).find(({ id }) => id === unsigned?.id)?.status).toBe('CANCELLED');
  expect([...(await steps.locks()).values()]).not.toContain(unsigned?.id);
});

it('closes what could not be sent for days with its anchor alone, and the other outputs are free again', async () => {
  const { treasury } = steps;
  const { id, first } = await aJoin();
  await treasury.chain.forget([first.txid]);
  const full = withChain(({ payer }) => ({
    payer: { ...payer, join: async (_wallet, _coins, replaced) => ({ ok: false, rejected: replaced?.length ? 'too dear' : 'nobody asked' }) },
  }));
  await treasury.world.advance(POLICY.payoutBumpSeconds);
  await steps.mineEmpty(POLICY.payoutBumpBlocks);
  await tendPayouts(full);
  await treasury.world.advance(POLICY.anchorCloseSeconds);
  await treasury.world.setPrice('BTC', '60000');
  await tendPayouts(full);
  await treasury.sign();
  await treasury.work();
  await treasury.mine(3);
  const attempts = await steps.attemptsOf(id);
  expect(attempts.map(({ kind, inputs }) => [kind, inputs.length])).toEqual([
    ['transfer', first.inputs.length],
    ['close', 1],
  ]);
  expect(await sql()`select status from payouts where id = ${id}`).toEqual([{ status: 'FAILED' }]);
  expect(await names()).toEqual(expect.arrayContaining(first.inputs.slice(1)));
});

it('is not signed unless all of it comes back to the wallet of that very pool, in one output, below the highest rate', async () => {
  const { treasury } = steps;
  await earn(12, 50_000n);
  await earn(1, 900_000n, FLAGGED);
  await consolidatePools(treasury.deps);
  const [join] = await joins();
  const id = join?.id as string;
  const attempt = () => signPayout(treasury.deps, treasury.signers, id);
  const [plan] = await sql()<{ inputs: string; fee: string; raw: string; wallet: string; anchor: string }[]>`
    select plan->'fields'->>'inputs' as inputs, plan->>'rawFee' as fee, raw_amount::text as raw, wallet_id as wallet, anchor from payouts where id = ${id}`;
  if (plan === undefined) throw new Error('no plan');
  const set = (what: { recipient?: string; raw?: bigint; fee?: bigint; inputs?: string; change?: string; purpose?: string }) => sql()`
    update payouts set recipient = ${what.recipient ?? treasury.wallet('hot')}, raw_amount = ${(what.raw ?? BigInt(plan.raw)).toString()}::text::numeric,
      purpose = ${what.purpose ?? 'consolidation'}, plan = plan || jsonb_build_object('rawFee', ${(what.fee ?? BigInt(plan.fee)).toString()}::text,
        'fields', jsonb_build_object('inputs', ${what.inputs ?? plan.inputs}::text, 'change', ${what.change ?? ''}::text)) where id = ${id}`;
  const [flagged] = await listSpendable(sql(), steps.purse('held'));
  if (flagged === undefined) throw new Error('nothing is held');
  const [first] = plan.inputs.split(',') as [string];
  const sum = BigInt(plan.raw) + BigInt(plan.fee);
  const tamperings: [string, Parameters<typeof set>[0], string][] = [
    ['to a stranger', { recipient: treasury.merchant }, 'refused'],
    ['to the funding wallet', { recipient: treasury.wallet('funding') }, 'refused'],
    ['to the other pool', { recipient: treasury.wallet('held') }, 'refused'],
    ['less than it spends', { raw: BigInt(plan.raw) - 1n }, 'refused'],
    ['with change', { raw: BigInt(plan.raw) - 100_000n, change: `100000:${treasury.wallet('hot')}` }, 'refused'],
    ['one output alone', { inputs: first, raw: 50_000n - BigInt(plan.fee) }, 'refused'],
    ['for more than the highest rate', { fee: 200_000n, raw: sum - 200_000n }, 'refused'],
    ['for more than what arrives', { fee: sum / 2n + 1n, raw: sum - sum / 2n - 1n }, 'refused'],
    [
      'with an output of the other pool',
      { inputs: `${plan.inputs},${nameOf(flagged)}:${flagged.rawAmount}:${flagged.address}`, raw: BigInt(plan.raw) + flagged.rawAmount },
      'waiting',
    ],
    ['as a top-up', { purpose: 'top_up' }, 'refused'],
  ];
  for (const [what, changes, outcome] of tamperings) {
    await set(changes);
    expect(await attempt(), what).toBe(outcome);
    await set({});
    await sql()`delete from freezes`;
  }
  expect(await steps.attemptsOf(id)).toHaveLength(0);
  expect(await attempt()).toBe('signed');
});

it('prepares a cashout within a multiple of the budget while fees are high, beyond which it waits for them to fall', async () => {
  // A pool of its own: a large output that another test left would be spent for the cashout as it is.
  const own = await bitcoinSteps({ configure: (network) => ({ ...network, feeRate: { fallback: RATE } }) });
  const { treasury, shop: gateway } = own;
  const rows = treasury.world.database.sql;
  try {
    await earnSmall(treasury, gateway, { outputs: 40, rawEach: 400_000n });
    const { id } = await treasury.cashOut(gateway, 'BTC', '0.12');
    const dispatchWith = async (consolidation: NonNullable<NetworkConfig['consolidation']>): Promise<string | null | undefined> => {
      await dispatchSettlement(configured(consolidation, treasury.deps), id);
      const [row] = await rows<{ reason: string | null }[]>`select wait_reason as reason from settlements where id = ${id}`;
      return row?.reason;
    };
    const poor = await dispatchWith({ belowFeeRate: '1', dailyUsd: '0.01' });
    expect(poor).toMatch(/have to be joined first, and the budget of 0\.10 USD a day for joining outputs is used up/);
    expect(await rows`select id from payouts where purpose = 'consolidation'`).toHaveLength(0);
    expect(await dispatchWith({ dailyUsd: '0.01' })).toMatch(/are joined first/);
    await treasury.settleAll();
    expect((await getSettlement(treasury.deps, { gateway, id })).status).toBe('SETTLED');
  } finally {
    await treasury.stop();
  }
});

it('prepares a cashout in more than one round, where the fee ceiling lets few be joined at once, and pays it once', async () => {
  const own = await bitcoinSteps({ configure: (network) => ({ ...network, feeRate: { fallback: RATE } }) });
  const { treasury, shop: gateway } = own;
  const rows = treasury.world.database.sql;
  try {
    await earnSmall(treasury, gateway, { outputs: 44, rawEach: 10_000n });
    // At this price of a bitcoin a transaction may join two outputs before its fee is half of the ceiling.
    await treasury.world.setPrice('BTC', '13000000');
    const { id } = await treasury.cashOut(gateway, 'BTC', '0.0035');
    await treasury.settleAll();
    expect((await getSettlement(treasury.deps, { gateway, id })).status).toBe('SETTLED');
    const made = await rows<{ id: string }[]>`select id from payouts where purpose = 'consolidation'`;
    const inputs = await Promise.all(made.map(async (one) => (await own.attemptsOf(one.id))[0]?.inputs.length ?? 0));
    expect(Math.max(...inputs)).toBe(2);
    const [paid] = await own.payoutsOf(id);
    expect((await own.attemptsOf(paid?.id as string))[0]?.inputs.length).toBeLessThanOrEqual(POLICY.bitcoinPaymentInputs);
    // What came of the first round was joined in the second one.
    const [again] = await rows<{ count: number }[]>`
      select count(*)::int as count from output_locks l join payouts p on p.txid = l.txid and p.purpose = 'consolidation'
        join payouts q on q.id = l.payout_id and q.purpose = 'consolidation'`;
    expect(again?.count).toBeGreaterThan(0);
    await treasury.mine(3);
    await assertBooksEqualChain(treasury);
    await treasury.audit();
  } finally {
    await treasury.stop();
  }
});
