import type { GatewayCredentials } from './client.ts';
import { waitFor } from './services/wait.ts';
import { familyOf } from './families.ts';
import {
  askCashout,
  coinsWorth,
  createAndSelect,
  expectEqual,
  inPool,
  PATIENCE_MS,
  payFrom,
  refusalOf,
  resolved,
  type Scene,
  settled,
  shopOf,
  short,
} from './scene.ts';
import { totpCode } from './totp.ts';

/** Above the cap: the funds are claimed and wait for a person; a wrong code is refused, the right one sends them. */
export async function approveWithCode(scene: Scene): Promise<string> {
  const { shop, totpSecret, ...vault } = await openShop(scene, { cashout: { approvalCapUsd: '5' } });
  const amount = await coinsWorth(vault, vault.asset, '6');
  await pay({ ...vault, shop });
  await inPool({ ...vault, shop }, 'totalAvailable', amount);
  const { id, status, before } = await askCashout({ ...vault, shop }, { amount, metadata: { requester: 'demo' } });
  expectEqual('status of a cashout above the cap', status, 'PENDING_APPROVAL');
  const approve = (code: string) => shop.approveSettlement({ settlementId: id, body: { totpCode: code } });
  const code = totpCode(totpSecret, Date.now());
  const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
  expectEqual('answer to a wrong code', await refusalOf(approve(wrong)), '401 totp_required');
  expectEqual('status after the right code', (await approve(code)).status, 'REQUESTED');
  const { receivedAmount, txHash } = await settled({ ...vault, shop }, id, before);
  return `${amount} held above the cap of 5 USD, approved with a code, ${receivedAmount} sent in ${short(txHash)}`;
}

/** Asked for before there is anything: parked, and activated by itself once a payment has brought enough. */
export async function parkUntilFunded(scene: Scene): Promise<string> {
  const vault = await openShop(scene, { cashout: { parkingEnabled: true } });
  const amount = await coinsWorth(vault, vault.asset, '5');
  const { id, status: asked, before } = await askCashout(vault, { amount });
  expectEqual('status of a cashout of nothing', asked, 'UNDERFUNDED');
  const read = () => vault.shop.getSettlement({ settlementId: id });
  const { shortfall } = await read();
  expectEqual('what is missing', shortfall, amount);
  await pay(vault);
  // The check of every minute may be faster than this.
  await waitFor(
    async () => {
      const { status, shortfall: missing } = await read();
      return status !== 'UNDERFUNDED' || missing === '0';
    },
    { what: 'the payment to mature', timeoutMs: PATIENCE_MS, everyMs: 200 },
  );
  await vault.control.must('POST', '/clock/advance', { body: { seconds: 61 } });
  const { receivedAmount, txHash } = await settled(vault, id, before);
  return `parked ${shortfall} short, activated by itself, ${receivedAmount} sent in ${short(txHash)}`;
}

/** Parked, then taken back: nothing was claimed, so nothing is released. */
export async function cancelParked(scene: Scene): Promise<string> {
  const { shop, ...vault } = await openShop(scene, { cashout: { parkingEnabled: true } });
  const { id, status } = await askCashout({ ...vault, shop }, { amount: await coinsWorth(vault, vault.asset, '1000') });
  expectEqual('status of a cashout of nothing', status, 'UNDERFUNDED');
  const cancel = () => shop.cancelSettlement({ settlementId: id });
  expectEqual('status after a cancel', (await cancel()).status, 'REJECTED');
  expectEqual('answer to another cancel', await refusalOf(cancel()), '409 conflict');
  return 'parked, cancelled, and a second cancel refused';
}

/** A flagged deposit is held apart from the rest; it leaves by the AML_HELD route only, and its payment reads RELEASED. */
export async function cashOutHeld(scene: Scene): Promise<string> {
  const vault = await openShop(scene, { screening: { enabled: true, credits: 10 } });
  const payment = await createAndSelect(vault);
  await vault.control.must('PUT', `/screening/${payment.depositAddress}`, { body: { score: 90 } });
  await payFrom(vault, payment, vault.asset, payment.totalValue);
  await resolved(vault, payment.id, 'SUCCESS');
  const amount = await inPool(vault, 'totalQuarantinedAvailable', await coinsWorth(vault, vault.asset, '1'));
  const amlState = async () => (await vault.shop.verifyPayment({ paymentId: payment.id })).amlState;
  expectEqual('amlState of a flagged payment', await amlState(), 'HELD');
  expectEqual('answer to the ordinary route', await refusalOf(askCashout(vault, { amount })), '409 insufficient_balance');
  const { id, status, before } = await askCashout(vault, { amount, route: 'AML_HELD' });
  expectEqual('status on the AML_HELD route', status, 'REQUESTED');
  const { receivedAmount, txHash } = await settled(vault, id, before);
  expectEqual('amlState of what was cashed out', await amlState(), 'RELEASED');
  return `scored 90 and HELD, ${receivedAmount} sent from the held wallet in ${short(txHash)}, RELEASED`;
}

/** The scene at another gateway, made for one story, with an authenticator enrolled and another stranger to pay; `settings` goes over cashouts from here. */
async function openShop(scene: Scene, settings: { cashout?: object; screening?: object }): Promise<Scene & { totpSecret: string }> {
  const here = ['127.0.0.1', '::1'];
  const created = (await scene.control.must('POST', '/gateways', {
    body: {
      name: 'Acme Vault (demo)',
      apiAllowlist: here,
      settings: { maturitySeconds: 0 },
      ...settings,
      cashout: { enabled: true, allowlist: here, ...settings.cashout },
    },
  })) as { gateway: { id: string } } & Omit<GatewayCredentials, 'id'>;
  const { secret } = (await scene.control.must('POST', `/gateways/${created.gateway.id}/totp`)) as { secret: string };
  const { otherOutsider = scene.destination } = familyOf(scene.dev.networks[scene.network]?.family ?? '');
  return { ...scene, destination: otherOutsider, totpSecret: secret, shop: shopOf(scene.dev, created) };
}

async function pay(scene: Scene): Promise<void> {
  const payment = await createAndSelect(scene);
  await payFrom(scene, payment, scene.asset, payment.totalValue);
  await resolved(scene, payment.id, 'SUCCESS');
}
