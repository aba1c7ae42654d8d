import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CHECKS } from '#api/audit/checks.ts';
import { runCheck } from '#api/audit/run-audit.ts';
import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { rejectSettlement } from '#api/settlements/reject.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { tendPayouts } from '#api/payouts/tend-payouts.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { assertBooksEqualChain, aTreasuryOf, type Treasury } from '#test/fixtures/treasury.ts';
import type { TronChain } from '#test/harness/tron-chain.ts';

let treasury: Treasury<TronChain>;
let shop: Gateway;
/** Whether the books are to be clean at the end: one test pays twice on purpose. */
let clean: boolean;
beforeEach(async () => {
  treasury = (await aTreasuryOf('tron')) as unknown as Treasury<TronChain>;
  shop = await treasury.world.aGateway();
  clean = true;
});
afterEach(async () => {
  try {
    await treasury.mine(3);
    if (clean) await assertBooksEqualChain(treasury);
    if (clean) await treasury.audit();
  } finally {
    await treasury.stop();
  }
});

const sql = () => treasury.world.database.sql;
const read = (id: string) => getSettlement(treasury.deps, { gateway: shop, id });
const tend = (deps: Deps = treasury.deps) => tendPayouts(deps);
const status = async (payoutId: string) => (await sql()<{ status: string }[]>`select status from payouts where id = ${payoutId}`)[0]?.status;
const attempts = (payoutId: string) =>
  sql()<{ id: string; number: number; txid: string; expiresAt: Date }[]>`
    select id, number, txid, expires_at from payout_attempts where payout_id = ${payoutId} order by number`;
const endOf = (attempt: { expiresAt: Date } | undefined): number => attempt?.expiresAt.getTime() ?? 0;
/** Lets chain time pass, one block every half a minute, and scans it; the last of them is not final, and bytes live for up to two minutes. */
async function pass(seconds: number): Promise<void> {
  await treasury.chain.control.mineSpaced(Math.ceil(seconds / 30), 30_000);
  // Bytes are dead only once our own clock is past their end as well.
  await treasury.world.advance(seconds);
  await treasury.follow();
}
const violations = async (name: string) => (await runCheck(sql() as never, CHECKS.find((check) => check.name === name) as never, { staticAllowed: true })).rows;

/** Brings a cashout of 20 USDT to the point where its payout is planned and waits for the signer. */
async function planned(): Promise<{ settlementId: string; payoutId: string }> {
  await treasury.earn(shop, 'USDT', '50');
  const { id } = await treasury.cashOut(shop, 'USDT', '20');
  for (let round = 0; round < 12; round++) {
    await dispatchSettlement(treasury.deps, id);
    const [payout] = await sql()<{ id: string }[]>`select id from payouts where settlement_id = ${id} and purpose = 'settlement' and status = 'PLANNED'`;
    if (payout !== undefined) return { settlementId: id, payoutId: payout.id };
    await treasury.sign();
    await treasury.work();
    await treasury.mine();
  }
  throw new Error(`settlement ${id} was never planned: ${JSON.stringify(await sql()`select wait_reason from settlements where id = ${id}`)}`);
}

/** A payout that was handed over and lost: no block ever held it. */
async function lost(): Promise<{ settlementId: string; payoutId: string }> {
  const made = await planned();
  expect(await treasury.sign()).toEqual(['signed']);
  await treasury.work();
  await treasury.chain.control.forget();
  return made;
}

async function paidOnce(settlementId: string): Promise<void> {
  const settled = await read(settlementId);
  expect(settled.status).toBe('SETTLED');
  expect(await treasury.chain.tokenBalance(treasury.chain.tokens.USDT, treasury.merchant)).toBe(toUnits(parseTrusted(settled.netAmount), 6));
}

describe('a payout whose bytes expire', () => {
  it('has them stored with when that is, and several are on their way at once from one wallet', async () => {
    await treasury.earn(shop, 'USDT', '100');
    const made = [];
    for (let i = 0; i < 4; i++) made.push((await treasury.cashOut(shop, 'USDT', '10')).id);
    await treasury.settleAll();
    for (const id of made) expect((await read(id)).status).toBe('SETTLED');
    const rows = await sql()<{ nonce: number | null; dated: boolean }[]>`
      select p.nonce, t.expires_at > t.created_at - interval '1 hour' as dated from payouts p join payout_attempts t on t.payout_id = p.id`;
    expect(rows.length).toBeGreaterThanOrEqual(4);
    for (const row of rows) expect(row).toEqual({ nonce: null, dated: true });
  });

  it('gets new bytes once a final block is past their end and no block held them, and is paid once', async () => {
    const { settlementId, payoutId } = await lost();
    const [first] = await attempts(payoutId);
    await pass(180);
    expect(await tend()).toBe(1);
    expect(await status(payoutId)).toBe('REPLACING');
    expect(await treasury.sign()).toEqual(['signed']);
    await treasury.settleAll();
    await paidOnce(settlementId);
    const [, second] = await attempts(payoutId);
    expect((await read(settlementId)).txHash).toBe(second?.txid);
    const [proof] = await sql()<
      { facts: { txids: string[]; finalTime: string } }[]
    >`select facts from payout_events where payout_id = ${payoutId} and event = 'EXPIRED'`;
    expect(proof?.facts.txids).toEqual([first?.txid]);
    expect(Date.parse(proof?.facts.finalTime as string)).toBeGreaterThanOrEqual(endOf(first));
    expect(await violations('A9')).toEqual([]);
  });

  it('gets none while the block past their end is not final, is not scanned, or the node has them in a block', async () => {
    const { payoutId } = await lost();
    await treasury.chain.control.setSolidLag(50);
    await pass(180);
    expect(await tend()).toBe(0);
    await treasury.chain.control.setSolidLag(1);
    await treasury.chain.mine(2);
    expect(await tend()).toBe(0);
    await treasury.follow();
    const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
    const answers = (height: number | null): Deps => ({
      ...treasury.deps,
      chains: new Map([
        [name, { ...chain, reader: { ...chain.reader, transaction: async (txid) => ({ txid, height, blockHash: null, succeeded: true, transfers: [] }) } }],
      ]),
    });
    expect(await tend(answers(7))).toBe(0);
    expect(await status(payoutId)).toBe('BROADCAST');
    // What only waits in a pool is dead all the same.
    expect(await tend(answers(null))).toBe(1);
    await treasury.settleAll();
  });

  it('is paid by bytes that were mined just before their end, however late that is noticed', async () => {
    const { settlementId, payoutId } = await lost();
    const [first] = await attempts(payoutId);
    const head = (await treasury.deps.chains.get('tron')?.reader.head())?.latest.time as number;
    const left = endOf(first) - head * 1_000;
    await treasury.chain.control.mineSpaced(1, left - 5_000);
    await treasury.work();
    await sql()`update outbox set due_at = sluice_now() where state = 'due'`;
    await treasury.work();
    await treasury.chain.control.mineSpaced(1, 3_000);
    await treasury.chain.control.mineSpaced(4, 60_000);
    expect(await tend()).toBe(0);
    await treasury.follow();
    expect(await tend()).toBe(0);
    await treasury.settleAll();
    await paidOnce(settlementId);
    expect(await attempts(payoutId)).toHaveLength(1);
  });

  it('expires once however many workers and signers look at it at once', async () => {
    const { settlementId, payoutId } = await lost();
    await pass(180);
    await Promise.all(Array.from({ length: 6 }, () => tend()));
    expect(await sql()`select 1 from payout_events where payout_id = ${payoutId} and event = 'EXPIRED'`).toHaveLength(1);
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => signPayout(treasury.deps, treasury.signers, payoutId)));
    expect(outcomes.filter((outcome) => outcome === 'signed')).toHaveLength(1);
    expect(await attempts(payoutId)).toHaveLength(2);
    await treasury.settleAll();
    await paidOnce(settlementId);
  });

  it('is not signed again on anybody’s word: the signer looks for the proof itself', async () => {
    const { settlementId, payoutId } = await lost();
    await sql()`update payouts set status = 'REPLACING' where id = ${payoutId}`;
    expect(await signPayout(treasury.deps, treasury.signers, payoutId)).toBe('waiting');
    expect(await sql()`select failure from payouts where id = ${payoutId}`).toEqual([{ failure: expect.stringContaining('may still take effect') }]);
    await sql()`update payouts set status = 'BROADCAST' where id = ${payoutId}`;
    await pass(180);
    await sql()`update watches set watched_from = watched_from + 100000 where address = ${treasury.wallet('hot')}`;
    expect(await tend()).toBe(0);
    await sql()`update watches set watched_from = watched_from - 100000 where address = ${treasury.wallet('hot')}`;
    await tend();
    await treasury.settleAll();
    await paidOnce(settlementId);
  });

  it('is not dead while our own clock has not passed its end, whatever times blocks claim', async () => {
    const { settlementId, payoutId } = await lost();
    await treasury.chain.control.mineSpaced(6, 30_000);
    await treasury.follow();
    expect(await tend()).toBe(0);
    expect(await status(payoutId)).toBe('BROADCAST');
    await treasury.world.advance(180);
    expect(await tend()).toBe(1);
    await treasury.settleAll();
    await paidOnce(settlementId);
  });

  it('ends for good, for an operator to decide, when the network refuses it for long and nothing signed can take effect', async () => {
    const { settlementId, payoutId } = await lost();
    const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
    const refused = async () => ({ ok: false, rejected: 'the token is paused' }) as const;
    const closed: Deps = { ...treasury.deps, chains: new Map([[name, { ...chain, payer: { ...chain.payer, quote: refused, estimate: refused } }]]) };
    await pass(180);
    await tend(closed);
    expect(await status(payoutId)).toBe('REPLACING');
    await treasury.world.advance(POLICY.payoutCloseSeconds - 10);
    await tend(closed);
    expect(await status(payoutId)).toBe('REPLACING');
    await treasury.world.advance(10);
    expect(await tend(closed)).toBe(1);
    expect(await sql()`select status, plan->'repay' as repay from payouts where id = ${payoutId}`).toEqual([{ status: 'FAILED', repay: false }]);
    expect(await sql()`select status, wait_reason from settlements where id = ${settlementId}`).toEqual([
      { status: 'PROCESSING', waitReason: expect.stringMatching(/paused; an operator must decide$/) },
    ]);
    expect(await signPayout(treasury.deps, treasury.signers, payoutId)).toBe('gone');
    expect(await dispatchSettlement(treasury.deps, settlementId)).toBeNull();
    await rejectSettlement(treasury.deps, { id: settlementId, reason: 'the token is paused' });
    expect((await read(settlementId)).status).toBe('REJECTED');
    // What it had claimed can be withdrawn again.
    const again = await treasury.cashOut(shop, 'USDT', '45');
    await treasury.settleAll();
    expect((await read(again.id)).status).toBe('SETTLED');
  });

  it('is not given up for one refusal after it had long lacked only its coins', async () => {
    const { settlementId, payoutId } = await lost();
    const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
    const having = (payer: Partial<Chain['payer']>): Deps => ({
      ...treasury.deps,
      chains: new Map([[name, { ...chain, payer: { ...chain.payer, ...payer } }]]),
    });
    const refused = async () => ({ ok: false, rejected: 'the token is paused' }) as const;
    await pass(180);
    await tend(having({ balance: async (address, contract) => (contract === null ? chain.payer.balance(address, null) : 0n) }));
    expect(await status(payoutId)).toBe('REPLACING');
    await treasury.world.advance(POLICY.payoutCloseSeconds + 1);
    await tend(having({ quote: refused, estimate: refused }));
    expect(await status(payoutId)).toBe('REPLACING');
    expect(await tend()).toBe(1);
    await treasury.settleAll();
    await paidOnce(settlementId);
  });

  it('stops everything when bytes that were proven dead turn up in a block beside the new ones', async () => {
    const { settlementId, payoutId } = await lost();
    await pass(180);
    await tend();
    await treasury.sign();
    const [first, second] = await attempts(payoutId);
    await treasury.work();
    await treasury.mine();
    expect(await status(payoutId)).toBe('INCLUDED');
    // No node does this, so the scan is told: a block holds the first bytes as well, with the same effect.
    await sql()`
      insert into sightings (network_id, kind, txid, ordinal, height, block_hash, position, block_time, sender, recipient, contract, raw_amount, nonce, succeeded, raw_fee)
      select network_id, kind, ${first?.txid as string}, ordinal, height, block_hash, position + 1, block_time, sender, recipient, contract, raw_amount, nonce, succeeded, raw_fee
      from sightings where txid = ${second?.txid as string}`;
    await treasury.chain.mine(1);
    await treasury.follow();
    expect(await sql()`select role from wallets where halted_reason is not null`).toEqual([{ role: 'hot' }]);
    expect(await sql()`select scope from freezes`).toEqual([{ scope: 'network:tron' }]);
    await treasury.mine(3);
    expect((await read(settlementId)).status).toBe('SETTLED');
    expect(await violations('A8')).toHaveLength(1);
    const [loss] = await sql()<{ coins: string }[]>`select trim_scale(abs(balance))::text as coins from ledger_accounts where kind = 'loss'`;
    expect(loss?.coins).toBe((await read(settlementId)).netAmount);
    clean = false;
  });
});

describe('the audit', () => {
  it('sees bytes that were signed before those before them were proven dead, and bytes without an end', async () => {
    const { payoutId } = await lost();
    expect(await violations('A9')).toEqual([]);
    await sql()`
      insert into payout_attempts (id, payout_id, number, txid, signed_bytes, fee_limit)
      select gen_random_uuid(), payout_id, 2, 'another', signed_bytes, fee_limit from payout_attempts where payout_id = ${payoutId}`;
    expect((await violations('A9')).map((row) => row.problem).sort()).toEqual([
      'bytes without an end on a chain without nonces',
      'signed again before its bytes were proven dead',
    ]);
    clean = false;
  });
});

describe('a plan nobody signed', () => {
  it('is not signed when it is about to expire, and made again with later ones', async () => {
    const { settlementId, payoutId } = await planned();
    await pass(120);
    expect(await signPayout(treasury.deps, treasury.signers, payoutId)).toBe('waiting');
    expect(await tend()).toBe(1);
    expect(await signPayout(treasury.deps, treasury.signers, payoutId)).toBe('signed');
    await treasury.settleAll();
    await paidOnce(settlementId);
    expect(await attempts(payoutId)).toHaveLength(1);
  });

  it('is given up when it can no longer be sent as planned, and planned anew from the start', async () => {
    const { settlementId, payoutId } = await planned();
    await treasury.world.advance(POLICY.payoutQuoteSeconds);
    const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
    const poor: Deps = { ...treasury.deps, chains: new Map([[name, { ...chain, payer: { ...chain.payer, balance: async () => 0n } }]]) };
    expect(await tend(poor)).toBe(1);
    expect(await status(payoutId)).toBe('CANCELLED');
    await treasury.settleAll();
    await paidOnce(settlementId);
  });
});
