import { opcodes, script as scripts } from 'bitcoinjs-lib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aBitcoinChain, type BitcoinChain } from '#test/harness/bitcoin-chain.ts';
import { aPurse, type Purse, type SignedByPurse } from '#test/harness/bitcoin-purse.ts';
import { ON_REAL_NODE, refusalOf } from './bitcoin-node.ts';

interface Acceptance {
  txid: string;
  allowed: boolean;
  vsize?: number;
  'reject-reason'?: string;
}

let chain: BitcoinChain;
let purse: Purse;
let key = 40;
beforeAll(async () => {
  chain = await aBitcoinChain({ blockSeconds: 0 });
});
afterAll(() => chain.stop());

/** A payment of 100,000 satoshis that waits, from a purse of its own. */
async function waiting(fee: bigint): Promise<SignedByPurse> {
  key += 1;
  purse = aPurse(chain.node, new Uint8Array(32).fill(key));
  await chain.purse.pay([{ to: purse.address, rawAmount: 5_000_000n }]);
  await chain.mine();
  await purse.look();
  const first = await purse.sign([{ to: chain.outsider, rawAmount: 100_000n }], { fee });
  await chain.send(first.hex);
  return first;
}

const again = (first: SignedByPurse, fee: bigint, outputs = 1): Promise<SignedByPurse> =>
  purse.sign(
    Array.from({ length: outputs }, () => ({ to: chain.outsider, rawAmount: 90_000n })),
    { coins: first.spends, fee },
  );
const refused = async (signed: SignedByPurse): Promise<string> => (await refusalOf(chain.node, 'sendrawtransaction', [signed.hex, 0])).message;
const pool = (): Promise<string[]> => chain.node.call('getrawmempool');

describe('a waiting transaction', () => {
  it('gives way to one that pays more in all, more per byte, and for its own relaying', async () => {
    const first = await waiting(1_000n);
    const { vsize } = await chain.node.call<{ vsize: number }>('getmempoolentry', [first.txid]);
    expect(await refused(await again(first, 999n))).toMatch(/insufficient fee/);
    expect(await refused(await again(first, 1_000n))).toMatch(/insufficient fee/);
    expect(await refused(await again(first, 1_001n))).toMatch(/insufficient fee/);
    // More in all, less for a byte.
    expect(await refused(await again(first, 6_000n, 40))).toMatch(/insufficient fee|replacement-failed/);
    const better = await again(first, 1_000n + BigInt(vsize));
    await chain.send(better.hex);
    expect(await pool()).toEqual([better.txid]);
    expect((await refusalOf(chain.node, 'getrawtransaction', [first.txid])).code).toBe(-5);
    expect((await refusalOf(chain.node, 'getmempoolentry', [first.txid])).code).toBe(-5);
    await chain.mine();
  });

  it('takes what spends it along when it is replaced, and their fees count', async () => {
    const first = await waiting(1_000n);
    const change = { txid: first.txid, vout: 1, value: 4_899_000n, script: purse.script };
    const child = await purse.pay([{ to: chain.outsider, rawAmount: 50_000n }], { coins: [change], fee: 20_000n });
    expect(await refused(await again(first, 20_000n))).toMatch(/insufficient fee/);
    const better = await again(first, 22_000n);
    await chain.send(better.hex);
    expect(await pool()).toEqual([better.txid]);
    expect(await chain.node.call('gettxspendingprevout', [[{ txid: first.spends[0]?.txid, vout: first.spends[0]?.vout }]])).toMatchObject([
      { spendingtxid: better.txid },
    ]);
    expect(await refused(child)).toMatch(/bad-txns-inputs-missingorspent/);
    await chain.mine();
  });

  it('may be replaced whatever its sequence says', async () => {
    const first = await waiting(1_000n);
    const final = await purse.sign([{ to: chain.outsider, rawAmount: 100_000n }], { coins: first.spends, fee: 3_000n, sequence: 0xffffffff });
    await chain.send(final.hex);
    const better = await again(first, 6_000n);
    await chain.send(better.hex);
    expect(await pool()).toEqual([better.txid]);
    await chain.mine();
  });

  it('cannot be spent by what replaces it', async () => {
    const first = await waiting(1_000n);
    const [coin] = first.spends;
    if (coin === undefined) throw new Error('nothing is spent');
    const both = await purse.sign([{ to: purse.address, rawAmount: 5_000_000n }], {
      coins: [coin, { txid: first.txid, vout: 1, value: 4_899_000n, script: purse.script }],
      fee: 50_000n,
    });
    expect(await refused(both)).toMatch(/bad-txns-spends-conflicting-tx|bad-txns-inputs-missingorspent/);
    await chain.mine();
  });

  it('leaves when a block holds another spender of its coin', async () => {
    const first = await waiting(1_000n);
    const other = await again(first, 500n);
    await chain.mineOnly([other.hex]);
    expect(await pool()).toEqual([]);
    expect(await refused(first)).toMatch(/bad-txns-inputs-missingorspent/);
  });

  it('is forgotten after two weeks, when something else comes', async () => {
    const first = await waiting(1_000n);
    await chain.node.call('setmocktime', [Math.floor(Date.now() / 1_000) + 15 * 86_400]);
    expect(await pool()).toEqual([first.txid]);
    const later = await chain.purse.pay([{ to: chain.outsider, rawAmount: 10_000n }]);
    expect(await pool()).toEqual([later.txid]);
    await chain.node.call('setmocktime', [0]);
    await chain.mine();
  });
});

describe('what nodes do not pass on', () => {
  it('too small a fee, dust, more than the caller will pay, coins burnt', async () => {
    const { purse: faucet, node } = chain;
    expect(await refused(await faucet.sign([{ to: chain.outsider, rawAmount: 10_000n }], { fee: 10n }))).toMatch(/min relay fee not met/);
    expect(await refused(await faucet.sign([{ to: chain.outsider, rawAmount: 293n }]))).toMatch(/dust/);
    const [allowed] = await node.call<Acceptance[]>('testmempoolaccept', [[(await faucet.sign([{ to: chain.outsider, rawAmount: 294n }])).hex]]);
    expect(allowed?.allowed).toBe(true);
    const dear = await faucet.sign([{ to: chain.outsider, rawAmount: 10_000n }], { fee: 50_000_000n });
    expect(await refusalOf(node, 'sendrawtransaction', [dear.hex])).toMatchObject({ code: -25, message: expect.stringContaining('Fee exceeds maximum') });
    const raw = dear.raw.clone();
    raw.addOutput(scripts.compile([opcodes.OP_RETURN as number, Buffer.from('burnt')]), 1_000n);
    expect(await refusalOf(node, 'sendrawtransaction', [faucet.signRaw(raw, dear.spends).hex, 0])).toMatchObject({ code: -25 });
  });

  it('is told by testmempoolaccept without anything being sent', async () => {
    const { purse: faucet, node } = chain;
    const good = await faucet.sign([{ to: chain.outsider, rawAmount: 10_000n }]);
    const bad = good.raw.clone();
    bad.ins[0] = { ...(bad.ins[0] as (typeof bad.ins)[number]), index: 99 };
    const ask = async (hex: string): Promise<Acceptance | undefined> => (await node.call<Acceptance[]>('testmempoolaccept', [[hex]]))[0];
    expect(await ask(good.hex)).toMatchObject({ txid: good.txid, allowed: true, vsize: good.raw.virtualSize() });
    expect(await ask(bad.toHex())).toMatchObject({ allowed: false, 'reject-reason': 'missing-inputs' });
    expect(await pool()).toEqual([]);
    await chain.send(good.hex);
    expect(await ask(good.hex)).toMatchObject({ allowed: false, 'reject-reason': 'txn-already-in-mempool' });
    await chain.mine();
  });

  it('a long chain of unconfirmed transactions', async () => {
    let last = await chain.purse.pay([{ to: chain.outsider, rawAmount: 10_000n }]);
    const grow = async (): Promise<void> => {
      for (let length = 2; length < 70; length += 1) {
        const [, change] = last.raw.outs;
        const coin = { txid: last.txid, vout: 1, value: change?.value ?? 0n, script: chain.purse.script };
        last = await chain.purse.pay([{ to: chain.outsider, rawAmount: 1_000n }], { coins: [coin] });
      }
    };
    await expect(grow()).rejects.toThrow(/too-large-cluster|too-long-mempool-chain/);
    expect(await pool()).toHaveLength(ON_REAL_NODE ? 25 : 64);
    await chain.mine();
    expect(await pool()).toEqual([]);
  });
});
