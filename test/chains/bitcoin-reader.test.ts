import { randomBytes } from 'node:crypto';
import { Transaction } from 'bitcoinjs-lib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scriptOfAddress } from '#shared/chains/bitcoin/address.ts';
import { bitcoinParams } from '#shared/chains/bitcoin/params.ts';
import { bitcoinReader } from '#shared/chains/bitcoin/reader.ts';
import { openBitcoinRpc } from '#shared/chains/bitcoin/rpc.ts';
import { addressOfScript, witnessScript } from '#shared/chains/bitcoin/script.ts';
import { ChainUnavailable, type Reader, type WatchSet } from '#shared/chains/chain.ts';
import type { Rpc } from '#shared/chains/rpc.ts';
import { openReader } from '#shared/chains/readers.ts';
import { RECORDED_NODES, recorded, refuse, replaying, repliesOf } from '#test/fixtures/recorded-bitcoin.ts';
import { aBitcoinChain, type BitcoinChain } from '#test/harness/bitcoin-chain.ts';
import { aPurse } from '#test/harness/bitcoin-purse.ts';
import { demoNetwork } from '#test/harness/networks.ts';

const LOCAL = { name: 'bitcoin', chainId: 'regtest' };
const NOWHERE = 'ab'.repeat(32);
const params = bitcoinParams('regtest');
const EVERYTHING: WatchSet = { has: () => true };
const watching = (...addresses: string[]): WatchSet => ({ has: (address) => addresses.includes(address) });
const fresh = (script: (hash: string) => string = (hash) => `0014${hash.slice(0, 40)}`): string =>
  addressOfScript(script(randomBytes(32).toString('hex')), params) as string;

let chain: BitcoinChain;
let rpc: Rpc;
let reader: Reader & Required<Pick<Reader, 'mempool' | 'outputs' | 'unspentAt' | 'waitingSpenders'>>;
const asked: string[] = [];

beforeAll(async () => {
  chain = await aBitcoinChain({ blockSeconds: 0 });
  rpc = openBitcoinRpc(chain.url);
  reader = bitcoinReader(LOCAL, (method, args) => {
    asked.push(method);
    return rpc(method, args);
  }) as typeof reader;
});
afterAll(() => chain.stop());

const head = async () => (await reader.head()).latest;
const latest = async (...addresses: string[]) => reader.block((await head()).hash, watching(...addresses));

describe('the head', () => {
  it('is the node’s best block, without tags, and never from a cache', async () => {
    const before = await head();
    await chain.mine(2);
    const { latest: tip, safeHeight, finalizedHeight } = await reader.head();
    expect(tip).toMatchObject({ height: before.height + 2, hash: await chain.headHash() });
    expect([safeHeight, finalizedHeight]).toEqual([null, null]);
    expect(await reader.blockAt(tip.height)).toEqual(tip);
    expect((await reader.blockAt(tip.height)).parentHash).toBe((await reader.blockAt(tip.height - 1)).hash);
  });

  it('costs one question while it is the block it was, and its header once it is another', async () => {
    await head();
    asked.length = 0;
    const before = await head();
    expect(asked).toEqual(['getbestblockhash']);
    await chain.mine();
    expect((await head()).height).toBe(before.height + 1);
    expect(asked).toEqual(['getbestblockhash', 'getbestblockhash', 'getblockheader']);
  });

  it('belongs to the chain that is configured', async () => {
    expect(await reader.genesisHash()).toBe(params.genesis);
    expect((await reader.blockAt(0)).hash).toBe(params.genesis);
    for (const chainId of ['mainnet', 'testnet4', 'signet'])
      await expect(bitcoinReader({ name: 'bitcoin', chainId }, rpc).genesisHash()).rejects.toMatchObject({
        trouble: 'wrong-chain',
        message: `the node's first block is ${params.genesis}, but bitcoin is configured as ${chainId}`,
      });
  });

  it('follows a reorganisation, and what lost its place is no block any more', async () => {
    await chain.mine(2);
    const lost = await head();
    await chain.reorg(2);
    const now = await head();
    expect(now.height).toBe(lost.height);
    expect(now.hash).not.toBe(lost.hash);
    await expect(reader.block(lost.hash, EVERYTHING)).rejects.toThrow(/no longer on its chain/);
    await expect(reader.blockAt(now.height + 1)).rejects.toThrow(ChainUnavailable);
    await expect(reader.block(NOWHERE, EVERYTHING)).rejects.toThrow(ChainUnavailable);
  });
});

describe('a payment', () => {
  const KINDS: [string, (hash: string) => string][] = [
    ['P2PKH', (hash) => `76a914${hash.slice(0, 40)}88ac`],
    ['P2SH', (hash) => `a914${hash.slice(0, 40)}87`],
    ['P2WPKH', (hash) => `0014${hash.slice(0, 40)}`],
    ['P2WSH', (hash) => `0020${hash}`],
    ['P2TR', () => '512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'],
  ];

  it.each(KINDS)('to a %s address is found by its script, with its exact amount', async (_kind, script) => {
    const address = fresh(script);
    const txid = await chain.payAndMine(address, null, 123_456_789n);
    const { block, transfers, sent } = await latest(address);
    expect(sent).toEqual([]);
    expect(transfers).toEqual([
      {
        kind: 'native',
        txid,
        ordinal: 0,
        height: block.height,
        blockHash: block.hash,
        position: 1,
        time: block.time,
        sender: chain.faucet,
        recipient: address,
        contract: null,
        rawAmount: '123456789',
      },
    ]);
  });

  it('of several outputs in one transaction is as many transfers, also to one address', async () => {
    const [one, two] = [fresh(), fresh()];
    const { txid } = await chain.purse.pay([
      { to: one, rawAmount: 1_000n },
      { to: two, rawAmount: 2_000n },
      { to: one, rawAmount: 3_000n },
    ]);
    await chain.mine();
    const { transfers } = await latest(one);
    expect(transfers.map((transfer) => [transfer.txid, transfer.ordinal, transfer.recipient, transfer.rawAmount])).toEqual([
      [txid, 0, one, '1000'],
      [txid, 2, one, '3000'],
    ]);
    expect((await latest(one, two)).transfers).toHaveLength(3);
    expect((await latest()).transfers).toEqual([]);
  });

  it('of several people names them all', async () => {
    const [alice, bob] = [await chain.aPayer(50_000n), await chain.aPayer(60_000n)];
    const address = fresh();
    const spends = [(await alice.coins())[0], (await bob.coins())[0]] as Awaited<ReturnType<typeof alice.coins>>;
    const { raw } = await chain.purse.sign([{ to: address, rawAmount: 100_000n }], { coins: spends, fee: 10_000n });
    const byAlice = alice.signRaw(raw, spends).raw.ins[0]?.witness ?? [];
    bob.signRaw(raw, spends);
    (raw.ins[0] as (typeof raw.ins)[number]).witness = byAlice;
    await chain.send(raw.toHex());
    await chain.mine();
    expect((await latest(address)).transfers).toMatchObject([{ sender: alice.address, coSenders: [bob.address], rawAmount: '100000' }]);
    // Whoever is watched comes first, and has sent it.
    const { transfers, sent } = await latest(bob.address);
    expect(transfers).toMatchObject([{ sender: bob.address, coSenders: [alice.address], recipient: address }]);
    expect(sent).toMatchObject([{ sender: bob.address, rawFee: '10000', spends: [{ txid: spends[1]?.txid, vout: spends[1]?.vout }] }]);
  });

  it('by a miner is a coinbase’s, which cannot move yet', async () => {
    const address = fresh();
    await rpc('generatetoaddress', [1, address]);
    const { transfers } = await latest(address);
    expect(transfers).toMatchObject([{ sender: 'coinbase', coinbase: true, position: 0, ordinal: 0, recipient: address }]);
    expect(transfers[0]).not.toHaveProperty('coSenders');
  });
});

describe('a transaction of ours', () => {
  it.each(['legacy', 'p2sh-segwit', 'bech32', 'bech32m'] as const)('from a %s address has its outcome, its exact fee and all of its outputs', async (kind) => {
    const purse = aPurse(chain.node, new Uint8Array(randomBytes(32)), kind);
    await chain.payAndMine(purse.address, null, 500_000n);
    await purse.look();
    const [one, two] = [fresh(), fresh(() => scriptOfAddress(fresh(), params))];
    const { txid, spends } = await purse.pay(
      [
        { to: one, rawAmount: 100_000n },
        { to: two, rawAmount: 200_000n },
      ],
      { fee: 1_234n },
    );
    await chain.mine();
    const { block, transfers, sent } = await latest(purse.address);
    expect(sent).toEqual([
      {
        kind: 'sent',
        txid,
        height: block.height,
        blockHash: block.hash,
        position: 1,
        time: block.time,
        sender: purse.address,
        nonce: null,
        spends: spends.map((coin) => ({ txid: coin.txid, vout: coin.vout })),
        succeeded: true,
        rawFee: '1234',
      },
    ]);
    expect(transfers.map(({ ordinal, recipient, rawAmount }) => [ordinal, recipient, rawAmount])).toEqual([
      [0, one, '100000'],
      [1, two, '200000'],
      [2, purse.address, '198766'],
    ]);
  });

  it('names outputs without an address by their scripts', async () => {
    const purse = await chain.aPayer(100_000n);
    const { raw, spends } = await purse.sign([{ to: fresh(), rawAmount: 90_000n }], { fee: 10_000n });
    const data = Buffer.from('6a0401020304', 'hex');
    raw.outs = [
      { script: data, value: 0n },
      { script: Buffer.from(`21${Buffer.from('02'.repeat(33), 'hex').toString('hex')}ac`, 'hex'), value: 40_000n },
      { script: data, value: 50_000n },
    ];
    const { hex } = purse.signRaw(raw, spends);
    const mined = await chain.mineOnly([hex]).catch(() => undefined);
    // Some nodes take no such scripts at all (Knots); the recorded block of Core has them too.
    if (mined === undefined) return;
    const { transfers } = await latest(purse.address);
    expect(transfers.map(({ ordinal, recipient, rawAmount }) => [ordinal, recipient, rawAmount])).toEqual([
      [1, `script:21${'02'.repeat(33)}ac`, '40000'],
      [2, 'script:6a0401020304', '50000'],
    ]);
  });
});

describe('a range', () => {
  it('has what its blocks have, links, and leaves out what is empty', async () => {
    const address = fresh();
    const from = (await head()).height + 1;
    await chain.mine(30);
    await chain.payAndMine(address, null, 7_000n);
    await chain.mine(30);
    const { height: to } = await head();
    const range = await reader.range(from, to, watching(address));
    expect(range.parentHash).toBe((await reader.blockAt(from - 1)).hash);
    expect(range.last).toEqual(await head());
    expect(range.contents).toEqual([await reader.block((await reader.blockAt(from + 30)).hash, watching(address))]);
    await expect(reader.range(to, to + 1, EVERYTHING)).rejects.toThrow(ChainUnavailable);
    await expect(reader.range(to, from, EVERYTHING)).rejects.toThrow(RangeError);
    expect((await reader.range(0, 1, EVERYTHING)).contents[0]?.block.height).toBe(0);
  });
});

describe('a transaction', () => {
  /** As a node without an index of all transactions speaks. */
  const withoutIndex = (): Reader =>
    bitcoinReader(LOCAL, async (method, args) => {
      if (method !== 'getrawtransaction') return rpc(method, args);
      if (((await rpc('getrawmempool', [])) as string[]).includes(String(args[0]))) return rpc(method, args);
      return refuse(method, -5, 'No such mempool transaction. Use -txindex or provide a block hash to enable blockchain transaction queries.');
    });

  it('is unknown, waits, is in a block, and may lose its place for good', async () => {
    const address = fresh();
    expect(await reader.transaction(NOWHERE)).toBeNull();
    const signed = await chain.purse.pay([{ to: address, rawAmount: 9_000n }]);
    const { txid } = signed;
    expect(await reader.transaction(txid)).toEqual({ txid, height: null, blockHash: null, succeeded: null, transfers: [] });
    await chain.mine();
    const { height, hash } = await head();
    const facts = await reader.transaction(txid);
    expect(facts).toMatchObject({ txid, height, blockHash: hash, succeeded: true });
    expect(facts?.transfers[0]).toEqual((await latest(address)).transfers[0]);
    expect(facts?.transfers).toHaveLength(2);

    await rpc('invalidateblock', [hash]);
    expect(await reader.transaction(txid)).toMatchObject({ height: null, succeeded: null });
    const other = await chain.purse.replace(signed);
    await chain.mine(2);
    expect(await reader.transaction(txid)).toBeNull();
    expect(await reader.transaction(other.txid)).toMatchObject({ succeeded: true });
  });

  it('is found without an index while it waits, by its block, or by an output nobody spent', async () => {
    const purse = await chain.aPayer(100_000n);
    const node = withoutIndex();
    const { txid } = await purse.pay([{ to: fresh(), rawAmount: 10_000n }]);
    expect(await node.transaction(txid)).toMatchObject({ height: null });
    await chain.mine();
    const facts = await reader.transaction(txid);
    expect(await node.transaction(txid)).toEqual(facts);
    await chain.mine();
    expect(await node.transaction(txid)).toEqual(facts);
  });

  it('that is spent is found without an index by its block alone, and of others nothing is said', async () => {
    const payer = await chain.aPayer(100_000n);
    const [coin] = await payer.coins();
    const { txid } = await payer.pay([], { fee: 1_000n });
    await chain.mine();
    const facts = await reader.transaction(txid);
    await payer.look();
    await payer.pay([{ to: fresh(), rawAmount: 90_000n }], { fee: 9_000n });
    await chain.mine();
    const node = withoutIndex();
    await expect(node.transaction(txid)).rejects.toMatchObject({
      name: 'ChainUnavailable',
      trouble: 'refused',
      message: /no index of all transactions \(-txindex=1\)/,
    });
    expect(await node.transaction(txid, facts?.blockHash as string)).toEqual(facts);
    await expect(node.transaction(NOWHERE, facts?.blockHash as string)).rejects.toThrow(/cannot tell/);
    await expect(node.transaction(NOWHERE, NOWHERE)).rejects.toThrow(/cannot tell/);
    expect(coin).toBeDefined();
  });
});

describe('a balance', () => {
  it('is what lies there, now and at the height of every earlier block', async () => {
    const purse = aPurse(chain.node, new Uint8Array(randomBytes(32)));
    const { height: before } = await head();
    await chain.payAndMine(purse.address, null, 300_000n);
    await chain.payAndMine(purse.address, null, 400_000n);
    await purse.look();
    await purse.pay([{ to: fresh(), rawAmount: 600_000n }], { fee: 5_000n });
    expect(await reader.balance(purse.address, null)).toBe(700_000n);
    await chain.mine();
    expect(await reader.balance(purse.address, null)).toBe(95_000n);
    expect(await Promise.all([0, 1, 2, 3].map((above) => reader.balance(purse.address, null, before + above)))).toEqual([0n, 300_000n, 700_000n, 95_000n]);
    await expect(reader.balance(purse.address, null, before + 4)).rejects.toThrow(/its head .* is below/);
  });

  it('of many addresses is one search through all outputs', async () => {
    const addresses = Array.from({ length: 20 }, () => fresh());
    await chain.purse.pay(addresses.map((to, at) => ({ to, rawAmount: 1_000n + BigInt(at) })));
    await chain.mine();
    asked.length = 0;
    expect(await Promise.all(addresses.map((address) => reader.balance(address, null)))).toEqual(addresses.map((_, at) => 1_000n + BigInt(at)));
    expect(asked.filter((method) => method === 'scantxoutset')).toHaveLength(1);
  });

  it('of a token, or of what is no address, is refused', async () => {
    await expect(reader.balance(fresh(), '0x01')).rejects.toMatchObject({ trouble: 'refused' });
    await expect(reader.balance('script:6a', null)).rejects.toMatchObject({ trouble: 'refused' });
    await expect(reader.balance('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', null)).rejects.toMatchObject({ trouble: 'refused' });
    // And spoils nothing for others.
    expect(await reader.balance(fresh(), null)).toBe(0n);
  });

  it('waits while somebody else searches, and says so when that takes too long', async () => {
    let left = 2;
    const busy = (times: number): Reader => {
      left = times;
      return bitcoinReader(LOCAL, async (method, args) => {
        if (method !== 'scantxoutset' || left-- <= 0) return rpc(method, args);
        return refuse(method, -8, 'Scan already in progress, use action "abort" or "status"');
      });
    };
    expect(await busy(1).balance(fresh(), null)).toBe(0n);
    await expect(busy(1_000).unspentAt?.(fresh())).rejects.toMatchObject({ name: 'ChainUnavailable', trouble: 'busy' });
  });
});

describe('outputs', () => {
  it('are what no block has spent, all as of one block, whatever waits', async () => {
    const purse = await chain.aPayer(100_000n);
    const [coin] = await purse.coins();
    const wanted = [
      { txid: coin?.txid as string, vout: coin?.vout as number },
      { txid: coin?.txid as string, vout: 99 },
      { txid: NOWHERE, vout: 0 },
    ];
    const { txid } = await purse.pay([{ to: fresh(), rawAmount: 10_000n }], { fee: 1_000n });
    expect(await reader.outputs(wanted)).toEqual({ at: await head(), rawAmounts: [100_000n, null, null] });
    expect(await reader.waitingSpenders(wanted)).toEqual([txid, null, null]);
    await chain.mine();
    expect(await reader.outputs([...wanted, { txid, vout: 0 }, { txid, vout: 1 }])).toEqual({
      at: await head(),
      rawAmounts: [null, null, null, 10_000n, 89_000n],
    });
    expect(await reader.waitingSpenders(wanted)).toEqual([null, null, null]);
    expect(await reader.unspentAt(purse.address)).toEqual({
      at: await head(),
      outputs: [{ txid, vout: 1, address: purse.address, rawAmount: 89_000n, height: (await head()).height, coinbase: false }],
    });
  });

  it('of an address with nothing are none, and those of a miner say so', async () => {
    const address = fresh();
    expect((await reader.unspentAt(address)).outputs).toEqual([]);
    await rpc('generatetoaddress', [1, address]);
    expect((await reader.unspentAt(address)).outputs).toMatchObject([{ vout: 0, coinbase: true }]);
  });

  it('are asked for again while the head moves', async () => {
    let moved = 0;
    const moving = bitcoinReader(LOCAL, async (method, args) => {
      const answer = await rpc(method, args);
      if (method === 'gettxout' && moved++ < 1) await chain.mine();
      return answer;
    });
    const answer = await moving.outputs?.([{ txid: NOWHERE, vout: 0 }]);
    expect(answer?.at.hash).toBe(await chain.headHash());
    const racing = bitcoinReader(LOCAL, async (method, args) => {
      if (method === 'gettxout') await chain.mine();
      return rpc(method, args);
    });
    await expect(racing.outputs?.([{ txid: NOWHERE, vout: 0 }])).rejects.toThrow(/its head moved 5 times/);
  });
});

describe('what waits', () => {
  it('is told once, with what it brings and which outputs it takes', async () => {
    const address = fresh();
    const { txid, spends } = await chain.purse.pay([
      { to: address, rawAmount: 5_000n },
      { to: fresh(), rawAmount: 6_000n },
    ]);
    const watched = watching(address);
    const first = await reader.mempool(watched, new Set());
    expect(first.txids.has(txid)).toBe(true);
    expect(first.fresh).toEqual([
      {
        txid,
        transfers: [{ kind: 'native', txid, ordinal: 0, sender: chain.faucet, recipient: address, contract: null, rawAmount: '5000' }],
        spends: spends.map((coin) => `${coin.txid}:${coin.vout}`),
      },
    ]);
    expect(await reader.mempool(watched, first.txids)).toEqual({ txids: first.txids, fresh: [] });
    await chain.mine();
    expect((await reader.mempool(watched, first.txids)).txids.has(txid)).toBe(false);
  });

  it('is gone when it is replaced, and what replaces it takes an output of it', async () => {
    const address = fresh();
    const signed = await chain.purse.pay([{ to: address, rawAmount: 5_000n }]);
    const before = await reader.mempool(watching(address), new Set());
    const other = await chain.purse.replace(signed, [{ to: address, rawAmount: 4_000n }]);
    const after = await reader.mempool(watching(address), before.txids);
    expect(after.txids.has(signed.txid)).toBe(false);
    expect(after.fresh.map(({ txid }) => txid)).toEqual([other.txid]);
    expect(after.fresh[0]?.spends.some((spent) => before.fresh[0]?.spends.includes(spent))).toBe(true);
    await chain.mine();
  });

  it('may spend what waits itself', async () => {
    const payer = await chain.aPayer(100_000n);
    await payer.pay([], { fee: 1_000n });
    const address = fresh();
    const { txid } = await payer.pay([{ to: address, rawAmount: 50_000n }], { fee: 1_000n });
    const { fresh: found } = await reader.mempool(watching(address), new Set());
    expect(found).toMatchObject([{ txid, transfers: [{ sender: payer.address, rawAmount: '50000' }] }]);
    await chain.mine();
  });

  it('and spends outputs of ours is told, with what comes back', async () => {
    const payer = await chain.aPayer(100_000n);
    const [coin] = await payer.coins();
    const { txid } = await payer.pay([{ to: fresh(), rawAmount: 50_000n }], { fee: 1_000n });
    const { fresh: found } = await reader.mempool(watching(payer.address), new Set());
    expect(found).toMatchObject([{ txid, transfers: [{ ordinal: 1, recipient: payer.address, rawAmount: '49000' }], spends: [`${coin?.txid}:${coin?.vout}`] }]);
    await chain.mine();
  });

  it('and was gone before it could be read is left for the next look', async () => {
    const address = fresh();
    const { txid } = await chain.purse.pay([{ to: address, rawAmount: 5_000n }]);
    const racing = bitcoinReader(LOCAL, async (method, args) => {
      if (method === 'getrawtransaction' && args[0] === txid) return refuse(method, -5, 'No such mempool transaction.');
      return rpc(method, args);
    });
    const seen = await racing.mempool?.(watching(address), new Set());
    expect(seen?.fresh).toEqual([]);
    expect(seen?.txids.has(txid)).toBe(false);
    await chain.mine();
  });
});

describe('more than one look can read', () => {
  const crowd = (size: number) =>
    new Map(
      Array.from({ length: size }, (_, lockTime) => {
        const raw = new Transaction();
        raw.addInput(new Uint8Array(32).fill(1), lockTime);
        raw.addOutput(Buffer.from('51', 'hex'), 1_000n);
        return [raw.getId(), raw.toHex()] as const;
      }),
    );

  it('because the node wants to be asked less, is left out, and what it told before counts', async () => {
    const waiting = crowd(200);
    const borne = { left: 100, mostAtOnce: 0, now: 0 };
    const busy = bitcoinReader(LOCAL, async (method, params) => {
      if (method === 'getrawmempool') return [...waiting.keys()];
      borne.now += 1;
      borne.mostAtOnce = Math.max(borne.mostAtOnce, borne.now);
      await Promise.resolve();
      borne.now -= 1;
      borne.left -= 1;
      if (borne.left < 0) throw new ChainUnavailable('asked too much', { trouble: 'busy' });
      return waiting.get(String(params[0]));
    });
    const first = await busy.mempool?.(watching(fresh()), new Set());
    expect(first?.txids.size).toBe(64);
    expect(borne.mostAtOnce).toBeLessThanOrEqual(64);
    borne.left = 1_000;
    expect((await busy.mempool?.(watching(fresh()), first?.txids ?? new Set()))?.txids).toEqual(new Set(waiting.keys()));
    borne.left = 0;
    await expect(busy.mempool?.(watching(fresh()), new Set())).rejects.toThrow(/asked too much/);
  });

  it('is left out, and read by the next ones', async () => {
    const waiting = crowd(2_500);
    const crowded = bitcoinReader(
      LOCAL,
      replaying({
        getrawmempool: () => [...waiting.keys()],
        getrawtransaction: ([txid]) => waiting.get(String(txid)) ?? refuse('getrawtransaction', -5, 'unknown'),
      }),
    );
    const first = await crowded.mempool?.(watching(fresh()), new Set());
    expect(first?.txids.size).toBe(2_000);
    const second = await crowded.mempool?.(watching(fresh()), first?.txids ?? new Set());
    expect(second?.txids).toEqual(new Set(waiting.keys()));
  });
});

describe('a network of several nodes', () => {
  it('is read like one, with everything only Bitcoin has', async () => {
    const network = { ...(await demoNetwork('bitcoin')), rpcUrls: [chain.url] };
    const joined = openReader(network);
    const address = fresh();
    await chain.payAndMine(address, null, 5_000n);
    expect((await joined.head()).latest).toEqual(await head());
    expect((await joined.block((await head()).hash, watching(address))).transfers).toHaveLength(1);
    expect((await joined.unspentAt?.(address))?.outputs).toHaveLength(1);
    expect(await joined.mempool?.(watching(address), new Set())).toEqual({ txids: new Set(), fresh: [] });
    expect((await joined.outputs?.([{ txid: NOWHERE, vout: 0 }]))?.rawAmounts).toEqual([null]);
    expect(await joined.waitingSpenders?.([])).toEqual([]);
    expect(await joined.seesInternal()).toBe(true);
    await joined.close();
  });

  it('of another family has none of it', async () => {
    const other = openReader({ ...(await demoNetwork('ethereum')), rpcUrls: ['http://127.0.0.1:1'] });
    for (const method of ['mempool', 'outputs', 'unspentAt', 'waitingSpenders'] as const) expect(other[method]).toBeUndefined();
    await other.close();
  });
});

describe.each(RECORDED_NODES)('a block recorded from %s', (node) => {
  const recordedReader = () => bitcoinReader(LOCAL, replaying(repliesOf(node)));
  const { hash, height } = recorded(node, 'getblockheader_true') as { hash: string; height: number };

  it('is believed, with an output of every type', async () => {
    const { block, transfers } = await recordedReader().block(hash, EVERYTHING);
    expect(block).toMatchObject({ hash, height });
    const [, paying] = (
      recorded(node, 'getblock_3') as { tx: { txid: string; vout: { value: unknown; n: number; scriptPubKey: { address?: string; type: string } }[] }[] }
    ).tx;
    const told = transfers.filter(({ txid }) => txid === paying?.txid);
    for (const { n, scriptPubKey } of paying?.vout ?? []) {
      const transfer = told.find(({ ordinal }) => ordinal === n);
      // The address as the node itself writes it; nothing else is there to compare where it writes none.
      if (scriptPubKey.address !== undefined) expect(transfer?.recipient, scriptPubKey.type).toBe(scriptPubKey.address);
      else if (scriptPubKey.type !== 'nulldata') expect(transfer?.recipient, scriptPubKey.type).toMatch(/^script:/);
    }
    expect(told.length).toBeGreaterThanOrEqual(9);
    expect(told.slice(0, 3).map(({ rawAmount }) => rawAmount)).toEqual(['100000000', '110000000', '120000000']);
  });

  it('tells of its transactions, whoever asks', async () => {
    const { txid } = recorded(node, 'getrawtransaction_1') as { txid: string };
    const facts = await recordedReader().transaction(txid);
    expect(facts).toMatchObject({ txid, height, blockHash: hash, succeeded: true });
    expect(facts?.transfers).toEqual((await recordedReader().block(hash, EVERYTHING)).transfers.filter((transfer) => transfer.txid === txid));
    expect(await recordedReader().blockAt(height)).toEqual((await recordedReader().head()).latest);
  });
});

describe('witness scripts', () => {
  it('of the local network are those the node makes addresses of', async () => {
    const address = addressOfScript(witnessScript(0, randomBytes(20)), params) as string;
    const told = (await rpc('validateaddress', [address])) as { isvalid: boolean; scriptPubKey: string };
    expect(told).toMatchObject({ isvalid: true, scriptPubKey: scriptOfAddress(address, params) });
  });
});
