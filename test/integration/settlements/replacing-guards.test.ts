import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { checkEarlierAttempts } from '#api/signer/check-earlier.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { findPayout, type StoredPayout } from '#api/store/payouts.ts';
import { tendPayouts } from '#api/payouts/tend-payouts.ts';
import type { Payer } from '#shared/chains/chain.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
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
    await assertBooksEqualChain(treasury);
    await treasury.audit();
  } finally {
    await treasury.stop();
  }
});

const sql = () => treasury.world.database.sql;
const read = (id: string) => getSettlement(treasury.deps, { gateway: shop, id });
const advance = (seconds: number) => treasury.world.advance(seconds);
const tend = (deps: Deps = treasury.deps) => tendPayouts(deps);
const row = async (id: string) =>
  (await sql()<{ status: string; failure: string | null; rawAmount: string }[]>`select status, failure, raw_amount from payouts where id = ${id}`)[0];
const attempts = (id: string) =>
  sql()<{ id: string; kind: string; fee: string }[]>`select id, kind, fee_limit::text as fee from payout_attempts where payout_id = ${id} order by number`;
const quotedAt = async (id: string) => (await sql()<{ at: string }[]>`select plan->>'quotedAt' as at from payouts where id = ${id}`)[0]?.at;

/** The same worker with some answers of its node replaced. */
function having(change: (payer: Payer) => Partial<Payer>): Deps {
  const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
  return { ...treasury.deps, chains: new Map([[name, { ...chain, payer: { ...chain.payer, ...change(chain.payer) } }]]) };
}
/** One to whose node no transfer looks possible; closing a nonce does. */
const refusing = () =>
  having((payer) => ({
    quote: async () => ({ ok: false, rejected: 'it is paused' }),
    estimate: async (intent) => (intent.sender === intent.recipient ? payer.estimate(intent) : { ok: false, rejected: 'it is paused' }),
  }));

async function planned(symbol: string, earned: string, paid: string, purpose: 'settlement' | 'sweep' = 'settlement') {
  await treasury.earn(shop, symbol, earned);
  const { id } = await treasury.cashOut(shop, symbol, paid);
  for (let round = 0; round < 10; round++) {
    await dispatchSettlement(treasury.deps, id);
    const [payout] = await sql()<{ id: string }[]>`
      select id from payouts where settlement_id = ${id} and purpose = ${purpose} and status = 'PLANNED' and nonce is not null`;
    if (payout !== undefined) return { settlementId: id, payoutId: payout.id };
    for (const other of await sql()<{ id: string }[]>`
      select id from payouts where purpose <> 'settlement' and status = 'PLANNED' and nonce is not null`)
      await signPayout(treasury.deps, treasury.signers, other.id);
    await treasury.work();
    await treasury.mine();
  }
  throw new Error(`no ${purpose} was planned`);
}

/** Sent, dropped by the node, and old enough for a higher fee. */
async function stuck() {
  const made = await planned('USDT', '50', '20');
  await treasury.sign();
  await treasury.work();
  await treasury.chain.node.call('anvil_dropAllTransactions', []);
  await treasury.mine(POLICY.payoutBumpBlocks);
  await advance(POLICY.payoutBumpSeconds);
  expect((await row(made.payoutId))?.status).toBe('BROADCAST');
  return made;
}

/** Two payouts of the hot wallet that nobody signed, with consecutive nonces and old quotes. */
async function two() {
  const first = await planned('USDT', '50', '20');
  const second = await planned('ETH', '1', '0.2');
  await advance(POLICY.payoutQuoteSeconds);
  return { first, second };
}

async function paidOnce(settlementId: string): Promise<void> {
  const settled = await read(settlementId);
  expect(settled.status).toBe('SETTLED');
  expect(await treasury.chain.tokenBalance(treasury.assets.USDT?.contract as string, MERCHANT)).toBe(toUnits(parseTrusted(settled.netAmount), 6));
}

describe('under the locks', () => {
  it.each<[string, () => PromiseLike<unknown>, () => PromiseLike<unknown>]>([
    [
      'a wallet halted',
      () => sql()`update wallets set halted_reason = 'a test' where role = 'hot'`,
      () => sql()`update wallets set halted_reason = null where role = 'hot'`,
    ],
    ['dispatch frozen', () => sql()`insert into freezes (scope, reason) values ('all', 'a test')`, () => sql()`delete from freezes`],
  ])('%s while the market is asked: nobody moves', async (_, change, restore) => {
    const { settlementId, payoutId } = await stuck();
    const slow = having((payer) => ({
      bump: async (fields) => {
        await change();
        return (payer.bump as NonNullable<Payer['bump']>)(fields);
      },
    }));
    expect(await tend(slow)).toBe(0);
    expect((await row(payoutId))?.status).toBe('BROADCAST');
    await restore();
    expect(await tend()).toBe(1);
    await treasury.settleAll();
    await paidOnce(settlementId);
  });

  it('a plan made anew by another worker while the market is asked: it stands', async () => {
    const { settlementId, payoutId } = await planned('USDT', '50', '20');
    await advance(POLICY.payoutQuoteSeconds);
    let theirs: string | undefined;
    const slow = having((payer) => ({
      quote: async (intent) => {
        const answer = await payer.quote(intent);
        expect(await tend()).toBe(1);
        theirs = await quotedAt(payoutId);
        return answer;
      },
    }));
    expect(await tend(slow)).toBe(0);
    expect(await quotedAt(payoutId)).toBe(theirs);
    await treasury.settleAll();
    await paidOnce(settlementId);
  });

  it('coins that others were promised while the market was asked: nobody moves', async () => {
    const { first, second } = await two();
    const kept = await sql()<{ plan: never }[]>`select plan from payouts where id = ${first.payoutId}`;
    const before = await quotedAt(second.payoutId);
    let asked = false;
    const slow = having((payer) => ({
      quote: async (intent) => {
        asked = intent.contract === null;
        return payer.quote(intent);
      },
    }));
    // Its fee is looked at last of all that is fetched.
    const fresh: Deps['prices']['fresh'] = async (symbol) => {
      if (asked) await sql()`update payouts set plan = plan || jsonb_build_object('rawFee', '1000000000000000000000') where id = ${first.payoutId}`;
      return treasury.deps.prices.fresh(symbol);
    };
    await tend({ ...slow, prices: { ...treasury.deps.prices, fresh } });
    expect(await quotedAt(second.payoutId)).toBe(before);
    await sql()`update payouts set plan = ${sql().json(kept[0]?.plan as never)} where id = ${first.payoutId}`;
    await treasury.settleAll();
  });
});

it('what a nonce needs is held against what must be paid before it, not what comes after', async () => {
  const { first, second } = await two();
  const after = await findPayout(sql(), second.payoutId);
  const before = [await quotedAt(first.payoutId), await quotedAt(second.payoutId)];
  await tend(
    having((payer) => ({ balance: async (address, contract) => (contract === null ? (after?.rawAmount as bigint) : payer.balance(address, contract)) })),
  );
  expect(await quotedAt(first.payoutId)).not.toBe(before[0]);
  expect(await quotedAt(second.payoutId)).toBe(before[1]);
  await treasury.settleAll();
});

it('a payout that could be sent in between is stuck anew, and not closed for what was long ago', async () => {
  const { settlementId, payoutId } = await planned('USDT', '50', '20');
  await advance(POLICY.payoutQuoteSeconds);
  expect(await tend(refusing())).toBe(0);
  expect(await tend()).toBe(1);
  await advance(POLICY.payoutCloseSeconds);
  expect(await tend(refusing())).toBe(0);
  expect((await row(payoutId))?.status).toBe('PLANNED');
  expect(await tend()).toBe(1);
  await treasury.settleAll();
  await paidOnce(settlementId);
  expect(await attempts(payoutId)).toHaveLength(1);
});

it('a payout that is being closed still counts with the fee of its dearest bytes, and no transfer of it is signed again', async () => {
  const { settlementId, payoutId } = await stuck();
  await tend(refusing());
  await advance(POLICY.payoutCloseSeconds);
  expect(await tend(refusing())).toBe(1);
  const [transfer] = await attempts(payoutId);
  expect((await findPayout(sql(), payoutId))?.rawFeeAtMost).toBe(BigInt(transfer?.fee as string));
  await treasury.sign();
  expect((await attempts(payoutId)).map((one) => one.kind)).toEqual(['transfer', 'close']);
  const [kept] = await sql()<{ plan: never }[]>`select plan from payouts where id = ${payoutId}`;
  await sql()`update payouts set status = 'REPLACING', plan = plan - 'closeMark' where id = ${payoutId}`;
  expect(await signPayout(treasury.deps, treasury.signers, payoutId)).toBe('refused');
  expect((await row(payoutId))?.failure).toContain('pays no more');
  await sql()`update payouts set status = 'BROADCAST', plan = ${sql().json(kept?.plan as never)} where id = ${payoutId}`;
  await sql()`delete from freezes`;
  await treasury.work();
  await treasury.settleAll();
  expect((await read(settlementId)).status).toBe('SETTLED');
});

it('bytes of another sender under the same nonce exclude nothing: the signer refuses', async () => {
  const { settlementId, payoutId } = await stuck();
  await tend();
  const [own] = await sql()<{ id: string; bytes: Uint8Array }[]>`select id, signed_bytes as bytes from payout_attempts where payout_id = ${payoutId}`;
  const [foreign] = await sql()<{ bytes: Uint8Array }[]>`
    select t.signed_bytes as bytes from payout_attempts t join payouts p on p.id = t.payout_id join wallets w on w.id = p.wallet_id
    where w.role <> 'hot' and p.nonce = (select nonce from payouts where id = ${payoutId}) limit 1`;
  const write = async (bytes: Uint8Array | undefined) => {
    await sql()`alter table payout_attempts disable trigger payout_attempts_append_only`;
    await sql()`update payout_attempts set signed_bytes = ${Buffer.from(bytes as Uint8Array)} where id = ${own?.id as string}`;
    await sql()`alter table payout_attempts enable trigger payout_attempts_append_only`;
  };
  await write(foreign?.bytes);
  expect(await signPayout(treasury.deps, treasury.signers, payoutId)).toBe('refused');
  expect((await row(payoutId))?.failure).toContain('use another nonce');
  await write(own?.bytes);
  await sql()`delete from freezes`;
  await treasury.settleAll();
  await paidOnce(settlementId);
});

it('bytes that moved something else were held against no limit for this: the signer refuses to take their place', async () => {
  const { settlementId, payoutId } = await stuck();
  await tend();
  const payout = (await findPayout(sql(), payoutId)) as StoredPayout;
  const [chain] = treasury.deps.chains.values();
  const check = (changed: Partial<StoredPayout>) => checkEarlierAttempts(sql(), chain as Chain, { ...payout, ...changed });
  const { recipient, contract, rawAmount } = payout;
  expect(await check({})).toMatchObject({ kind: 'transfer', shared: true, earlier: [{ recipient, contract, rawAmount }] });
  for (const changed of [{ rawAmount: payout.rawAmount + 1n }, { recipient: treasury.wallet('held') }, { contract: null }])
    expect(await check(changed)).toEqual({ refuse: expect.stringContaining('moved something else') });
  await treasury.settleAll();
  await paidOnce(settlementId);
});

it('a sweep of native coins that is closed unsigned keeps the amount it was to bring, and is made anew', async () => {
  const { settlementId, payoutId } = await planned('ETH', '0.5', '0.3', 'sweep');
  const before = (await row(payoutId))?.rawAmount;
  await advance(POLICY.payoutQuoteSeconds);
  await tend(refusing());
  await advance(POLICY.payoutCloseSeconds);
  expect(await tend(refusing())).toBe(1);
  await advance(POLICY.payoutQuoteSeconds);
  expect(await tend(refusing())).toBe(1);
  expect((await row(payoutId))?.rawAmount).toBe(before);
  await treasury.sign();
  expect((await attempts(payoutId)).map((one) => one.kind)).toEqual(['close']);
  await treasury.settleAll();
  expect((await read(settlementId)).status).toBe('SETTLED');
});

it('a payout with signed bytes that says it was only planned is signed by nobody', async () => {
  const { settlementId, payoutId } = await planned('USDT', '50', '20', 'sweep');
  await treasury.sign();
  await sql()`update payouts set status = 'PLANNED' where id = ${payoutId}`;
  expect(await signPayout(treasury.deps, treasury.signers, payoutId)).toBe('refused');
  expect((await row(payoutId))?.failure).toContain('contradict');
  await sql()`update payouts set status = 'SIGNED' where id = ${payoutId}`;
  await sql()`delete from freezes`;
  await treasury.settleAll();
  await paidOnce(settlementId);
});

it('bytes that fell out of a block have their time again before their fee is raised', async () => {
  const { settlementId, payoutId } = await planned('USDT', '50', '20');
  await treasury.sign();
  await treasury.work();
  await treasury.mine();
  expect((await row(payoutId))?.status).toBe('INCLUDED');
  await advance(POLICY.payoutBumpSeconds);
  await treasury.reorganise(1);
  await treasury.mine(POLICY.payoutBumpBlocks);
  expect((await row(payoutId))?.status).toBe('BROADCAST');
  expect(await tend()).toBe(0);
  await advance(POLICY.payoutBumpSeconds);
  expect(await tend()).toBe(1);
  await treasury.settleAll();
  await paidOnce(settlementId);
});
