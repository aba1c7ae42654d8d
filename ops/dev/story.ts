import {
  askCashout,
  coinsWorth,
  createAndSelect,
  expectEqual,
  inPool,
  payFrom,
  rawUnits,
  resolved,
  type Scene,
  settled,
  type Settled,
  short,
  webhookArrived,
  webhooksOf,
} from './scene.ts';

/** create → select → pay → confirm → webhook → verify → cashout → SETTLED. */
export async function payAndCashOut(scene: Scene): Promise<string> {
  const payment = await createAndSelect(scene);
  await payFrom(scene, payment, scene.asset, payment.totalValue);
  await resolved(scene, payment.id, 'SUCCESS');
  await webhookArrived(scene, payment.id, 'SUCCESS');
  const verified = await scene.shop.verifyPayment({ paymentId: payment.id });
  expectEqual('status on verify', verified.status, 'SUCCESS');
  const settlement = await cashOut(scene, await coinsWorth(scene, scene.asset, '5'));
  return `${verified.receivedAmount} ${verified.receivedAssetSymbol} received, ${settlement.receivedAmount} cashed out in ${short(settlement.txHash)}`;
}

/** Half of what was asked: MISMATCH. */
export async function payTooLittle(scene: Scene): Promise<string> {
  const payment = await createAndSelect(scene);
  const half = await coinsWorth(scene, scene.asset, '5');
  await payFrom(scene, payment, scene.asset, half);
  await resolved(scene, payment.id, 'MISMATCH');
  await webhookArrived(scene, payment.id, 'MISMATCH');
  const verified = await scene.shop.verifyPayment({ paymentId: payment.id });
  expectEqual('amount received', verified.receivedAmount, half);
  expectEqual('deviation', verified.deviationUsd, '-5.00');
  return `received ${verified.receivedAmount} of ${verified.expectedAmount}, deviation ${verified.deviationUsd} USD`;
}

/** Another asset than the one selected: judged at its own price and credited in what arrived. */
export async function payWrongAsset(scene: Scene): Promise<string> {
  const { asset, otherAsset } = scene;
  if (otherAsset === undefined) throw new Error(`${scene.network} has no other asset`);
  const payment = await createAndSelect(scene);
  await payFrom(scene, payment, otherAsset, await coinsWorth(scene, otherAsset, '10'));
  await resolved(scene, payment.id, 'SUCCESS');
  await webhookArrived(scene, payment.id, 'SUCCESS');
  const verified = await scene.shop.verifyPayment({ paymentId: payment.id });
  expectEqual('asset selected', verified.assetSymbol, asset.symbol);
  expectEqual('asset received', verified.receivedAssetSymbol, otherAsset.symbol);
  return `selected ${asset.symbol}, received ${verified.receivedAmount} ${verified.receivedAssetSymbol}`;
}

/** Two outputs of one transaction to the same address: two deposits, judged by their sum. */
export async function payInTwoOutputs(scene: Scene): Promise<string> {
  const { asset, chain } = scene;
  if (chain.payTogether === undefined) throw new Error(`a transaction on ${scene.network} pays one address once`);
  const payment = await createAndSelect(scene);
  const whole = rawUnits(payment.totalValue, asset.decimals);
  await chain.payTogether(payment.depositAddress, [whole / 3n, whole - whole / 3n]);
  await resolved(scene, payment.id, 'SUCCESS');
  await webhookArrived(scene, payment.id, 'SUCCESS');
  const verified = await scene.shop.verifyPayment({ paymentId: payment.id });
  expectEqual('amount received', verified.receivedAmount, payment.totalValue);
  const amounts = verified.deposits.map(({ amount }) => amount);
  expectEqual('deposits', amounts.length, 2);
  return `${amounts.join(' and ')} ${asset.symbol} in one transaction, judged as ${verified.receivedAmount}`;
}

/** Nobody pays until the deadline, then somebody does: EXPIRED, then captured late with a second webhook. */
export async function payLate(scene: Scene): Promise<string> {
  const timeoutSeconds = 120;
  const payment = await createAndSelect(scene, { timeoutSeconds });
  await scene.control.must('POST', '/clock/advance', { body: { seconds: timeoutSeconds + 1 } });
  await resolved(scene, payment.id, 'EXPIRED');
  await webhookArrived(scene, payment.id, 'EXPIRED');
  await payFrom(scene, payment, scene.asset, payment.totalValue);
  await resolved(scene, payment.id, 'SUCCESS');
  await webhookArrived(scene, payment.id, 'SUCCESS');
  const verified = await scene.shop.verifyPayment({ paymentId: payment.id });
  expectEqual('deposit path', verified.depositPath, 'late_capture');
  expectEqual('webhooks', [...new Set(await webhooksOf(scene, payment.id))].join(', '), 'EXPIRED, SUCCESS');
  return 'EXPIRED, then captured late; two webhooks';
}

async function cashOut(scene: Scene, coins: string): Promise<Settled> {
  await inPool(scene, 'totalAvailable', coins);
  const { id, before } = await askCashout(scene, { amount: coins });
  return settled(scene, id, before);
}
