import { toFunctionSelector } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy } from '#ops/dev/local-evm.ts';
import { callData } from '#ops/dev/services/evm-node.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { type GatewayRpc, startGatewayRpc } from '#test/fixtures/gateway-rpc.ts';
import { assertBooksMatchChain } from '#test/harness/holdings.ts';
import { aScene, type OpenPayment, type Scene } from './scene.ts';

let scene: Scene;
let passer: string;

/** A call from the faucet, with coins. */
const send = (signature: string, words: (string | bigint)[], value: bigint): Promise<string> =>
  scene.world.chain.node.send({
    from: scene.world.chain.faucet,
    to: passer,
    data: callData(toFunctionSelector(`function ${signature}`).slice(2), ...words),
    value,
    gas: 1_000_000n,
  });
const depositsOf = (payment: OpenPayment) =>
  scene.world.database.sql<{ kind: string; ordinal: number; txid: string; state: string }[]>`
    select kind, ordinal, txid, state from deposits where payment_id = ${payment.id} order by height, position, ordinal`;
const inquire = (payment: OpenPayment, txHash: string) => scene.shop.call('POST', `/payments/${payment.id}/inquiry`, { body: { txHash } });

describe('coins paid through a contract', () => {
  beforeAll(async () => {
    scene = await aScene({ blockMs: 250 });
    passer = await deploy(scene.world.chain.node, 'Passer');
  });
  afterAll(() => scene?.stop());

  it('are credited like any others, by the transaction that brought them', async () => {
    const payment = await scene.open('ETH');
    const txid = await send('forward(address)', [payment.address], payment.rawAmount);
    expect(await scene.resting(payment.id)).toMatchObject({ status: 'SUCCESS', txHash: txid });
    expect(await depositsOf(payment)).toEqual([{ kind: 'internal', ordinal: 1, txid, state: 'credited' }]);
    expect((await inquire(payment, txid)).data).toMatchObject({ resultCode: 'already_credited' });
    await assertBooksMatchChain(scene.world);
  });

  it('to two payments in one transaction are one deposit of each', async () => {
    const [first, second] = [await scene.open('ETH'), await scene.open('ETH')];
    const words = [first.address, first.rawAmount, second.address, second.rawAmount];
    const txid = await send('batch(address,uint256,address,uint256)', words, first.rawAmount + second.rawAmount);
    for (const [payment, ordinal] of [
      [first, 1],
      [second, 2],
    ] as const) {
      expect(await scene.resting(payment.id)).toMatchObject({ status: 'SUCCESS', txHash: txid });
      expect(await depositsOf(payment)).toEqual([{ kind: 'internal', ordinal, txid, state: 'credited' }]);
    }
    await assertBooksMatchChain(scene.world);
  });

  it('by a contract that dies for it are credited', async () => {
    const payment = await scene.open('ETH');
    const txid = await send('dieFor(address)', [payment.address], payment.rawAmount);
    expect(await scene.resting(payment.id)).toMatchObject({ status: 'SUCCESS', txHash: txid });
  });

  it.each(['tryAndFail(address)', 'forwardAndFail(address)'])('by %s never arrived: only the honest payment after it counts', async (trick) => {
    const payment = await scene.open('ETH');
    const tricked = await send(trick, [payment.address], payment.rawAmount);
    const honest = await scene.world.chain.payAndMine(payment.address, null, payment.rawAmount);
    expect(await scene.resting(payment.id)).toMatchObject({ status: 'SUCCESS', txHash: honest });
    expect(await depositsOf(payment)).toEqual([{ kind: 'native', ordinal: 0, txid: honest, state: 'credited' }]);
    const verdict = trick === 'tryAndFail(address)' ? 'wrong_recipient' : 'tx_failed';
    expect((await inquire(payment, tricked)).data).toMatchObject({ resultCode: verdict });
    await assertBooksMatchChain(scene.world);
  });
});

describe('coins paid through a contract, read from an endpoint without traces', () => {
  let gateway: GatewayRpc;
  beforeAll(async () => {
    gateway = await startGatewayRpc();
    scene = await aScene({
      blockMs: 250,
      configure(network) {
        gateway.target = network.rpcUrls[0] as string;
        // Its operator offers the coin all the same (decision 0042).
        return { ...network, rpcUrls: [gateway.url], acceptsUnseenInternalTransfers: true };
      },
    });
    passer = await deploy(scene.world.chain.node, 'Passer');
  });
  afterAll(async () => {
    await scene?.stop();
    await gateway?.stop();
  });
  const unexplained = async () =>
    (await scene.world.operator(scene.api).must('GET', '/deposits?state=unexplained')).items as { paymentId: string | null; amount: string }[];

  it('are flagged and credited to nobody, until an inquiry through one with traces names the transaction', async () => {
    const payment = await scene.open('ETH');
    const txid = await send('forward(address)', [payment.address], payment.rawAmount);
    const flagged = await waitFor(async () => (await unexplained()).find((one) => one.paymentId === payment.id), { what: 'the flag', timeoutMs: 60_000 });
    expect(flagged).toMatchObject({
      state: 'unexplained',
      amount: payment.totalValue,
      assetSymbol: 'ETH',
      txHash: null,
      address: payment.address.toLowerCase(),
    });
    expect(await scene.verify(payment.id)).toMatchObject({ status: 'PENDING' });
    expect(await depositsOf(payment)).toEqual([]);
    expect(await inquire(payment, txid)).toMatchObject({ status: 503, error: { code: 'service_unavailable' } });
    await scene.world.audit();

    // The endpoint is taken down and comes back with traces.
    gateway.up = false;
    expect(await inquire(payment, txid)).toMatchObject({ status: 503 });
    gateway.traces = true;
    gateway.up = true;
    await waitFor(async () => ['matched', 'already_credited'].includes((await inquire(payment, txid)).data?.resultCode as string), {
      what: 'the match',
    });
    expect(await scene.resting(payment.id)).toMatchObject({ status: 'SUCCESS', txHash: txid });
    expect(await depositsOf(payment)).toEqual([{ kind: 'internal', ordinal: 1, txid, state: 'credited' }]);
    await waitFor(async () => (await unexplained()).length === 0, { what: 'the flag to resolve', timeoutMs: 60_000 });
    await assertBooksMatchChain(scene.world);
  });
});
