import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TRON_FAUCET } from '#ops/devnet/tron/demo.ts';
import type { FaultKind } from '#ops/devnet/tron/faults.ts';
import { bytesOf } from '#ops/devnet/tron/transaction.ts';
import { payLocally, signPayment } from '#ops/devnet/tron/send.ts';
import { type NodeWithWeb, newAccount, openNode } from './tron-node.ts';

let node: NodeWithWeb;
beforeEach(async () => {
  node = await openNode();
  await node.control.mine(3);
});
afterEach(() => node.stop());

const look = async (): Promise<{ status: number; text: string }> => {
  const response = await fetch(`${node.url}/wallet/getnowblock`);
  return { status: response.status, text: await response.text() };
};

describe('answers that go wrong', () => {
  it.each<[FaultKind, { status: number; text: unknown }]>([
    ['status-429', { status: 429, text: expect.stringContaining('<html>') }],
    ['status-500', { status: 500, text: expect.stringContaining('<html>') }],
    ['status-503', { status: 503, text: expect.stringContaining('<html>') }],
    ['error', { status: 200, text: '{"Error":"class java.lang.IllegalAccessException : lack of computing resources"}' }],
    ['empty-object', { status: 200, text: '{}' }],
    ['empty-array', { status: 200, text: '[]' }],
    ['html', { status: 200, text: '<html><body>Bad Gateway</body></html>' }],
    ['truncated', { status: 200, text: expect.stringMatching(/^\{"blockID".*[^}]$/) }],
  ])('%s, as often as told and on that path alone', async (kind, wrong) => {
    await node.control.failNext('wallet/getnowblock', kind, 2);
    expect(await node.ask('walletsolidity/getnowblock')).toHaveProperty('blockID');
    expect([await look(), await look()]).toEqual([wrong, wrong]);
    expect(JSON.parse((await look()).text)).toHaveProperty('blockID');
  });

  it('connections that end, before the request is carried out or after', async () => {
    await node.control.dropConnections(1);
    await expect(look()).rejects.toThrow();
    const signed = await signPayment(node.url, { to: newAccount().base58, contract: null, raw: 5n });
    await node.control.failNext('wallet/broadcasthex', 'drop-after');
    await expect(node.ask('wallet/broadcasthex', { transaction: Buffer.from(bytesOf(signed)).toString('hex') })).rejects.toThrow();
    expect((await node.control.status()).pool).toEqual([signed.txid]);
  });

  it('answers that never come, and late ones', async () => {
    await node.control.failNext('*', 'hang');
    await expect(fetch(`${node.url}/wallet/getnowblock`, { signal: AbortSignal.timeout(100) })).rejects.toThrow();
    await node.control.setLatency(60);
    const started = performance.now();
    await look();
    expect(performance.now() - started).toBeGreaterThanOrEqual(59);
    await node.control.recover();
  });

  it('any answer at all', async () => {
    await node.control.answerNext('wallet/getnowblock', '{"blockID":"lies"}');
    expect((await look()).text).toBe('{"blockID":"lies"}');
    expect(JSON.parse((await look()).text).blockID).not.toBe('lies');
  });
});

describe('a node that lags', () => {
  it('hides its newest blocks on both sides', async () => {
    const { height } = await node.control.status();
    await node.control.staleHead(2);
    expect(await node.ask('wallet/getnowblock')).toMatchObject({ block_header: { raw_data: { number: height - 2 } } });
    expect(await node.ask('walletsolidity/getnowblock')).toMatchObject({ block_header: { raw_data: { number: height - 2 } } });
    expect(await node.ask('wallet/getblockbynum', { num: height })).toEqual({});
    await node.control.staleHead(0);
    expect(await node.ask('wallet/getblockbynum', { num: height })).toHaveProperty('blockID');
  });

  it('knows a head whose block or infos it cannot tell yet', async () => {
    const txid = await payLocally(node.url, { to: newAccount().base58, contract: null, raw: 5n });
    const { blocks } = await node.control.mine();
    const num = blocks[0]?.number;
    await node.control.behave({ unreadableInfos: 1 });
    expect(await node.ask('wallet/getblockbynum', { num })).toHaveProperty('transactions');
    expect(await node.ask('wallet/gettransactioninfobyblocknum', { num })).toEqual([]);
    expect(await node.ask('wallet/gettransactioninfobyid', { value: txid })).toEqual({});
    await node.control.behave({ unreadableBlocks: 1 });
    expect(await node.ask('wallet/getblockbynum', { num })).toEqual({});
    await node.control.recover();
    expect(await node.ask('wallet/gettransactioninfobyblocknum', { num })).toHaveLength(1);
  });
});

describe('control', () => {
  it('names the mistake in what it is asked', async () => {
    await expect(node.control.fund('nonsense', 1n)).rejects.toThrow('nonsense is no address');
    await expect(node.control.setParameter('getNothing', 1n)).rejects.toThrow('no chain parameter is called getNothing');
    await expect(node.control.reorg(1_000)).rejects.toThrow('there are no 1000 blocks to undo');
    const response = await fetch(`${node.url}/dev/abracadabra`, { method: 'POST' });
    expect([response.status, await response.json()]).toEqual([400, { error: expect.stringContaining('no control is called abracadabra') }]);
  });

  it('lists accounts', async () => {
    const faucet = (await node.control.accounts()).find(({ address }) => address === TRON_FAUCET.address);
    expect(BigInt(faucet?.sun ?? 0)).toBeGreaterThan(10n ** 15n);
    expect(Object.keys(faucet?.tokens ?? {})).toHaveLength(2);
  });
});
