import { Block } from 'bitcoinjs-lib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aBitcoinChain, type BitcoinChain } from '#test/harness/bitcoin-chain.ts';
import { refusalOf } from './bitcoin-node.ts';

interface Header {
  hash: string;
  confirmations: number;
  height: number;
  nextblockhash?: string;
  chainwork: string;
}

let chain: BitcoinChain;
beforeAll(async () => {
  chain = await aBitcoinChain({ blockSeconds: 0 });
});
afterAll(() => chain.stop());

const pool = (): Promise<string[]> => chain.node.call('getrawmempool');
const header = (hash: string): Promise<Header> => chain.node.call('getblockheader', [hash]);
const pay = async (rawAmount = 50_000n) => chain.purse.pay([{ to: chain.outsider, rawAmount }]);

describe('a block', () => {
  it('has a header that hashes to its id below the target, the root of its transactions, and the commitment to their witnesses', async () => {
    await pay();
    await pay();
    await chain.mine();
    const block = Block.fromHex(await chain.node.call('getblock', [await chain.headHash(), 0]));
    expect(block.getId()).toBe(await chain.headHash());
    expect(block.checkProofOfWork()).toBe(true);
    expect(block.checkTxRoots()).toBe(true);
    expect(block.hasWitnessCommit()).toBe(true);
    expect(block.transactions).toHaveLength(3);
  });

  it('pays its miner the subsidy and every fee', async () => {
    const [first, second] = [await chain.purse.pay([{ to: chain.outsider, rawAmount: 50_000n }], { fee: 1_234n }), await pay()];
    const { fee } = { fee: 1_234n + second.spends.reduce((sum, { value }) => sum + value, 0n) - second.raw.outs.reduce((sum, { value }) => sum + value, 0n) };
    await chain.mine();
    const height = await chain.node.height();
    const { tx } = await chain.node.call<{ tx: { txid: string; vout: { value: string }[] }[] }>('getblock', [await chain.headHash(), 2]);
    expect(tx.map(({ txid }) => txid)).toEqual(expect.arrayContaining([first.txid, second.txid]));
    expect(BigInt(tx[0]?.vout[0]?.value.replace('.', '') ?? '')).toBe((5_000_000_000n >> BigInt(Math.floor(height / 150))) + fee);
  });
});

describe('invalidateblock', () => {
  it('goes back to the block before, brings the transactions back to the mempool, and reconsiderblock undoes it', async () => {
    const paid = await pay();
    await chain.mine();
    const block = await chain.headHash();
    const before = await chain.balance(chain.outsider);
    const { height } = await header(block);
    await chain.node.call('invalidateblock', [block]);
    expect(await chain.node.height()).toBe(height - 1);
    expect(await pool()).toEqual([paid.txid]);
    expect(await chain.balance(chain.outsider)).toBe(before - 50_000n);
    expect(await header(block)).toMatchObject({ confirmations: -1, height });
    expect((await header(block)).nextblockhash).toBeUndefined();
    await chain.node.call('reconsiderblock', [block]);
    expect(await chain.headHash()).toBe(block);
    expect(await pool()).toEqual([]);
    expect(await chain.balance(chain.outsider)).toBe(before);
  });

  it('keeps what depends on what it brought back, and drops what spent a coinbase that is gone', async () => {
    const parent = await pay();
    await chain.mine();
    const block = await chain.headHash();
    const child = await chain.purse.pay([{ to: chain.outsider, rawAmount: 1_000n }], {
      coins: [{ txid: parent.txid, vout: 1, value: parent.raw.outs[1]?.value ?? 0n, script: chain.purse.script }],
    });
    const height = await chain.node.height();
    const old = await chain.node.call<string>('getblockhash', [height - 100]);
    const [coinbase] = (await chain.node.call<{ tx: [string] }>('getblock', [old])).tx;
    expect(await chain.node.call('gettxout', [coinbase, 0])).toMatchObject({ coinbase: true, confirmations: 101 });
    await chain.node.call('invalidateblock', [block]);
    expect(await pool()).toEqual([parent.txid, child.txid]);
    await chain.mine();
    expect(await pool()).toEqual([]);
  });

  it('never builds on the block again, however much work is on it, until it is reconsidered', async () => {
    await chain.mine(3);
    const height = await chain.node.height();
    const [low, tip] = [await chain.node.call<string>('getblockhash', [height - 2]), await chain.headHash()];
    await chain.node.call('invalidateblock', [low]);
    await chain.node.call('generateblock', [chain.outsider, []]);
    expect(await chain.node.height()).toBe(height - 2);
    const other = await chain.headHash();
    const tips = await chain.node.call<{ hash: string; status: string; branchlen: number }[]>('getchaintips');
    expect(tips).toContainEqual({ height, hash: tip, branchlen: 3, status: 'invalid' });
    expect(tips).toContainEqual({ height: height - 2, hash: other, branchlen: 0, status: 'active' });
    await chain.node.call('reconsiderblock', [low]);
    expect(await chain.headHash()).toBe(tip);
    expect(await header(other)).toMatchObject({ confirmations: -1 });
  });
});

describe('the branch with the most work', () => {
  it('is followed when it gets longer by a block of somebody else, and what its blocks spend is spent', async () => {
    const paid = await pay();
    await chain.mineOnly([paid.txid]);
    const [ours, height] = [await chain.headHash(), await chain.node.height()];
    // The other branch has a second spender of the same coin.
    await chain.node.call('invalidateblock', [ours]);
    const instead = await chain.purse.sign([{ to: chain.purse.address, rawAmount: 60_000n }], { coins: paid.spends });
    await chain.mineOnly([instead.hex]);
    expect(await pool()).toEqual([]);
    await chain.mineOnly([]);
    const theirs = await chain.headHash();
    await chain.node.call('reconsiderblock', [ours]);
    expect(await chain.headHash()).toBe(theirs);
    expect(await chain.node.height()).toBe(height + 1);
    expect(await chain.node.call('gettxout', [paid.txid, 0])).toBeNull();
    expect(await refusalOf(chain.node, 'sendrawtransaction', [paid.hex])).toMatchObject({ message: expect.stringContaining('missingorspent') });
  });

  it('is taken from submitblock too, which refuses what breaks a rule', async () => {
    const { hex } = await chain.node.call<{ hex: string }>('generateblock', [chain.outsider, [], false]);
    const height = await chain.node.height();
    const flipped = (at: number): string => `${hex.slice(0, at)}${hex[at] === '0' ? '1' : '0'}${hex.slice(at + 1)}`;
    // Nothing fits: the root of a header whose coinbase was changed, or the hash of a changed header.
    expect(await chain.node.call('submitblock', [flipped(hex.length - 100)])).not.toBeNull();
    expect(await chain.node.height()).toBe(height);
    expect(await chain.node.call('submitblock', [hex])).toBeNull();
    expect(await chain.node.height()).toBe(height + 1);
    expect(await chain.node.call('submitblock', [hex])).toBe('duplicate');
  });
});

describe('the harness', () => {
  it('replaces blocks: what is given is in the new ones, what is not is gone and may be sent again', async () => {
    const [kept, lost] = [await pay(), await pay()];
    await chain.mine(2);
    const waits = await pay();
    const [before, height] = [await chain.headHash(), await chain.node.height()];
    await chain.reorg(2, [{ transaction: kept.hex, block: 1 }]);
    expect(await chain.node.height()).toBe(height);
    expect(await header(before)).toMatchObject({ confirmations: -1 });
    expect((await chain.node.call<{ tx: string[] }>('getblock', [await chain.headHash()])).tx).toContain(kept.txid);
    const left = await pool();
    expect(left).toContain(waits.txid);
    expect(left).not.toContain(lost.txid);
    await chain.send(lost.hex);
    await chain.mine();
    expect(await chain.node.call('getrawtransaction', [lost.txid, 1])).toMatchObject({ confirmations: 1 });
  });
});
