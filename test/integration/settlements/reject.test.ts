import { randomUUID } from 'node:crypto';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Deps, Gateway } from '#api/deps.ts';
import { enrolTotp } from '#api/operator/gateways.ts';
import { rejectSettlement } from '#api/operator/reject-settlement.ts';
import { approveSettlement } from '#api/settlements/approve.ts';
import { listBalances } from '#api/settlements/balances.ts';
import { dispatchSettlement } from '#api/payouts/dispatch.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { signPayout } from '#api/signer/sign-payout.ts';
import { tendPayouts } from '#api/payouts/tend-payouts.ts';
import type { TransferSigner } from '#shared/chains/chain.ts';
import type { ServiceError } from '#shared/core/errors.ts';
import { amount, formatAmount, parseTrusted } from '#shared/core/money.ts';
import { assertBooksEqualChain, aTreasury, aTreasuryOf, type Treasury } from '#test/fixtures/treasury.ts';
import type { CommonChain } from '#test/harness/chain.ts';
import { times } from '#test/harness/counts.ts';
import { plainCommit } from '#test/harness/in-process.ts';
import type { TronChain } from '#test/harness/tron-chain.ts';

/** A contract that refuses everything. */
const REVERTS = '0x60006000fd';

/** What an operator does to the cashouts of one shop, whatever the chain. */
function theOperator(world: () => { treasury: Treasury<CommonChain>; shop: Gateway }) {
  const deps = () => world().treasury.deps;
  const sql = () => world().treasury.world.database.sql;
  const reject = async (id: string, body: unknown = { reason: 'the merchant asked for it' }) => {
    const { data } = await rejectSettlement(deps(), { params: { id }, query: {}, body });
    return (data as { settlement: { status: string } }).settlement.status;
  };
  return {
    sql,
    reject,
    /** What a rejection comes to: the status, or the error's code. */
    outcome: (id: string, body?: unknown): Promise<string> => reject(id, body).catch((error: ServiceError) => error.code ?? String(error)),
    problem: (id: string): Promise<string> => reject(id).catch((error: ServiceError) => error.message),
    status: async (id: string) => (await getSettlement(deps(), { gateway: world().shop, id })).status,
    available: async (symbol: string) =>
      (await listBalances(deps(), { gateway: world().shop })).items.find((item) => item.symbol === symbol)?.totalAvailable ?? '0',
    payouts: (id: string) =>
      sql()<{ id: string; status: string; nonce: number | null }[]>`
        select id, status, nonce from payouts where settlement_id = ${id} and purpose = 'settlement' order by family`,
    async planned(id: string): Promise<string> {
      const { treasury } = world();
      for (let round = 0; round < 12; round++) {
        await dispatchSettlement(deps(), id);
        const [payout] = await sql()<{ id: string }[]>`select id from payouts where settlement_id = ${id} and purpose = 'settlement' and status = 'PLANNED'`;
        if (payout !== undefined) return payout.id;
        await treasury.sign();
        await treasury.work();
        await treasury.mine();
      }
      throw new Error(`settlement ${id} was never planned: ${JSON.stringify(await sql()`select wait_reason from settlements where id = ${id}`)}`);
    },
    /** Works, signs and mines until nothing is on its way to a merchant, and no nonce is left open. */
    async carryOn(): Promise<void> {
      const { treasury } = world();
      for (let round = 0; round < 40; round++) {
        await sql()`update outbox set due_at = sluice_now() where state = 'due' and topic = 'settlement.dispatch'`;
        await treasury.work();
        await treasury.sign();
        await treasury.work();
        await treasury.mine();
        const open = await sql()`
          select 1 from payouts where purpose = 'settlement' and status not in ('CONFIRMED', 'FAILED', 'CANCELLED')
          union all select 1 from settlements where status in ('REQUESTED', 'PROCESSING')`;
        if (open.length === 0) return;
      }
      throw new Error('still open after 40 rounds');
    },
  };
}

describe('an operator rejects a cashout', () => {
  let treasury: Treasury;
  let shop: Gateway;
  const { sql, reject, outcome, problem, status, available, payouts, planned, carryOn } = theOperator(() => ({ treasury, shop }));
  beforeAll(async () => {
    treasury = await aTreasury();
  });
  afterAll(async () => {
    try {
      await carryOn();
      await treasury.mine(2);
      await assertBooksEqualChain(treasury);
      await treasury.audit();
    } finally {
      await treasury.stop();
    }
  });
  beforeEach(async () => {
    shop = await treasury.world.aGateway({ cashout: { enabled: true, approvalCapUsd: '50' } });
    await treasury.earn(shop, 'USDT', '40.5');
  });

  it('that waits for approval: all it claimed is there again, to the payment, and an audit row says who and why', async () => {
    await treasury.earn(shop, 'USDT', '40.5');
    const { id } = await treasury.cashOut(shop, 'USDT', '60');
    expect([await status(id), await available('USDT')]).toEqual(['PENDING_APPROVAL', '20']);
    expect(await reject(id, { reason: ' a mistake ' })).toBe('REJECTED');
    expect(await available('USDT')).toBe('80');
    expect(await sql()`select 1 from credits where gateway_id = ${shop.id} and remaining <> net`).toEqual([]);
    const draws = await sql()<{ state: string }[]>`select state from credit_draws where settlement_id = ${id}`;
    expect(draws.map((draw) => draw.state)).toEqual(['released', 'released']);
    const [action] = await sql()`select action, reason, details from operator_actions where target = ${id}`;
    expect(action).toMatchObject({ action: 'settlement.reject', reason: 'a mistake', details: { status: 'PENDING_APPROVAL', amount: '60', asset: 'USDT' } });
    expect(await getSettlement(treasury.deps, { gateway: shop, id })).toMatchObject({ status: 'REJECTED', receivedAmount: '', txHash: '' });
  });

  it('once: a second time, and one that is unknown, paid, or without a reason, changes nothing', async () => {
    const { id } = await treasury.cashOut(shop, 'USDT', '10');
    for (const body of [undefined, {}, { reason: '' }, { reason: 5 }, { reason: 'x'.repeat(501) }])
      expect(await outcome(id, body ?? {})).toBe('validation_error');
    expect([await reject(id), await outcome(id), await available('USDT')]).toEqual(['REJECTED', 'conflict', '40']);
    for (const unknown of [randomUUID(), 'x']) expect(await outcome(unknown)).toBe('not_found');
    const paid = await treasury.cashOut(shop, 'USDT', '10');
    await carryOn();
    expect([await status(paid.id), await outcome(paid.id), await available('USDT')]).toEqual(['SETTLED', 'conflict', '30']);
  });

  it('on a network that is not served any more: what nobody can pay now is given back', async () => {
    const { id } = await treasury.cashOut(shop, 'USDT', '10');
    await rejectSettlement({ ...treasury.deps, chains: new Map() }, { params: { id }, query: {}, body: { reason: 'the network is gone' } });
    expect([await status(id), await available('USDT')]).toEqual(['REJECTED', '40']);
  });

  it('that is queued: nothing is ever planned for it', async () => {
    const { id } = await treasury.cashOut(shop, 'USDT', '10');
    await reject(id);
    expect(await dispatchSettlement(treasury.deps, id)).toBeNull();
    await carryOn();
    expect(await payouts(id)).toEqual([]);
  });

  it('that is planned: its nonce is used up by nothing, and what comes behind it is paid', async () => {
    const { id } = await treasury.cashOut(shop, 'USDT', '10');
    await planned(id);
    const behind = await treasury.cashOut(shop, 'USDT', '15');
    await planned(behind.id);
    const before = await treasury.chain.tokenBalance(treasury.chain.tokens.USDT, treasury.merchant);
    expect([await reject(id), await available('USDT')]).toEqual(['REJECTED', '25']);
    await carryOn();
    expect([await status(id), await status(behind.id)]).toEqual(['REJECTED', 'SETTLED']);
    const { netAmount } = await getSettlement(treasury.deps, { gateway: shop, id: behind.id });
    expect((await treasury.chain.tokenBalance(treasury.chain.tokens.USDT, treasury.merchant)) - before).toBe(BigInt(Math.round(Number(netAmount) * 1e6)));
    const made =
      await sql()`select t.kind from payout_attempts t join payouts p on p.id = t.payout_id where p.settlement_id = ${id} and p.purpose = 'settlement'`;
    expect(made).toEqual([{ kind: 'close' }]);
    expect(await sql()`select 1 from freezes`).toEqual([]);
  });

  it('while its bytes are being made: they are thrown away', async () => {
    const { id } = await treasury.cashOut(shop, 'USDT', '10');
    const payoutId = await planned(id);
    const [name, signer] = [...treasury.signers][0] as [string, TransferSigner];
    const slow: TransferSigner = {
      ...signer,
      sign: async (...order) => {
        const signed = await signer.sign(...order);
        await reject(id);
        return signed;
      },
    };
    expect(await signPayout(treasury.deps, new Map([[name, slow]]), payoutId)).toBe('gone');
    expect(await sql()`select 1 from payout_attempts where payout_id = ${payoutId}`).toEqual([]);
    expect([await status(id), await available('USDT')]).toEqual(['REJECTED', '40']);
  });

  it('not once bytes exist, and says which: they may still take effect', async () => {
    const { id } = await treasury.cashOut(shop, 'USDT', '10');
    const payoutId = await planned(id);
    await treasury.sign();
    const [attempt] = await sql()<{ txid: string }[]>`select txid from payout_attempts where payout_id = ${payoutId}`;
    expect(await problem(id)).toBe(`The cashout may still be paid: transaction ${attempt?.txid} may still take effect.`);
    await treasury.work();
    expect(await outcome(id)).toBe('conflict');
    await treasury.mine();
    expect(await outcome(id)).toBe('conflict');
    await carryOn();
    expect([await status(id), await available('USDT')]).toEqual(['SETTLED', '30']);
  });

  it('whose transaction failed: not before that is final, then for good, no second one is made, and its gateway has paid for it', async () => {
    const { id } = await treasury.cashOut(shop, 'USDT', '10');
    await planned(id);
    await treasury.sign();
    await treasury.work();
    const usdt = treasury.chain.tokens.USDT;
    const real = await treasury.chain.node.call<string>('eth_getCode', [usdt, 'latest']);
    await treasury.chain.node.call('anvil_setCode', [usdt, REVERTS]);
    await treasury.mine();
    await treasury.chain.node.call('anvil_setCode', [usdt, real]);
    expect([(await payouts(id))[0]?.status, await outcome(id)]).toEqual(['INCLUDED', 'conflict']);
    await treasury.mine(2);
    expect([(await payouts(id))[0]?.status, await status(id)]).toEqual(['FAILED', 'PROCESSING']);
    const [charged] = await sql()<{ amount: string }[]>`select trim_scale(amount)::text as amount from charges where settlement_id = ${id}`;
    const left = formatAmount(amount(parseTrusted('40') - parseTrusted(charged?.amount ?? '0')));
    expect([await reject(id), await available('USDT')]).toEqual(['REJECTED', left]);
    expect(left).not.toBe('40');
    await carryOn();
    expect((await payouts(id)).map((one) => one.status)).toEqual(['FAILED']);
  });

  it('or a merchant approves it, and exactly one of the two is first', async () => {
    const { data } = await enrolTotp(treasury.deps, { params: { id: shop.id }, query: {}, body: {} });
    const { secret } = data as { secret: string };
    await treasury.earn(shop, 'USDT', '60.5');
    for (let round = 0; round < times(60); round++) {
      const { id } = await treasury.cashOut(shop, 'USDT', '60');
      const totpCode = generateSync({ secret, epoch: Math.floor(Date.now() / 1000) });
      // Every round has the same code, which only one approval can use up.
      await sql().unsafe(`set session_replication_role = replica; delete from totp_acceptances; set session_replication_role = default`);
      const approving = approveSettlement(treasury.deps, { gateway: shop, id, totpCode, commit: plainCommit(treasury.deps) });
      const [approved, rejected] = await Promise.all([
        approving.then(
          () => true,
          (error: ServiceError) => (error.code === 'conflict' ? false : Promise.reject(error)),
        ),
        outcome(id),
      ]);
      // Approved first, it may be rejected all the same; rejected first, it can never be approved.
      expect([rejected, await status(id)]).toEqual(['REJECTED', 'REJECTED']);
      const events = await sql()<{ event: string }[]>`select event from settlement_events where settlement_id = ${id} order by id`;
      expect(events.map((one) => one.event)).toEqual(approved ? ['CREATED', 'APPROVED', 'OPERATOR_REJECTED'] : ['CREATED', 'OPERATOR_REJECTED']);
      expect(await available('USDT')).toBe('100');
    }
  });
});

describe('an operator rejects a cashout on a chain whose bytes expire', () => {
  let treasury: Treasury<TronChain>;
  let shop: Gateway;
  const { sql, reject, outcome, status, available, payouts, planned } = theOperator(() => ({ treasury: treasury as unknown as Treasury<CommonChain>, shop }));
  beforeAll(async () => {
    treasury = (await aTreasuryOf('tron')) as unknown as Treasury<TronChain>;
  });
  afterAll(async () => {
    try {
      await treasury.mine(3);
      await assertBooksEqualChain(treasury);
      await treasury.audit();
    } finally {
      await treasury.stop();
    }
  });
  beforeEach(async () => {
    shop = await treasury.world.aGateway();
    await treasury.earn(shop, 'USDT', '51');
  });
  /** Every transfer is refused by the network from now on. */
  const refusing = (): Deps => {
    const [name, chain] = [...treasury.deps.chains][0] as [string, NonNullable<ReturnType<Deps['chains']['get']>>];
    const no = async () => ({ ok: false as const, rejected: 'it is paused' });
    return { ...treasury.deps, chains: new Map([[name, { ...chain, payer: { ...chain.payer, quote: no, estimate: no } }]]) };
  };

  it('that is planned: the plan is dropped, as it holds no nonce', async () => {
    const { id } = await treasury.cashOut(shop, 'USDT', '20');
    await planned(id);
    expect([await reject(id), await available('USDT')]).toEqual(['REJECTED', '50']);
    expect((await payouts(id)).map((one) => one.status)).toEqual(['CANCELLED']);
    expect(await treasury.sign()).toEqual([]);
  });

  it('only once its bytes are proven dead, and nothing further is signed then', async () => {
    const { id } = await treasury.cashOut(shop, 'USDT', '20');
    const payoutId = await planned(id);
    expect(await treasury.sign()).toEqual(['signed']);
    await treasury.work();
    await treasury.chain.control.forget();
    expect(await outcome(id)).toBe('conflict');
    await treasury.chain.control.mineSpaced(6, 30_000);
    await treasury.world.advance(180);
    await treasury.follow();
    // Too old for any block by now, but nobody has looked for them yet.
    expect(await outcome(id)).toBe('conflict');
    await tendPayouts(refusing());
    expect((await payouts(id)).map((one) => one.status)).toEqual(['REPLACING']);
    expect([await reject(id), await status(id), await available('USDT')]).toEqual(['REJECTED', 'REJECTED', '50']);
    expect(await payouts(id)).toMatchObject([{ id: payoutId, status: 'FAILED' }]);
    await tendPayouts(treasury.deps);
    expect(await treasury.sign()).toEqual([]);
    expect(await sql()`select 1 from freezes`).toEqual([]);
    expect(await treasury.chain.tokenBalance(treasury.chain.tokens.USDT, treasury.merchant)).toBe(0n);
  });
});
