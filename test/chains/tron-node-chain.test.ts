import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEMO_TRON_TOKENS } from '#ops/devnet/tron/demo.ts';
import { broadcast, payLocally, signPayment } from '#ops/devnet/tron/send.ts';
import { bytesOf } from '#ops/devnet/tron/transaction.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { type NodeWithWeb, newAccount, openNode } from './tron-node.ts';

let node: NodeWithWeb;
let bob: ReturnType<typeof newAccount>;
beforeEach(async () => {
  node = await openNode();
  bob = newAccount();
  await node.control.fund(bob.base58, 1n);
});
afterEach(() => node.stop());

interface Header {
  blockID: string;
  block_header: { raw_data: { number: number; timestamp: number; parentHash: string } };
}
const head = (side = 'wallet'): Promise<Header> => node.ask<Header>(`${side}/getnowblock`);
const height = async (side?: string): Promise<number> => (await head(side)).block_header.raw_data.number;
const pay = (raw: bigint): Promise<string> => payLocally(node.url, { to: bob.base58, contract: null, raw });
const balance = (): Promise<number> => node.web.trx.getUnconfirmedBalance(bob.base58);
const isIncluded = async (txid: string, side = 'wallet'): Promise<boolean> => 'txID' in (await node.ask(`${side}/gettransactionbyid`, { value: txid }));

describe('mining', () => {
  it('makes 500 blocks at once', async () => {
    const before = await height();
    await node.control.mine(500);
    expect(await height()).toBe(before + 500);
  });

  it('takes two equal payments as two', async () => {
    const [first, second] = [await pay(5n), await pay(5n)];
    expect(first).not.toBe(second);
    await node.control.mine();
    expect(await balance()).toBe(11);
  });

  it('takes chosen transactions and leaves the others waiting', async () => {
    const [first, second] = [await pay(1n), await pay(2n)];
    expect(await node.ask('wallet/gettransactionlistfrompending')).toEqual({ txId: [first, second] });
    expect(await node.ask('wallet/gettransactionfrompending', { value: second })).toMatchObject({ txID: second });
    expect((await node.control.mine(2, [second as string])).blocks.map(({ txids }) => txids)).toEqual([[second], []]);
    expect((await node.control.status()).pool).toEqual([first]);
  });

  it('goes on by itself every so often until told to stop', async () => {
    const before = await height();
    await node.control.setInterval(0.02);
    await waitFor(async () => (await height()) > before + 3, { what: 'blocks mined by the clock' });
    await node.control.stopMining();
    const stopped = await height();
    await node.control.mine();
    expect(await height()).toBe(stopped + 1);
  });

  it('follows the clock it is given', async () => {
    const { nowMs } = await node.control.warp(3_600);
    await node.control.mine();
    expect((await head()).block_header.raw_data.timestamp).toBeGreaterThanOrEqual(nowMs);
    await node.control.setTime(2_000_000_000);
    await node.control.mine();
    expect(Math.floor((await head()).block_header.raw_data.timestamp / 1_000)).toBe(2_000_000_000);
  });

  it('spaces blocks as told', async () => {
    const before = (await head()).block_header.raw_data.timestamp;
    await node.control.mineSpaced(10, 3_000);
    expect((await head()).block_header.raw_data.timestamp).toBe(before + 30_000);
  });

  it('loses what it accepted when told to', async () => {
    const txid = await pay(3n);
    await node.control.forget();
    await node.control.mine();
    expect(await isIncluded(txid)).toBe(false);
  });
});

describe('the solidified side', () => {
  it('stays behind the head by as much as told, and never goes back', async () => {
    await node.control.mine(10);
    const top = await height();
    expect(await height('walletsolidity')).toBe(top - 1);
    await node.control.setSolidLag(19);
    await node.control.mine(5);
    expect(await height('walletsolidity')).toBe(top - 1);
    await node.control.mine(20);
    expect(await height('walletsolidity')).toBe(top + 6);
    await node.control.setSolidLag(0);
    expect(await height('walletsolidity')).toBe(top + 25);
  });

  it('knows balances as they were', async () => {
    await node.control.setSolidLag(3);
    await node.control.mine(4);
    for (let payment = 0; payment < 3; payment++) {
      await pay(10n);
      await node.control.mine();
    }
    expect([await balance(), await node.web.trx.getBalance(bob.base58)]).toEqual([31, 1]);
    await node.control.mine();
    expect(await node.web.trx.getBalance(bob.base58)).toBe(11);
  });

  it('has no block, transaction or info that is not solid', async () => {
    const txid = await pay(4n);
    const { blocks } = await node.control.mine();
    const num = blocks[0]?.number;
    expect(await node.ask('walletsolidity/getblockbynum', { num })).toEqual({});
    expect(await node.ask('walletsolidity/gettransactioninfobyblocknum', { num })).toEqual([]);
    expect(await isIncluded(txid, 'walletsolidity')).toBe(false);
    await node.control.mine();
    expect(await node.ask('walletsolidity/getblockbynum', { num })).toEqual(await node.ask('wallet/getblockbynum', { num }));
    expect(await isIncluded(txid, 'walletsolidity')).toBe(true);
  });

  it('does not broadcast', async () => {
    expect((await fetch(`${node.url}/walletsolidity/broadcasttransaction`, { method: 'POST' })).status).toBe(404);
  });
});

describe('reorganisations', () => {
  beforeEach(() => node.control.setSolidLag(20));

  it('keep transactions in other blocks', async () => {
    const txid = await pay(10n);
    await node.control.mine(3);
    const before = await node.web.trx.getBlockRange((await height()) - 3, await height());
    const { blocks } = await node.control.reorg(3, 'keep');
    const after = await node.web.trx.getBlockRange((await height()) - 3, await height());
    expect(after[0]).toEqual(before[0]);
    for (const nth of [1, 2, 3]) expect(after[nth]?.blockID).not.toBe(before[nth]?.blockID);
    expect(after[1]?.block_header.raw_data.parentHash).toBe(before[0]?.blockID);
    expect(blocks[0]?.txids).toEqual([txid]);
    expect(await balance()).toBe(11);
    expect(await node.ask('wallet/getblockbyid', { value: before[1]?.blockID })).toEqual({});
  });

  it('drop transactions, balances and accounts with them', async () => {
    const stranger = newAccount();
    const txid = await payLocally(node.url, { to: stranger.base58, contract: null, raw: 10n });
    await node.control.mine();
    await node.control.reorg(1, 'drop');
    expect(await isIncluded(txid)).toBe(false);
    expect(await node.web.trx.getUnconfirmedAccount(stranger.base58)).toEqual({});
    expect((await node.control.status()).pool).toEqual([]);
  });

  it('put transactions back into the pool, from where a later block takes them', async () => {
    const txid = await pay(10n);
    await node.control.mine(2);
    await node.control.reorg(2, 'pool');
    expect([await isIncluded(txid), (await node.control.status()).pool]).toEqual([false, [txid]]);
    await node.control.mine();
    expect(await isIncluded(txid)).toBe(true);
  });

  it('replace a payment by another one', async () => {
    const payment = await signPayment(node.url, { to: bob.base58, contract: null, raw: 10n });
    const instead = await signPayment(node.url, { to: bob.base58, contract: DEMO_TRON_TOKENS.USDT, raw: 99n });
    await broadcast(node.url, payment);
    await node.control.mine();
    const { blocks, refused } = await node.control.reorg(1, [[Buffer.from(bytesOf(instead)).toString('hex')]]);
    expect([blocks[0]?.txids, refused]).toEqual([[instead.txid], []]);
    expect([await isIncluded(payment.txid), await balance()]).toEqual([false, 1]);
  });

  it('leave what control gave untouched', async () => {
    await pay(10n);
    await node.control.mine();
    await node.control.fund(bob.base58, 1_000n);
    expect(await balance()).toBe(1_011);
    await node.control.reorg(1, 'drop');
    expect(await balance()).toBe(1_001);
  });

  it('refuse a transaction that refers to a block of the other fork', async () => {
    await node.control.mine();
    const signed = await node.web.trx.sign(await node.web.transactionBuilder.sendTrx(bob.base58, 5));
    await node.control.reorg(1, 'drop');
    expect(await node.ask('wallet/broadcasttransaction', signed)).toMatchObject({ code: 'TAPOS_ERROR' });
  });

  it('do not undo solidified blocks unless forced', async () => {
    await node.control.setSolidLag(1);
    await node.control.mine(5);
    const solid = (await head('walletsolidity')).blockID;
    await expect(node.control.reorg(2)).rejects.toThrow('is solidified; only force undoes it');
    await node.control.reorg(1);
    expect((await head('walletsolidity')).blockID).toBe(solid);
    await node.control.reorg(3, 'drop', { force: true });
    expect(await height('walletsolidity')).toBe((await height()) - 1);
    expect((await head('walletsolidity')).blockID).not.toBe(solid);
  });
});
