import { expect, it } from 'vitest';
import type { Deps } from '#api/deps.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import type { Answer } from './client.ts';
import type { Context } from './context.ts';
import { describeOperation } from './describe-operation.ts';
import { listen, payTo, selectAddress } from './service.ts';

const UNKNOWN = `0x${'a'.repeat(64)}`;

/** A payment with a deposit address. */
async function selected({ service, shop }: Context): Promise<{ paymentUid: string; address: string }> {
  const { paymentUid, payment } = await shop.payment();
  const offer = payment.offers.find((one) => one.assetSymbol === 'USDT');
  return { paymentUid, address: await selectAddress(service, paymentUid, offer?.id ?? '') };
}

describeOperation('inquirePayment', {
  200: (context) => {
    const inquire = (paymentId: string, body: Record<string, unknown>): Promise<Answer> => context.send({ params: { paymentId }, body });

    it('says payment_not_eligible for a payment nobody selected an offer of, and for a sandbox payment, and uses no attempt', async () => {
      const [bare, sandbox] = [await context.shop.payment(), await context.shop.payment({ isSandbox: true })];
      for (const { paymentUid } of [bare, sandbox])
        expect((await inquire(paymentUid, { txHash: UNKNOWN, network: null })).data).toEqual({
          resultCode: 'payment_not_eligible',
          attemptsUsed: 0,
          attemptsRemaining: 5,
          txHash: UNKNOWN,
          status: 'PENDING',
        });
    });

    it('says tx_not_found for an unknown hash and uses an attempt, then attempts_exhausted (contract 9, decisions 9)', async () => {
      const { paymentUid } = await selected(context);
      for (let used = 1; used <= 5; used += 1)
        expect((await inquire(paymentUid, { txHash: UNKNOWN })).data).toEqual({
          resultCode: 'tx_not_found',
          attemptsUsed: used,
          attemptsRemaining: 5 - used,
          txHash: UNKNOWN,
          status: 'PENDING',
        });
      expect((await inquire(paymentUid, { txHash: UNKNOWN })).data).toMatchObject({ resultCode: 'attempts_exhausted', attemptsUsed: 5, attemptsRemaining: 0 });
    });

    it('says pending_confirmation for a deposit that is not final, then already_credited, with what was received', async () => {
      const { paymentUid, address } = await selected(context);
      const usdt = context.service.world.assets.USDT as StoredAsset;
      const txHash = `0x${'c'.repeat(64)}`;
      await context.service.mine([{ ...payTo(address, usdt, '10'), txid: txHash }]);
      const known = { attemptsUsed: 0, attemptsRemaining: 5, txHash, network: 'ethereum', receivedAmount: '10', receivedAssetSymbol: 'USDT' };
      expect((await inquire(paymentUid, { txHash })).data).toEqual({ ...known, resultCode: 'pending_confirmation', status: 'PENDING', confirmations: 1 });
      await context.service.mine();
      expect((await inquire(paymentUid, { txHash })).data).toEqual({ ...known, resultCode: 'already_credited', status: 'SUCCESS', confirmations: 2 });
    });

    it('takes the hash in upper case and answers its canonical form', async () => {
      const { paymentUid } = await selected(context);
      const { data } = await inquire(paymentUid, { txHash: `0x${'A'.repeat(64)}`, network: 'ethereum', unknown: true });
      expect(data).toMatchObject({ resultCode: 'tx_not_found', txHash: UNKNOWN });
    });
  },
  422: (context) => {
    it('refuses a malformed hash or an unknown network, names the field and uses no attempt (decisions 9)', async () => {
      const { paymentUid: paymentId } = await selected(context);
      const refused: [Record<string, unknown>, string][] = [
        [{}, 'txHash'],
        [{ txHash: 7 }, 'txHash'],
        [{ txHash: '' }, 'txHash'],
        [{ txHash: 'abc' }, 'txHash'],
        [{ txHash: `${UNKNOWN}0` }, 'txHash'],
        [{ txHash: `${UNKNOWN}\u0000` }, 'txHash'],
        [{ txHash: UNKNOWN, network: 'dogechain' }, 'network'],
        [{ txHash: UNKNOWN, network: '__proto__' }, 'network'],
        [{ txHash: UNKNOWN, network: 1 }, 'network'],
      ];
      for (const [body, field] of refused) {
        const { status, error } = await context.send({ params: { paymentId }, body });
        expect([body, status, error.code]).toEqual([body, 422, 'validation_error']);
        expect(error.message).toContain(field);
      }
      const [row] = await context.service.world.database.sql`select inquiry_attempts from payments where id = ${paymentId}`;
      expect(row).toEqual({ inquiryAttempts: 0 });
    });
  },
  503: (context) => {
    it('says so while the chain cannot be asked, and uses no attempt (decisions 9)', async () => {
      const { paymentUid: paymentId } = await selected(context);
      const away = await listen(withoutNode(context.service.deps));
      try {
        const { status, error } = await context.send({ params: { paymentId }, body: { txHash: UNKNOWN }, through: away.ask });
        expect([status, error.code]).toEqual([503, 'service_unavailable']);
      } finally {
        await away.close();
      }
      expect((await context.send({ params: { paymentId }, body: { txHash: UNKNOWN } })).data).toMatchObject({ attemptsUsed: 1 });
    });
  },
});

function withoutNode(deps: Deps): Deps {
  const gone = () => Promise.reject(new ChainUnavailable('the node is away'));
  return { ...deps, chains: new Map([...deps.chains].map(([name, chain]) => [name, { ...chain, reader: { ...chain.reader, transaction: gone } }])) };
}
