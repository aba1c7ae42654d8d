import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveHeldPayment } from '#api/aml/resolve-held-payment.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { allowFurtherTransfer } from '#api/operator/further-transfer.ts';
import { planSweeps } from '#api/treasury/plan-sweeps.ts';
import type { EvmNode } from '#ops/dev/services/evm-node.ts';
import type { ServiceError } from '#shared/core/errors.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { assertBooksEqualChain, aTreasury, type Treasury, payHeld } from '#test/fixtures/treasury.ts';

describe('coins that are to follow their payment, and whose transfers fail', () => {
  let treasury: Treasury;
  let shop: Gateway;
  let paymentId: string;
  beforeAll(async () => {
    treasury = await aTreasury();
    shop = await treasury.world.aGateway({ screening: { enabled: true, credits: 10 } });
    const address = await treasury.earn(shop, 'USDT', '30', 90);
    [{ id: paymentId } = { id: '' }] = await sql()<{ id: string }[]>`select payment_id as id from deposit_addresses where address = ${address}`;
    await treasury.world.advance(POLICY.sweepRestSeconds + 1);
    for (let round = 0; round < 10 && (await holds('held')) === 0n; round++) {
      await planSweeps(treasury.deps);
      await step();
    }
    await treasury.mine(2);
    await resolveHeldPayment(treasury.deps, { paymentId, resolution: { action: 'RELEASE' }, reason: 'a test' });
  });
  afterAll(async () => {
    await treasury.mine(2);
    await assertBooksEqualChain(treasury);
    await treasury.audit();
    await treasury.stop();
  });

  const sql = () => treasury.world.database.sql;
  const usdt = () => treasury.assets.USDT as NonNullable<Treasury['assets'][string]>;
  const holds = (role: 'hot' | 'held') => treasury.chain.tokenBalance(usdt().contract as string, treasury.wallet(role));
  const as = (): Deps => ({ ...treasury.deps, operator: { person: { name: 'anna' }, name: null, clientIp: '127.0.0.1', token: 'named', requestId: null } });
  const allow = () => allowFurtherTransfer(as(), { params: { id: paymentId }, query: {}, body: { assetId: usdt().id, reason: 'the token works again' } });
  const problem = () =>
    allow().then(
      () => 'done',
      (error: ServiceError) => `${error.code}: ${error.message}`,
    );
  const transfers = async () =>
    (await sql()`select status, family from payouts where purpose = 'held_release' order by created_at, id`).map((one) => `${one.family} ${one.status}`);

  async function step(): Promise<void> {
    await treasury.sign();
    await treasury.work();
    await treasury.mine();
  }

  /** Plans the next transfer, and has the token refuse it when it is mined. */
  async function fails(): Promise<void> {
    const node = (treasury.chain as unknown as { node: EvmNode }).node;
    const code = await node.call('eth_getCode', [usdt().contract, 'latest']);
    const made = (await transfers()).length;
    for (let round = 0; round < 10 && (await transfers()).length === made; round++) {
      await payHeld(treasury.deps);
      if ((await transfers()).length === made) await step();
    }
    await treasury.sign();
    await treasury.work();
    await node.call('anvil_setCode', [usdt().contract, '0x60006000fd']);
    await treasury.mine();
    await node.call('anvil_setCode', [usdt().contract, code]);
    await treasury.mine(2);
  }

  it('stay where they are after two, until an operator allows one more, and after that one again', async () => {
    expect(await problem(), 'it is made by itself').toMatch(/^conflict: A transfer of these coins is on its way/);
    await fails();
    expect(await problem(), 'so is the second one').toMatch(/^conflict: A transfer of these coins is on its way/);
    await fails();
    expect([await payHeld(treasury.deps), await transfers()]).toEqual([0, ['1 FAILED', '2 FAILED']]);

    // Two ask at once: one transfer is allowed.
    const asked = await Promise.all([problem(), problem()]);
    expect(asked.filter((one) => one === 'done')).toHaveLength(1);
    expect(asked.find((one) => one !== 'done')).toMatch(/^conflict: (One more transfer is allowed already|A transfer of these coins is on its way)/);
    await fails();
    expect([await payHeld(treasury.deps), await transfers()]).toEqual([0, ['1 FAILED', '2 FAILED', '3 FAILED']]);
    expect((await allow()).data).toEqual({ paymentId, assetId: usdt().id, family: 4 });
    const [logged] = await sql()`select action, target, person, reason from operator_actions order by id desc limit 1`;
    expect(logged).toEqual({ action: 'payment.transfer', target: paymentId, person: 'anna', reason: 'the token works again' });
  });

  it('arrive once with it, and need none any more', async () => {
    const before = await holds('hot');
    await treasury.settleAll();
    expect((await holds('hot')) - before).toBe(toUnits(parseTrusted('30'), usdt().decimals));
    expect(await transfers()).toEqual(['1 FAILED', '2 FAILED', '3 FAILED', '4 CONFIRMED']);
    expect([await payHeld(treasury.deps), await problem()]).toEqual([0, 'conflict: The coins of this payment are where they belong.']);
  });
});
