import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Chain, Deps, Gateway } from '#api/deps.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { tendPayouts } from '#api/payouts/tend-payouts.ts';
import { ChainUnavailable, type Payer } from '#shared/chains/chain.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { type OpenSettlements, summariseOpenSettlements } from '#api/store/settlements.ts';
import { waitReason } from '#shared/core/wait-reasons.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { POLICY } from '#shared/core/policy.ts';
import { assertBooksEqualChain, aTreasury, MERCHANT, type Treasury } from '#test/fixtures/treasury.ts';

let treasury: Treasury;
let shop: Gateway;
/** Whether the books are to be clean at the end: one test tampers with them. */
let clean: boolean;
beforeEach(async () => {
  treasury = await aTreasury();
  shop = await treasury.world.aGateway();
  clean = true;
});
afterEach(async () => {
  try {
    await treasury.mine(2);
    if (clean) await assertBooksEqualChain(treasury);
    if (clean) await treasury.audit();
  } finally {
    await treasury.stop();
  }
});

const sql = () => treasury.world.database.sql;
const read = (id: string) => getSettlement(treasury.deps, { gateway: shop, id });
const advance = (seconds: number) => treasury.world.advance(seconds);
const tend = (deps: Deps = treasury.deps) => tendPayouts(deps);
const row = async (id: string) =>
  (await sql()<{ status: string; failure: string | null; nonce: number | null }[]>`select status, failure, nonce from payouts where id = ${id}`)[0];
const kinds = async (id: string) =>
  (await sql()<{ kind: string }[]>`select kind from payout_attempts where payout_id = ${id} order by number`).map((one) => one.kind);
const setBaseFee = (wei: bigint) => treasury.chain.node.call('anvil_setNextBlockBaseFeePerGas', [`0x${wei.toString(16)}`]);
const ofPurpose = (purpose: string) =>
  sql()<{ id: string; status: string; recipient: string; nonce: number | null }[]>`
    select id, status, recipient, nonce from payouts where purpose = ${purpose} order by created_at`;

/** The same worker or signer with some answers of its node, or parts of its configuration, replaced. */
function having(change: (chain: Chain) => { payer?: Partial<Payer>; config?: Partial<Chain['config']> }): Deps {
  const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
  const { payer, config } = change(chain);
  return { ...treasury.deps, chains: new Map([[name, { ...chain, config: { ...chain.config, ...config }, payer: { ...chain.payer, ...payer } }]]) };
}

/** Dispatches a cashout, and plays everybody, until a payout of this purpose is planned with a nonce. */
async function planned(settlementId: string, purpose: string): Promise<string> {
  for (let round = 0; round < 10; round++) {
    await dispatchSettlement(treasury.deps, settlementId);
    const [found] = await sql()<{ id: string }[]>`
      select id from payouts where purpose = ${purpose} and status = 'PLANNED' and nonce is not null and settlement_id = ${settlementId}`;
    if (found !== undefined) return found.id;
    await treasury.sign();
    await treasury.work();
    await treasury.mine();
  }
  throw new Error(`no ${purpose} was planned`);
}

async function cashOut(symbol = 'USDT', amount = '20'): Promise<string> {
  return (await treasury.cashOut(shop, symbol, amount)).id;
}

/** Signs a payout, and mines blocks that are a little too expensive for it until its fee may be raised. */
async function tooCheap(payoutId: string): Promise<void> {
  await treasury.sign();
  await treasury.work();
  const [cap] = await sql()<{ cap: string }[]>`select plan->'fields'->>'maxFeePerGas' as cap from payouts where id = ${payoutId}`;
  for (let i = 0; i < POLICY.payoutBumpBlocks; i++) {
    await setBaseFee((BigInt(cap?.cap as string) * 21n) / 20n);
    await treasury.mine();
  }
  await advance(POLICY.payoutBumpSeconds);
  expect((await row(payoutId))?.status).toBe('BROADCAST');
}

async function paidOnce(settlementId: string, symbol = 'USDT'): Promise<void> {
  const settled = await read(settlementId);
  expect(settled.status).toBe('SETTLED');
  const { contract, decimals } = treasury.assets[symbol] as NonNullable<Treasury['assets'][string]>;
  const held = contract === null ? await treasury.chain.balance(MERCHANT) : await treasury.chain.tokenBalance(contract, MERCHANT);
  expect(held).toBe(toUnits(parseTrusted(settled.netAmount), decimals));
}

describe('a sweep no block takes', () => {
  it.each([
    ['USDT', '50', '20'],
    ['ETH', '0.5', '0.3'],
  ])('is given the gas it lacks since fees rose, raised under its nonce, and brings its coins once (%s)', async (symbol, earned, paid) => {
    await treasury.earn(shop, symbol, earned);
    const settlementId = await cashOut(symbol, paid);
    const sweep = await planned(settlementId, 'sweep');
    await tooCheap(sweep);
    const before = (await ofPurpose('top_up')).length;
    await tend();
    expect((await row(sweep))?.failure).toBe('the wallet does not cover it');
    expect(await ofPurpose('top_up')).toHaveLength(before + 1);
    // However often it is looked at, it is sent gas once.
    await tend();
    expect(await ofPurpose('top_up')).toHaveLength(before + 1);
    await treasury.sign();
    await treasury.work();
    await treasury.mine();
    if ((await row(sweep))?.status === 'BROADCAST') {
      await tend();
      expect((await row(sweep))?.status).toBe('REPLACING');
      await treasury.sign();
      expect(await kinds(sweep)).toEqual(['transfer', 'transfer']);
    }
    await treasury.settleAll();
    await paidOnce(settlementId, symbol);
  });

  it('is closed when it cannot be sent any more, and its coins are swept anew', async () => {
    await treasury.earn(shop, 'USDT', '50');
    const settlementId = await cashOut();
    const sweep = await planned(settlementId, 'sweep');
    await treasury.sign();
    await treasury.work();
    await treasury.chain.node.call('anvil_dropAllTransactions', []);
    for (let i = 0; i < POLICY.payoutBumpBlocks; i++) await treasury.mine();
    await advance(POLICY.payoutBumpSeconds);
    const refuses = having((chain) => ({
      payer: {
        estimate: async (intent) => (intent.contract === null ? chain.payer.estimate(intent) : { ok: false, rejected: 'the address is frozen' }),
      },
    }));
    await tend(refuses);
    expect((await row(sweep))?.failure).toContain('the address is frozen');
    await advance(POLICY.payoutCloseSeconds);
    await tend(refuses);
    await treasury.sign();
    expect(await kinds(sweep)).toEqual(['transfer', 'close']);
    await treasury.work();
    await treasury.settleAll();
    await paidOnce(settlementId);
    expect((await ofPurpose('sweep')).map((one) => one.status)).toEqual(['FAILED', 'CONFIRMED']);
  });
});

describe('a wallet that pays', () => {
  it('is sent more gas when the fee of what it signed rose above what it kept back', async () => {
    await treasury.earn(shop, 'USDT', '50');
    const settlementId = await cashOut();
    const payoutId = await planned(settlementId, 'settlement');
    const hot = treasury.wallet('hot');
    const full = await treasury.chain.balance(hot);
    const [fee] = await sql()<{ fee: string }[]>`select plan->>'rawFee' as fee from payouts where id = ${payoutId}`;
    const left = BigInt(fee?.fee as string);
    await treasury.chain.node.call('anvil_setBalance', [hot, `0x${left.toString(16)}`]);
    await tooCheap(payoutId);
    const before = (await ofPurpose('top_up')).length;
    await tend();
    const topUps = await ofPurpose('top_up');
    expect(topUps).toHaveLength(before + 1);
    expect(topUps.at(-1)?.recipient).toBe(hot);
    await treasury.sign();
    await treasury.work();
    await treasury.mine();
    await tend();
    await treasury.settleAll();
    await paidOnce(settlementId);
    const now = await treasury.chain.balance(hot);
    await treasury.chain.node.call('anvil_setBalance', [hot, `0x${(now + full - left).toString(16)}`]);
  });

  it('is not sent gas for a fee that is above what any may be', async () => {
    await treasury.earn(shop, 'USDT', '50');
    const settlementId = await cashOut();
    const payoutId = await planned(settlementId, 'settlement');
    await treasury.sign();
    await treasury.work();
    const [offered] = await sql()<{ cap: string }[]>`select plan->'fields'->>'maxFeePerGas' as cap from payouts where id = ${payoutId}`;
    for (let i = 0; i < POLICY.payoutBumpBlocks; i++) {
      await setBaseFee(BigInt(offered?.cap as string) * 40n);
      await treasury.mine();
    }
    await advance(POLICY.payoutBumpSeconds);
    const before = (await ofPurpose('top_up')).length;
    await tend();
    expect(await row(payoutId)).toMatchObject({ status: 'BROADCAST', failure: 'the wallet does not cover it' });
    expect(await ofPurpose('top_up')).toHaveLength(before);
    await setBaseFee(10n ** 8n);
    await treasury.settleAll();
    await paidOnce(settlementId);
  });

  it('is not held up for ever by what the signer will never sign: its nonce is given back', async () => {
    await treasury.earn(shop, 'USDT', '50');
    const settlementId = await cashOut();
    const payoutId = await planned(settlementId, 'settlement');
    const limited = having((chain) => ({ config: { limits: { ...chain.config.limits, perTransactionUsd: '5' } } }));
    expect(await signPayout(limited, treasury.signers, payoutId)).toBe('waiting');
    await advance(POLICY.payoutQuoteSeconds);
    await tend(limited);
    expect((await row(payoutId))?.failure).toContain('per transaction');
    await advance(POLICY.payoutCloseSeconds - 10);
    expect(await tend(limited)).toBe(0);
    await advance(10);
    expect(await tend(limited)).toBe(1);
    expect(await signPayout(limited, treasury.signers, payoutId)).toBe('signed');
    expect(await kinds(payoutId)).toEqual(['close']);
    await treasury.settleAll();
    await paidOnce(settlementId);
  });

  it('is not held up by a top-up that the price has put above its ceiling, and nothing is frozen for it', async () => {
    await treasury.earn(shop, 'USDT', '50');
    const settlementId = await cashOut();
    const topUp = await planned(settlementId, 'top_up');
    const dear: Deps = {
      ...treasury.deps,
      prices: {
        ...treasury.deps.prices,
        fresh: async (symbol) => {
          const price = await treasury.deps.prices.fresh(symbol);
          return price === undefined || symbol !== 'ETH' ? price : { ...price, usd: parseTrusted('900000000') };
        },
      },
    };
    expect(await signPayout(dear, treasury.signers, topUp)).toBe('waiting');
    expect((await row(topUp))?.failure).toContain('ceiling');
    expect(await sql()`select 1 from freezes`).toHaveLength(0);
    await advance(POLICY.payoutQuoteSeconds);
    await tend(dear);
    expect((await sql()`select plan ? 'stuckSince' as stuck from payouts where id = ${topUp}`)[0]).toEqual({ stuck: true });
    await treasury.settleAll();
    await paidOnce(settlementId);
  });

  it('is not held up by a token that says nothing any more: the nonce is given back', async () => {
    await treasury.earn(shop, 'USDT', '50');
    const settlementId = await cashOut();
    const payoutId = await planned(settlementId, 'settlement');
    const silent = (trouble: 'untrusted' | 'down'): Deps =>
      having((chain) => ({
        payer: {
          balance: async (address, contract) => {
            if (contract !== null) throw new ChainUnavailable('balanceOf was answered with no number', { trouble });
            return chain.payer.balance(address, contract);
          },
        },
      }));
    await advance(POLICY.payoutQuoteSeconds);
    await tend(silent('down'));
    expect((await row(payoutId))?.failure).toBeNull();
    await tend(silent('untrusted'));
    expect((await row(payoutId))?.failure).toContain('says nothing');
    await advance(POLICY.payoutCloseSeconds);
    await tend(silent('untrusted'));
    await treasury.sign();
    expect(await kinds(payoutId)).toEqual(['close']);
    await treasury.settleAll();
    await paidOnce(settlementId);
  });

  it.each([
    ['USDT', '50', '20'],
    ['ETH', '1', '0.5'],
  ])('may close a payout though the coins it was to move are gone (%s)', async (symbol, earned, paid) => {
    await treasury.earn(shop, symbol, earned);
    const settlementId = await cashOut(symbol, paid);
    const payoutId = await planned(settlementId, 'settlement');
    const gone = symbol === 'ETH' ? null : treasury.assets.USDT?.contract;
    const hot = treasury.wallet('hot');
    const robbed = having((chain) => ({
      payer: {
        balance: async (address, contract) =>
          contract === gone && address === hot ? (gone === null ? 10n ** 15n : 0n) : chain.payer.balance(address, contract),
      },
    }));
    await advance(POLICY.payoutQuoteSeconds);
    await tend(robbed);
    await advance(POLICY.payoutCloseSeconds);
    await tend(robbed);
    await treasury.sign();
    expect(await kinds(payoutId)).toEqual(['close']);
    await treasury.settleAll();
    await paidOnce(settlementId, symbol);
  });
});

it('what no node answers about one payout keeps no other from being looked after', async () => {
  await treasury.earn(shop, 'USDT', '50');
  await treasury.earn(shop, 'ETH', '1');
  const settlementId = await cashOut();
  const first = await planned(settlementId, 'settlement');
  const other = await cashOut('ETH', '0.2');
  for (let round = 0; round < 6 && (await ofPurpose('settlement')).length < 2; round++) {
    await dispatchSettlement(treasury.deps, other);
    const [, behind] = await ofPurpose('settlement');
    if (behind !== undefined) break;
    for (const { id } of await sql()<{ id: string }[]>`select id from payouts where purpose <> 'settlement' and status = 'PLANNED' and nonce is not null`)
      await signPayout(treasury.deps, treasury.signers, id);
    await treasury.work();
    await treasury.mine();
  }
  const [, second] = await ofPurpose('settlement');
  expect((await row(first))?.nonce).toBeLessThan((await row(second?.id as string))?.nonce as number);
  await advance(POLICY.payoutQuoteSeconds);
  const quotedAt = async (id: string) => (await sql()<{ at: string }[]>`select plan->>'quotedAt' as at from payouts where id = ${id}`)[0]?.at;
  const before = [await quotedAt(first), await quotedAt(second?.id as string)];
  await tend(
    having((chain) => ({
      payer: {
        quote: async (intent) => {
          if (intent.contract !== null) throw new ChainUnavailable('it contradicts itself');
          return chain.payer.quote(intent);
        },
      },
    })),
  );
  expect(await quotedAt(first)).toBe(before[0]);
  expect(await quotedAt(second?.id as string)).not.toBe(before[1]);
  await treasury.settleAll();
});

it('what nobody foresaw of one cashout keeps no other of its wallet from being sent', async () => {
  await treasury.earn(shop, 'USDT', '50');
  const trap = '0x00000000000000000000000000000000cafe0003';
  const first = await treasury.cashOut(shop, 'USDT', '10', { address: trap });
  const second = await cashOut();
  const odd = having((chain) => ({
    payer: {
      estimate: async (intent) => {
        if (intent.recipient === trap) throw new TypeError('nobody foresaw this');
        return chain.payer.estimate(intent);
      },
    },
  }));
  await expect(dispatchSettlement(odd, first.id)).rejects.toThrow('nobody foresaw this');
  expect(await dispatchSettlement(odd, second)).toBeGreaterThan(0);
  expect(await ofPurpose('sweep')).toHaveLength(1);
  await treasury.settleAll();
  await paidOnce(second);
});

it('bytes signed before anything was scanned have their fee raised like others', async () => {
  await treasury.earn(shop, 'USDT', '50');
  const settlementId = await cashOut();
  const payoutId = await planned(settlementId, 'settlement');
  await tooCheap(payoutId);
  await sql()`alter table payout_attempts disable trigger payout_attempts_append_only`;
  await sql()`update payout_attempts set tip_height = null where payout_id = ${payoutId}`;
  await sql()`alter table payout_attempts enable trigger payout_attempts_append_only`;
  expect(await tend()).toBe(1);
  expect((await row(payoutId))?.status).toBe('REPLACING');
  await treasury.settleAll();
  await paidOnce(settlementId);
});

it('the signer pays no second payout beside a first one that paid on the chain, whatever its row says', async () => {
  await treasury.earn(shop, 'USDT', '50');
  const settlementId = await cashOut();
  const first = await planned(settlementId, 'settlement');
  await treasury.settleAll();
  await paidOnce(settlementId);
  clean = false;
  await sql()`update payouts set status = 'FAILED', plan = plan || '{"repay":true}' where id = ${first}`;
  await sql()`update settlements set status = 'PROCESSING', txid = null, received_amount = null, settled_at = null where id = ${settlementId}`;
  await sql()`
    insert into payouts (id, network_id, wallet_id, purpose, settlement_id, family, parent_id, status, asset_id, recipient, raw_amount, nonce, plan, created_at)
    select gen_random_uuid(), network_id, wallet_id, purpose, settlement_id, 2, null, 'PLANNED', asset_id, recipient, raw_amount, nonce + 1, plan, sluice_now()
    from payouts where id = ${first}`;
  const [, second] = await ofPurpose('settlement');
  expect(await signPayout(treasury.deps, treasury.signers, second?.id as string)).toBe('refused');
  expect((await row(second?.id as string))?.failure).toBe('the payout before it did pay');
});

it('a network whose nodes hang keeps no payout of another one from being looked after', async () => {
  await treasury.earn(shop, 'USDT', '50');
  const payoutId = await planned(await cashOut(), 'settlement');
  await advance(POLICY.payoutQuoteSeconds);
  const [name, chain] = [...treasury.deps.chains][0] as [string, Chain];
  const hung = { ...chain, id: randomUUID(), config: { ...chain.config, name: 'hung' } };
  const gate = withResolvers();
  let asked = false;
  // It has a payout like this one, which comes first.
  const copies = [
    `insert into networks (id, name, family, chain_id, native_symbol) select '${hung.id}', 'hung', family, chain_id, native_symbol from networks where id = '${chain.id}'`,
    `insert into wallets (id, network_id, role, address, derivation_path) values ('00000000-0000-4000-8000-000000000000', '${hung.id}', 'hot', '${treasury.wallet('hot')}', 'm/0')`,
    `insert into payouts (id, network_id, wallet_id, purpose, status, asset_id, recipient, raw_amount, nonce, plan, created_at)
      select '${randomUUID()}', '${hung.id}', '00000000-0000-4000-8000-000000000000', 'top_up', status, asset_id, recipient, raw_amount, 0, plan, created_at from payouts where id = '${payoutId}'`,
  ];
  for (const copy of copies) await sql().unsafe(copy);
  const answer = async (): Promise<never> => {
    asked = true;
    await gate.promise;
    throw new ChainUnavailable('it is away');
  };
  const hang = new Proxy({}, { get: () => answer });
  const deps: Deps = {
    ...treasury.deps,
    chains: new Map([
      ['hung', { ...hung, reader: hang as Chain['reader'], payer: hang as Chain['payer'] }],
      [name, chain],
    ]),
  };
  const quotedAt = async () => (await sql()`select plan->>'quotedAt' as at from payouts where id = ${payoutId}`)[0]?.at;
  const before = await quotedAt();
  const pass = tendPayouts(deps);
  try {
    await waitFor(async () => asked && (await quotedAt()) !== before, { what: 'the payout of the other network to be quoted anew' });
  } finally {
    gate.resolve();
    await pass;
    await sql()`delete from payouts where network_id = ${hung.id}`;
    await sql()`delete from wallets where network_id = ${hung.id}`;
    await sql()`delete from networks where id = ${hung.id}`;
  }
  await treasury.settleAll();
});

it('what a cashout waits for that its own gateway or destination causes wakes nobody, until it is not of one gateway alone', async () => {
  const other = await treasury.world.aGateway();
  for (const gateway of [shop, other]) await treasury.earn(gateway, 'USDT', '50');
  const [mine, theirs] = [(await treasury.cashOut(shop, 'USDT', '20')).id, (await treasury.cashOut(other, 'USDT', '20')).id];
  await advance(700);
  const waitingFor = (id: string, reason: string | null) => sql()`update settlements set wait_reason = ${reason} where id = ${id}`;
  const late = async (): Promise<[boolean, boolean]> => {
    const [{ overdueSeconds, heldBackSeconds }] = (await summariseOpenSettlements(treasury.deps.db.sql)) as [OpenSettlements];
    return [overdueSeconds >= 700, heldBackSeconds >= 700];
  };
  await waitingFor(theirs, waitReason('own_daily_limit', { limit: '10' }));
  for (const reason of [
    waitReason('own_daily_limit', { limit: '10' }),
    waitReason('out_of_turns'),
    waitReason('fair_share', { window: 'daily', limit: '100', scope: '' }),
    waitReason('above_limit', { value: '20', limit: '10', scope: '' }),
    waitReason('fee_above_accepted', { fee: '2', accepted: '1' }),
    waitReason('refused_by_network', { detail: 'execution reverted: dispatch is frozen: wake them' }),
  ]) {
    await waitingFor(mine, reason);
    expect([reason, ...(await late())]).toEqual([reason, false, true]);
  }
  for (const reason of [null, waitReason('short', { amount: '20', asset: 'USDT' }), waitReason('frozen', { detail: 'audit A1' })]) {
    await waitingFor(mine, reason);
    expect([reason, ...(await late())]).toEqual([reason, true, true]);
  }
  // A token that moves for nobody is refused to many.
  for (const id of [mine, theirs]) await waitingFor(id, waitReason('refused_by_network', { detail: 'execution reverted' }));
  expect(await late()).toEqual([true, false]);
  for (const id of [mine, theirs]) await waitingFor(id, null);
  await treasury.settleAll();
});

function withResolvers(): { promise: Promise<void>; resolve(): void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
