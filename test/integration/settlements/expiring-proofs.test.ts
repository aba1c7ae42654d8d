import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CHECKS } from '#api/audit/checks.ts';
import { runCheck } from '#api/audit/run-audit.ts';
import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { earlierPayoutProblem } from '#api/payouts/earlier-payout-problem.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { readFinalBlock } from '#api/store/chain-blocks.ts';
import { listUndead, listLiveAttempts } from '#api/store/payout-attempts.ts';
import { findPayout, type StoredPayout } from '#api/store/payouts.ts';
import { broadcastAttempt } from '#api/payouts/broadcast.ts';
import { tendPayouts } from '#api/payouts/tend-payouts.ts';
import type { Payer } from '#shared/chains/chain.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { assertBooksEqualChain, aTreasuryOf, type Treasury } from '#test/fixtures/treasury.ts';
import type { TronChain } from '#test/harness/tron-chain.ts';

let treasury: Treasury<TronChain>;
let shop: Gateway;
/** Whether the books are to be clean at the end: some tests invent rows. */
let clean: boolean;
beforeEach(async () => {
  treasury = (await aTreasuryOf('tron')) as unknown as Treasury<TronChain>;
  shop = await treasury.world.aGateway();
  clean = true;
});
afterEach(async () => {
  try {
    if (clean) await treasury.mine(3);
    if (clean) await assertBooksEqualChain(treasury);
    if (clean) await treasury.audit();
  } finally {
    await treasury.stop();
  }
});

const sql = () => treasury.world.database.sql;
const chain = () => [...treasury.deps.chains.values()][0] as Chain;
const read = (id: string) => getSettlement(treasury.deps, { gateway: shop, id });
const tend = (deps: Deps = treasury.deps) => tendPayouts(deps);
const row = async (id: string) => (await sql()<{ status: string; failure: string | null }[]>`select status, failure from payouts where id = ${id}`)[0];
const attempts = (payoutId: string) =>
  sql()<{ id: string; txid: string; expiresAt: Date }[]>`
    select id, txid, expires_at from payout_attempts where payout_id = ${payoutId} order by number`;
const violations = async (name: string) => (await runCheck(sql() as never, CHECKS.find((check) => check.name === name) as never, { staticAllowed: true })).rows;
/** Lets chain time pass, one block every half a minute, and scans it; the last of them is not final, and bytes live for up to two minutes. */
async function pass(seconds: number): Promise<void> {
  await treasury.chain.control.mineSpaced(Math.ceil(seconds / 30), 30_000);
  // Bytes are dead only once our own clock is past their end as well.
  await treasury.world.advance(seconds);
  await treasury.follow();
}
/** The same worker with some answers of its node replaced. */
function having(change: (payer: Payer) => Partial<Payer>): Deps {
  const one = chain();
  return { ...treasury.deps, chains: new Map([[one.config.name, { ...one, payer: { ...one.payer, ...change(one.payer) } }]]) };
}

/** Brings a cashout of 20 USDT to the point where a payout of this purpose is planned for the signer. */
async function planned(purpose: string): Promise<{ settlementId: string; payoutId: string }> {
  await treasury.earn(shop, 'USDT', '50');
  const { id } = await treasury.cashOut(shop, 'USDT', '20');
  for (let round = 0; round < 12; round++) {
    await dispatchSettlement(treasury.deps, id);
    const [payout] = await sql()<{ id: string }[]>`
      select id from payouts where settlement_id = ${id} and purpose = ${purpose} and status = 'PLANNED' and plan ? 'rawFee'`;
    if (payout !== undefined) return { settlementId: id, payoutId: payout.id };
    await treasury.sign();
    await treasury.work();
    await treasury.mine();
  }
  throw new Error(`no ${purpose} was planned`);
}

/** A payout that was handed over and lost: no block ever held it. */
async function lost(purpose = 'settlement'): Promise<{ settlementId: string; payoutId: string }> {
  const made = await planned(purpose);
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

/** Further bytes of a payout with this end, as a signer would have stored them. */
async function invent(payoutId: string, txid: string, expiresAt: Date | null, tipHeight: number | null = 1_000_000): Promise<void> {
  await sql()`
    insert into payout_attempts (id, payout_id, number, txid, signed_bytes, fee_limit, expires_at, tip_height)
    select gen_random_uuid(), payout_id, max(number) + 1, ${txid}, '', 0, ${expiresAt}, ${tipHeight} from payout_attempts where payout_id = ${payoutId} group by payout_id`;
}

describe('the proof that bytes are dead', () => {
  it('holds from the final block whose time is their end, and not a millisecond earlier: that is when the chain stops taking them', async () => {
    const { payoutId } = await lost();
    clean = false;
    await pass(60);
    const final = (await readFinalBlock(sql(), treasury.network.id)) as { time: Date };
    await invent(payoutId, 'at its end', final.time);
    await invent(payoutId, 'a millisecond later', new Date(final.time.getTime() + 1));
    await invent(payoutId, 'never', null);
    await invent(payoutId, 'before anything was scanned', final.time, null);
    const undead = await listUndead(sql(), payoutId);
    expect(undead).not.toContain('at its end');
    expect(undead).toEqual(expect.arrayContaining(['a millisecond later', 'never', 'before anything was scanned']));
  });

  it('needs the sender to be watched since the block after the one that was scanned when they were signed', async () => {
    const { payoutId } = await lost();
    await pass(180);
    expect(await listUndead(sql(), payoutId)).toEqual([]);
    const [attempt] = await sql()<{ tip: number }[]>`select tip_height as tip from payout_attempts where payout_id = ${payoutId}`;
    const watch = (from: number) => sql()`update watches set watched_from = ${from} where address = ${treasury.wallet('hot')}`;
    await watch((attempt?.tip as number) + 1);
    expect(await listUndead(sql(), payoutId)).toEqual([]);
    await watch((attempt?.tip as number) + 2);
    expect(await listUndead(sql(), payoutId)).toHaveLength(1);
    await watch(0);
    await sql()`update watches set acked_epoch = null where address = ${treasury.wallet('hot')}`;
    expect(await listUndead(sql(), payoutId)).toHaveLength(1);
    await sql()`update watches set acked_epoch = 1 where address = ${treasury.wallet('hot')}`;
    await tend();
    await treasury.settleAll();
  });

  it('is lost with the tip it rests on, and with a canonical block that holds them', async () => {
    const { payoutId } = await lost();
    clean = false;
    await pass(180);
    const [attempt] = await attempts(payoutId);
    await sql()`
      insert into sightings (network_id, kind, txid, ordinal, height, block_hash, position, block_time, sender, recipient, nonce, succeeded, raw_fee)
      select network_id, 'sent', ${attempt?.txid as string}, 0, height, hash, 0, block_time, ${treasury.wallet('hot')}, null, null, false, 0 from chain_tips`;
    expect(await listUndead(sql(), payoutId)).toEqual([attempt?.txid]);
    await sql()`update sightings set canonical = false where txid = ${attempt?.txid as string}`;
    expect(await listUndead(sql(), payoutId)).toEqual([]);
    // Blocks that are not final prove nothing, nor do orphaned ones, nor does a network without a tip.
    await sql()`update chain_tips set final_height = 1`;
    expect(await listUndead(sql(), payoutId)).toEqual([attempt?.txid]);
    await sql()`update chain_tips set final_height = height`;
    await sql()`update chain_blocks set canonical = false where block_time >= ${attempt?.expiresAt as Date}`;
    expect(await listUndead(sql(), payoutId)).toEqual([attempt?.txid]);
    await sql()`update chain_blocks set canonical = true`;
    expect(await listUndead(sql(), payoutId)).toEqual([]);
    await sql()`delete from chain_tips`;
    expect(await listUndead(sql(), payoutId)).toEqual([attempt?.txid]);
  });

  it('is asked for under the locks again: what is seen in between is not expired', async () => {
    const { settlementId, payoutId } = await lost();
    await pass(180);
    const one = chain();
    const transaction = async () => {
      await sql()`update watches set watched_from = watched_from + 100000 where address = ${treasury.wallet('hot')}`;
      return null;
    };
    const slow: Deps = { ...treasury.deps, chains: new Map([[one.config.name, { ...one, reader: { ...one.reader, transaction } }]]) };
    expect(await tend(slow)).toBe(0);
    expect((await row(payoutId))?.status).toBe('BROADCAST');
    await sql()`update watches set watched_from = watched_from - 100000 where address = ${treasury.wallet('hot')}`;
    await tend();
    await treasury.settleAll();
    await paidOnce(settlementId);
  });

  it('is needed by the signer for every attempt of a payout before it signs another payout', async () => {
    const { payoutId } = await lost();
    clean = false;
    await pass(180);
    const [attempt] = await attempts(payoutId);
    await sql()`
      insert into sightings (network_id, kind, txid, ordinal, height, block_hash, position, block_time, sender, recipient, nonce, succeeded, raw_fee)
      select t.network_id, 'sent', ${attempt?.txid as string}, 0, b.height, b.hash, 0, b.block_time, ${treasury.wallet('hot')}, null, null, false, 0
      from chain_tips t join chain_blocks b on b.network_id = t.network_id and b.height = t.final_height`;
    const failed = { ...((await findPayout(sql(), payoutId)) as StoredPayout), status: 'FAILED' as const, txid: attempt?.txid as string };
    expect(await earlierPayoutProblem(sql(), chain(), failed)).toBeNull();
    expect(await earlierPayoutProblem(sql(), chain(), { ...failed, status: 'BROADCAST' })).toContain('live payout');
    expect(await earlierPayoutProblem(sql(), chain(), { ...failed, status: 'CANCELLED' })).toContain('signed bytes');
    expect(await earlierPayoutProblem(sql(), chain(), { ...failed, txid: null })).toContain('not final');
    // Final, and of another payout.
    const [other] = await sql()<{ txid: string }[]>`select txid from payouts where status = 'CONFIRMED' limit 1`;
    expect(await earlierPayoutProblem(sql(), chain(), { ...failed, txid: other?.txid as string })).toContain('not final');
    await sql()`update chain_tips set final_height = 1`;
    expect(await earlierPayoutProblem(sql(), chain(), failed)).toContain('not final');
    await sql()`update chain_tips set final_height = height`;
    await invent(payoutId, 'alive', new Date(Date.now() + 86_400_000));
    expect(await earlierPayoutProblem(sql(), chain(), failed)).toContain('may still take effect');
  });
});

describe('what expired', () => {
  it.each(['sweep', 'top_up'])('is made again when it is a %s, and takes effect once', async (purpose) => {
    const { settlementId, payoutId } = await lost(purpose);
    await pass(180);
    expect(await tend()).toBe(1);
    expect((await row(payoutId))?.status).toBe('REPLACING');
    await treasury.sign();
    expect(await attempts(payoutId)).toHaveLength(2);
    await treasury.settleAll();
    await paidOnce(settlementId);
    expect((await row(payoutId))?.status).toBe('CONFIRMED');
  });

  it('is handed to nobody any more, and of what replaced it only the newest', async () => {
    const { settlementId, payoutId } = await lost();
    const [first] = await attempts(payoutId);
    expect(await listLiveAttempts(sql(), payoutId)).toEqual([first?.id]);
    await pass(180);
    await tend();
    expect(await listLiveAttempts(sql(), payoutId)).toEqual([]);
    expect(await broadcastAttempt(treasury.deps, first?.id as string)).toBe(true);
    await treasury.sign();
    const [, second] = await attempts(payoutId);
    expect(await listLiveAttempts(sql(), payoutId)).toEqual([second?.id]);
    await treasury.settleAll();
    await paidOnce(settlementId);
  });

  it.each([
    ['settlement', 'hot'],
    ['sweep', null],
  ] as const)('and lacks the fee for another try is sent gas, though the node only says no (%s)', async (purpose, role) => {
    const { settlementId, payoutId } = await lost(purpose);
    await pass(180);
    const poor = having((payer) => ({
      quote: async () => ({ ok: false, rejected: 'the sender holds 0 sun and needs 30000000' }),
      balance: async (address, contract) => (contract === null && address !== treasury.wallet('funding') ? 0n : payer.balance(address, contract)),
    }));
    const topUps = async () =>
      (await sql()<{ recipient: string }[]>`select recipient from payouts where purpose = 'top_up' order by created_at`).map((one) => one.recipient);
    const before = await topUps();
    await tend(poor);
    expect((await row(payoutId))?.failure).toBe('the wallet does not cover it');
    const [payout] = await sql()<{ address: string }[]>`select w.address from payouts p join wallets w on w.id = p.wallet_id where p.id = ${payoutId}`;
    expect(await topUps()).toEqual([...before, role === null ? payout?.address : treasury.wallet(role)]);
    await tend();
    await treasury.settleAll();
    await paidOnce(settlementId);
  });

  it('waits, is not released and is not signed while the network takes no such transfer, and is paid once when it does', async () => {
    const { settlementId, payoutId } = await lost();
    await pass(180);
    const refuses = having(() => {
      const no = async () => ({ ok: false as const, rejected: 'the token is paused' });
      return { quote: no, estimate: no };
    });
    await tend(refuses);
    await treasury.world.advance(POLICY.payoutCloseSeconds - 10);
    await tend(refuses);
    expect(await row(payoutId)).toEqual({ status: 'REPLACING', failure: 'the network refuses it: the token is paused' });
    expect(await signPayout(treasury.deps, treasury.signers, payoutId)).toBe('waiting');
    await tend();
    await treasury.settleAll();
    await paidOnce(settlementId);
    expect(await violations('A9')).toEqual([]);
  });
});

it('the audit takes for a proof only one that names the bytes, is as late as their end, and came before the next were signed', async () => {
  const { payoutId } = await lost();
  clean = false;
  await invent(payoutId, 'signed too early', new Date());
  const [first] = await attempts(payoutId);
  const end = first?.expiresAt.getTime() as number;
  const proof = (txid: string | undefined, finalTime: number, at: string) => sql()`
    insert into payout_events (payout_id, event, from_status, to_status, facts, actor, at)
    select ${payoutId}, 'EXPIRED', 'BROADCAST', 'REPLACING', ${sql().json({ txids: [txid ?? ''], finalTime: new Date(finalTime).toISOString() })}, 'worker',
      sluice_now() + ${at}::interval`;
  await proof(first?.txid, end - 1, '-1 hour');
  await proof(first?.txid, end, '1 hour');
  await proof('another', end, '-1 hour');
  expect((await violations('A9')).map((one) => one.problem)).toEqual(['signed again before its bytes were proven dead']);
  await proof(first?.txid, end, '-1 hour');
  expect(await violations('A9')).toEqual([]);
});

it('plans of one wallet are made again only as far as it covers all that is on its way', async () => {
  const { settlementId, payoutId } = await planned('settlement');
  const other = (await treasury.cashOut(shop, 'USDT', '20')).id;
  await dispatchSettlement(treasury.deps, other);
  const [second] = await sql()<{ id: string }[]>`select id from payouts where settlement_id = ${other} and purpose = 'settlement'`;
  await treasury.world.advance(POLICY.payoutQuoteSeconds);
  await tend(having((payer) => ({ balance: async (address, contract) => (contract === null ? payer.balance(address, null) : 25_000_000n) })));
  expect([(await row(payoutId))?.status, (await row(second?.id as string))?.status].sort()).toEqual(['CANCELLED', 'PLANNED']);
  await treasury.settleAll();
  expect([(await read(settlementId)).status, (await read(other)).status]).toEqual(['SETTLED', 'SETTLED']);
});

describe('the signer of bytes that expire', () => {
  it('takes no plan without an end, with one too near or too far, or one that is to be closed', async () => {
    const { settlementId, payoutId } = await planned('settlement');
    const [tip] = await sql()<{ time: Date }[]>`select block_time as time from chain_tips`;
    const now = tip?.time.getTime() as number;
    const [kept] = await sql()<{ plan: object }[]>`select plan from payouts where id = ${payoutId}`;
    const outcome = async (change: Record<string, unknown>): Promise<[string, string | null | undefined]> => {
      await sql()`update payouts set plan = ${sql().json({ ...kept?.plan, ...change } as never)} where id = ${payoutId}`;
      const signed = await signPayout(treasury.deps, treasury.signers, payoutId);
      await sql()`delete from freezes`;
      return [signed, (await row(payoutId))?.failure];
    };
    expect(await outcome({ expiresAtMs: null })).toEqual(['refused', expect.stringContaining('when it expires')]);
    expect(await outcome({ expiresAtMs: now + 0.5 })).toEqual(['refused', expect.stringContaining('when it expires')]);
    expect(await outcome({ expiresAtMs: now + POLICY.payoutExpiryMarginSeconds * 1_000 - 1 })).toEqual(['waiting', 'its plan is about to expire']);
    expect(await outcome({ expiresAtMs: now + POLICY.payoutExpirySeconds * 1_000 + 1 })).toEqual(['waiting', expect.stringContaining('too long')]);
    expect(await outcome({ expiresAtMs: now + 60_000 })).toEqual(['refused', expect.stringContaining('expire at another time')]);
    expect(await outcome({ closeMark: '00' })).toEqual(['refused', 'there is no nonce to use up']);
    await sql()`update payouts set nonce = 3 where id = ${payoutId}`;
    expect(await outcome({})).toEqual(['refused', expect.stringContaining('nonce')]);
    await sql()`update payouts set nonce = null where id = ${payoutId}`;
    expect(await attempts(payoutId)).toEqual([]);
    await tend();
    await treasury.settleAll();
    await paidOnce(settlementId);
  });
});
