import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { sumOutgoing } from '#api/store/payouts.ts';
import { broadcastAttempt } from '#api/payouts/broadcast.ts';
import { tendPayouts } from '#api/payouts/tend-payouts.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { assertBooksEqualChain, aTreasury, MERCHANT, type Treasury } from '#test/fixtures/treasury.ts';

/** Far above what the fees of a cashout may rise to. */
const ABSURD = 40_000n * 10n ** 9n;

let treasury: Treasury;
let shop: Gateway;
beforeEach(async () => {
  treasury = await aTreasury();
  shop = await treasury.world.aGateway();
});
afterEach(async () => {
  try {
    await treasury.mine(2);
    await assertBooksEqualChain(treasury);
    await treasury.audit();
  } finally {
    await treasury.stop();
  }
});

const sql = () => treasury.world.database.sql;
const usdt = () => treasury.assets.USDT?.contract as string;
const read = (id: string) => getSettlement(treasury.deps, { gateway: shop, id });
const tend = () => tendPayouts(treasury.deps);
const status = async (payoutId: string) => (await sql()<{ status: string }[]>`select status from payouts where id = ${payoutId}`)[0]?.status;
const attempts = (payoutId: string) =>
  sql()<{ id: string; number: number; kind: string; txid: string; fee: string }[]>`
    select id, number, kind, txid, fee_limit::text as fee from payout_attempts where payout_id = ${payoutId} order by number`;
const payoutsOf = (settlementId: string) =>
  sql()`select family, status, failure from payouts where settlement_id = ${settlementId} and purpose = 'settlement' order by family, created_at`;
const setBaseFee = (wei: bigint) => treasury.chain.node.call('anvil_setNextBlockBaseFeePerGas', [`0x${wei.toString(16)}`]);
const cheapBlocks = () => setBaseFee(10n ** 8n);
/** The highest fee per gas that is offered so far. */
const highestCap = async () =>
  BigInt(
    (await sql()<{ cap: string }[]>`select max((plan->'fields'->>'maxFeePerGas')::numeric)::text as cap from payouts where status <> 'CONFIRMED'`)[0]
      ?.cap as string,
  );
/** A worker to whose node the transfer looks like one that would fail; closing a nonce does not. */
const refused = (): Deps => {
  const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
  return {
    ...treasury.deps,
    chains: new Map([[name, { ...chain, payer: { ...chain.payer, quote: async () => ({ ok: false, rejected: 'the token is paused' }) } }]]),
  };
};
const due = () => sql()`update outbox set due_at = sluice_now() where state = 'due'`;
const advance = (seconds: number) => treasury.world.advance(seconds);

/** Brings a cashout of 20 USDT to the point where its payout is planned and waits for the signer. */
async function planned(): Promise<{ settlementId: string; payoutId: string }> {
  await treasury.earn(shop, 'USDT', '50');
  const { id } = await treasury.cashOut(shop, 'USDT', '20');
  for (let round = 0; round < 10; round++) {
    await dispatchSettlement(treasury.deps, id);
    const [payout] = await sql()<{ id: string }[]>`select id from payouts where settlement_id = ${id} and purpose = 'settlement' and status = 'PLANNED'`;
    if (payout !== undefined) return { settlementId: id, payoutId: payout.id };
    await treasury.sign();
    await treasury.work();
    await treasury.mine();
  }
  throw new Error(`settlement ${id} was never planned`);
}

/** Mines blocks that are a little too expensive for anything signed so far. */
async function expensiveBlocks(blocks: number = POLICY.payoutBumpBlocks): Promise<void> {
  for (let i = 0; i < blocks; i++) {
    await setBaseFee(((await highestCap()) * 21n) / 20n);
    await treasury.mine();
  }
}

/** A payout that was sent with a fee no block takes, for long enough. */
async function stuck(): Promise<{ settlementId: string; payoutId: string }> {
  const made = await planned();
  await treasury.sign();
  await treasury.work();
  await expensiveBlocks();
  await advance(POLICY.payoutBumpSeconds);
  expect(await status(made.payoutId)).toBe('BROADCAST');
  return made;
}

/** The price falls, and the first bytes of a payout are taken. */
async function mineFirst(payoutId: string): Promise<void> {
  await cheapBlocks();
  await treasury.mine();
  await cheapBlocks();
  await broadcastAttempt(treasury.deps, (await attempts(payoutId))[0]?.id as string);
  await treasury.mine();
}

async function paidOnce(settlementId: string): Promise<void> {
  const settled = await read(settlementId);
  expect(settled.status).toBe('SETTLED');
  expect(await treasury.chain.tokenBalance(usdt(), MERCHANT)).toBe(toUnits(parseTrusted(settled.netAmount), 6));
}

describe('a payout no block takes', () => {
  it('is left alone until its fee has had three blocks and a minute', async () => {
    const { payoutId } = await planned();
    await treasury.sign();
    await treasury.work();
    await expensiveBlocks(2);
    await advance(POLICY.payoutBumpSeconds);
    expect(await tend()).toBe(0);
    await expensiveBlocks(1);
    expect(await tend()).toBe(1);
    expect(await status(payoutId)).toBe('REPLACING');
    await treasury.sign();
    await cheapBlocks();
    await treasury.settleAll();
  });

  it('is offered again under its nonce for what the market asks, and settles by whichever is mined', async () => {
    const { settlementId, payoutId } = await stuck();
    await tend();
    expect(await treasury.sign()).toEqual(['signed']);
    expect(await tend()).toBe(0);
    await treasury.work();
    await treasury.mine();
    expect(await status(payoutId)).toBe('INCLUDED');
    await treasury.settleAll();
    await paidOnce(settlementId);
    const [first, second] = await attempts(payoutId);
    expect(BigInt(second?.fee as string)).toBeGreaterThanOrEqual((BigInt(first?.fee as string) * 9n) / 8n);
    expect((await read(settlementId)).txHash).toBe(second?.txid);
    const events = await sql()<{ event: string }[]>`select event from payout_events where payout_id = ${payoutId} order by id`;
    expect(events.map((row) => row.event)).toEqual(['PLANNED', 'SIGNED', 'SENT', 'BUMPED', 'SIGNED', 'SENT', 'SEEN', 'FINAL_SUCCESS']);
  });

  it('is paid once by its first bytes when those are mined after all', async () => {
    const { settlementId, payoutId } = await stuck();
    await tend();
    await treasury.sign();
    // The second bytes never reach the node; the price falls and the first ones are taken.
    await mineFirst(payoutId);
    expect(await status(payoutId)).toBe('INCLUDED');
    await due();
    await treasury.work();
    await treasury.settleAll();
    await paidOnce(settlementId);
    expect((await read(settlementId)).txHash).toBe((await attempts(payoutId))[0]?.txid);
  });

  it('is found in a block while further bytes wait for the signer, which then signs none', async () => {
    const { settlementId, payoutId } = await stuck();
    await tend();
    await mineFirst(payoutId);
    expect(await treasury.sign()).toEqual([]);
    await treasury.settleAll();
    await paidOnce(settlementId);
    expect(await attempts(payoutId)).toHaveLength(1);
  });

  it('is bumped again, and every earlier attempt is watched and handed over again', async () => {
    const { settlementId, payoutId } = await stuck();
    await tend();
    await treasury.sign();
    await treasury.work();
    await expensiveBlocks();
    await advance(POLICY.payoutBumpSeconds);
    expect(await tend()).toBe(1);
    await treasury.sign();
    expect(await attempts(payoutId)).toHaveLength(3);
    await treasury.chain.node.call('anvil_dropAllTransactions', []);
    await due();
    await treasury.work();
    await treasury.mine();
    expect(await status(payoutId)).toBe('INCLUDED');
    await treasury.settleAll();
    await paidOnce(settlementId);
  });

  it('is bumped once however many workers look after it at once', async () => {
    const { settlementId, payoutId } = await stuck();
    await Promise.all(Array.from({ length: 6 }, tend));
    expect(await sql()`select 1 from payout_events where payout_id = ${payoutId} and event = 'BUMPED'`).toHaveLength(1);
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => signPayout(treasury.deps, treasury.signers, payoutId)));
    expect(outcomes.filter((outcome) => outcome === 'signed')).toHaveLength(1);
    expect(await attempts(payoutId)).toHaveLength(2);
    await treasury.settleAll();
    await paidOnce(settlementId);
  });

  it('comes back from a reorganisation with all its attempts, and is paid once', async () => {
    const { settlementId, payoutId } = await stuck();
    await tend();
    await treasury.sign();
    await treasury.work();
    await treasury.mine();
    expect(await status(payoutId)).toBe('INCLUDED');
    await treasury.reorganise(1);
    expect(await status(payoutId)).toBe('BROADCAST');
    const queued = await sql()<{ number: number }[]>`
      select distinct t.number from outbox o join payout_attempts t on t.id = o.ref_id where o.topic = 'payout.broadcast' and o.state = 'due' order by t.number`;
    expect(queued.map((row) => row.number)).toEqual([1, 2]);
    // A block took them once: they are given their time again before anything more is offered.
    await advance(POLICY.payoutBumpSeconds - 10);
    expect(await tend()).toBe(0);
    await treasury.settleAll();
    await paidOnce(settlementId);
  });

  it('is not bumped while it waits for a lower nonce, while dispatch is frozen, or once the chain knows its nonce', async () => {
    const { payoutId } = await stuck();
    const behind = await treasury.cashOut(shop, 'USDT', '5');
    await dispatchSettlement(treasury.deps, behind.id);
    await sql()`insert into freezes (scope, reason) values ('all', 'a test')`;
    expect(await tend()).toBe(0);
    await sql()`delete from freezes`;
    await treasury.sign();
    await treasury.work();
    await expensiveBlocks();
    await advance(POLICY.payoutBumpSeconds);
    await tend();
    const bumped = await sql()<{ id: string }[]>`select payout_id as id from payout_events where event = 'BUMPED'`;
    expect(bumped.map((row) => row.id)).toEqual([payoutId]);
    await treasury.sign();
    await treasury.work();
    await treasury.chain.mine(1);
    // Mined, and not scanned yet.
    await advance(2 * POLICY.payoutBumpSeconds);
    expect(await tend()).toBe(0);
    await treasury.follow();
    await cheapBlocks();
    await treasury.settleAll();
  });

  it('keeps its bytes when the fee would pass what any transaction may cost', async () => {
    const { settlementId, payoutId } = await stuck();
    await treasury.chain.payAndMine(treasury.wallet('hot'), null, 100n * 10n ** 18n);
    await setBaseFee(ABSURD);
    await treasury.mine();
    await tend();
    expect(await status(payoutId)).toBe('BROADCAST');
    const [row] = await sql()`select failure from payouts where id = ${payoutId}`;
    expect(row?.failure).toMatch(/a fee of .* USD/);
    await cheapBlocks();
    await treasury.settleAll();
    await paidOnce(settlementId);
    expect(await attempts(payoutId)).toHaveLength(1);
  });
});

it('never offers less gas than before, though a node estimates for a state in which the first bytes have done their work', async () => {
  const { settlementId, payoutId } = await stuck();
  const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
  const quote: Chain['payer']['quote'] = async (intent) => {
    const answer = await chain.payer.quote(intent);
    return answer.ok ? { ok: true, quote: { ...answer.quote, fields: { ...answer.quote.fields, gas: '30000' } } } : answer;
  };
  await tendPayouts({ ...treasury.deps, chains: new Map([[name, { ...chain, payer: { ...chain.payer, quote } }]]) });
  await treasury.sign();
  await treasury.settleAll();
  await paidOnce(settlementId);
  expect(await payoutsOf(settlementId)).toMatchObject([{ family: 1, status: 'CONFIRMED' }]);
  expect(await attempts(payoutId)).toHaveLength(2);
});

describe('a payout nobody signed', () => {
  it('is quoted again when its fee is old, so that it is not sent with a fee no block takes', async () => {
    const { settlementId, payoutId } = await planned();
    const capOf = async () =>
      BigInt((await sql()<{ cap: string }[]>`select plan->'fields'->>'maxFeePerGas' as cap from payouts where id = ${payoutId}`)[0]?.cap as string);
    const before = await capOf();
    await expensiveBlocks(2);
    expect(await tend()).toBe(0);
    await advance(POLICY.payoutQuoteSeconds);
    expect(await tend()).toBe(1);
    expect(await capOf()).toBeGreaterThan(before);
    expect(await status(payoutId)).toBe('PLANNED');
    await treasury.settleAll();
    await paidOnce(settlementId);
    expect(await attempts(payoutId)).toHaveLength(1);
  });

  it('gives its nonce back when it can no longer be sent, and is paid by a second payout', async () => {
    const { settlementId, payoutId } = await planned();
    await advance(POLICY.payoutQuoteSeconds);
    await tendPayouts(refused());
    await advance(POLICY.payoutCloseSeconds);
    await tendPayouts(refused());
    await treasury.sign();
    expect((await attempts(payoutId)).map((one) => one.kind)).toEqual(['close']);
    await treasury.settleAll();
    await paidOnce(settlementId);
    expect((await payoutsOf(settlementId)).map((row) => `${row.family} ${row.status}`)).toEqual(['1 FAILED', '2 CONFIRMED']);
  });

  it('may be quoted again while it is being signed: the signer signs again, and freezes nothing', async () => {
    const { settlementId, payoutId } = await planned();
    await expensiveBlocks(1);
    await advance(POLICY.payoutQuoteSeconds);
    const [name, signer] = [...treasury.signers][0] as [string, NonNullable<ReturnType<Treasury['signers']['get']>>];
    const slow = { ...signer, sign: async (...args: Parameters<typeof signer.sign>) => signer.sign(...args).finally(tend) };
    expect(await signPayout(treasury.deps, new Map([[name, slow]]), payoutId)).toBe('gone');
    expect(await sql()`select 1 from freezes`).toHaveLength(0);
    await treasury.settleAll();
    await paidOnce(settlementId);
  });
});

describe('a payout that cannot be sent any more', () => {
  /** Stuck with a fee no block takes, and for a quarter of an hour the token refuses the transfer. */
  async function closing(): Promise<{ settlementId: string; payoutId: string }> {
    const made = await stuck();
    await tendPayouts(refused());
    expect(await status(made.payoutId)).toBe('BROADCAST');
    await advance(POLICY.payoutCloseSeconds - 10);
    expect(await tendPayouts(refused())).toBe(0);
    await advance(10);
    expect(await tendPayouts(refused())).toBe(1);
    expect(await treasury.sign()).toEqual(['signed']);
    expect((await attempts(made.payoutId)).map((one) => one.kind)).toEqual(['transfer', 'close']);
    return made;
  }

  it('is closed under its nonce, moves nothing, and one new payout pays', async () => {
    const { settlementId, payoutId } = await closing();
    await treasury.work();
    await treasury.mine();
    expect(await status(payoutId)).toBe('INCLUDED');
    expect(await payoutsOf(settlementId)).toHaveLength(1);
    await treasury.settleAll();
    await paidOnce(settlementId);
    expect(await payoutsOf(settlementId)).toMatchObject([
      { family: 1, status: 'FAILED', failure: expect.stringContaining('closed') },
      { family: 2, status: 'CONFIRMED' },
    ]);
  });

  it('is paid as usual when its transfer is mined before the close, and no second payout is made', async () => {
    const { settlementId, payoutId } = await closing();
    await mineFirst(payoutId);
    expect(await status(payoutId)).toBe('INCLUDED');
    await due();
    await treasury.work();
    await treasury.settleAll();
    await paidOnce(settlementId);
    expect(await payoutsOf(settlementId)).toMatchObject([{ family: 1, status: 'CONFIRMED', failure: null }]);
  });

  it('has its close raised as well, and never a transfer again', async () => {
    const { settlementId, payoutId } = await closing();
    await treasury.work();
    await expensiveBlocks();
    await advance(POLICY.payoutBumpSeconds);
    expect(await tend()).toBe(1);
    await treasury.sign();
    expect((await attempts(payoutId)).map((one) => one.kind)).toEqual(['transfer', 'close', 'close']);
    await cheapBlocks();
    await treasury.settleAll();
    expect((await read(settlementId)).status).toBe('SETTLED');
  });
});

describe('the signer of further bytes', () => {
  const refuses = async (payoutId: string, tamper: PromiseLike<unknown>, restore: () => PromiseLike<unknown>) => {
    await tamper;
    expect(await signPayout(treasury.deps, treasury.signers, payoutId)).toBe('refused');
    await restore();
    await sql()`delete from freezes`;
  };

  it('refuses another nonce than its stored bytes use, a close nobody decided, and a payout whose bytes are gone or invented', async () => {
    const { settlementId, payoutId } = await stuck();
    await refuses(
      payoutId,
      sql()`update payouts set status = 'PLANNED' where id = ${payoutId}`,
      () => sql()`update payouts set status = 'BROADCAST' where id = ${payoutId}`,
    );
    await tend();
    await refuses(
      payoutId,
      sql()`update payouts set nonce = nonce + 7 where id = ${payoutId}`,
      () => sql()`update payouts set nonce = nonce - 7 where id = ${payoutId}`,
    );
    expect(await attempts(payoutId)).toHaveLength(1);
    expect(await signPayout(treasury.deps, treasury.signers, payoutId)).toBe('signed');
    await treasury.settleAll();
    await paidOnce(settlementId);
  });

  it('counts a payout once against the limits, by the highest fee any of its bytes may cost', async () => {
    const { settlementId, payoutId } = await stuck();
    await tend();
    await treasury.sign();
    const sums = await sumOutgoing(sql(), { networkId: treasury.network.id, seconds: 86_400, planned: false });
    const [, second] = await attempts(payoutId);
    const [others] = await sql()<{ fee: string }[]>`
      select coalesce(sum(fee_limit), 0)::text as fee from payout_attempts where payout_id <> ${payoutId}`;
    expect(sums.find((sum) => sum.symbol === 'ETH')?.rawAmount).toBe(BigInt(second?.fee as string) + BigInt(others?.fee as string));
    expect(sums.find((sum) => sum.symbol === 'USDT')?.rawAmount).toBe(toUnits(parseTrusted((await read(settlementId)).netAmount), 6));
    await treasury.settleAll();
  });

  it('takes the answer of no node for proof: an attempt the node calls too cheap or too late changes nothing', async () => {
    const { settlementId, payoutId } = await stuck();
    await tend();
    await treasury.sign();
    const [first, second] = await attempts(payoutId);
    await broadcastAttempt(treasury.deps, second?.id as string);
    await broadcastAttempt(treasury.deps, first?.id as string);
    expect(await status(payoutId)).toBe('BROADCAST');
    await treasury.mine();
    await broadcastAttempt(treasury.deps, first?.id as string);
    expect(await status(payoutId)).toBe('INCLUDED');
    await treasury.settleAll();
    await paidOnce(settlementId);
  });
});
