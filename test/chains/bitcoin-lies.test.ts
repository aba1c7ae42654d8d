import { beforeAll, describe, expect, it } from 'vitest';
import { scriptOfAddress } from '#shared/chains/bitcoin/address.ts';
import { bitcoinParams } from '#shared/chains/bitcoin/params.ts';
import { headerHashOf, merkleRootOf } from '#shared/chains/bitcoin/proofs.ts';
import { readRawTransaction } from '#shared/chains/bitcoin/raw-transaction.ts';
import { bitcoinReader } from '#shared/chains/bitcoin/reader.ts';
import { ChainUnavailable, type Reader, type WatchSet } from '#shared/chains/chain.ts';
import { recorded, refuse, replaying, type Replies, repliesOf } from '#test/fixtures/recorded-bitcoin.ts';

const NODE = 'bitcoin-core-31.99-regtest';
const LOCAL = { name: 'bitcoin', chainId: 'regtest' };
const HEIGHT = 106;
const HASH = '15e491892da0f36fd94ac92f9bc60bf7dcd486f461f1930a4efe80c0e1d403a1';
/** Pays itself, among many, from an output of its own. */
const OURS = 'bcrt1qtqer7nwpejayc86lsenup4079hy842lvnvapx5';
const TXID = 'a6ae3b124a5105d1e00686099cced3a4228ddb95d9d17d6661eccf2ff1ceaad4';
const STRANGER = 'bcrt1qgnjggmy65s5s5fen2tnt3gm4uxmru7n66nspdj';
const OTHER = 'ab'.repeat(32);
/** Everybody's public key: the private one is 1. */
const GENERATOR = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
const WATCHED: WatchSet = { has: (address) => address === OURS };
/** Of which no text can be made. */
const NO_WORDS = { toString: 1 };
const params = bitcoinParams('regtest');

type Change = (answer: Record<string, unknown>) => unknown;
type Steps = readonly (string | number)[];

/** A node that changes what it says of the block, however it is asked. */
function lying(method: string, change: Change, more: Replies = {}): Reader {
  const replies = repliesOf(NODE, more);
  const told = replies[method] as Replies[string];
  return bitcoinReader(LOCAL, replaying({ ...replies, [method]: (asked) => change(structuredClone(told(asked)) as Record<string, unknown>) }));
}

/** Puts `value` at a path inside the answer; undefined takes what is there away. */
function put(path: Steps, value: unknown): Change {
  return (answer) => {
    let target = answer as Record<string | number, unknown>;
    for (const step of path.slice(0, -1)) target = target[step] as Record<string | number, unknown>;
    const last = path.at(-1) as string;
    if (value === undefined) delete target[last];
    else target[last] = typeof value === 'function' ? value(target[last]) : value;
    return answer;
  };
}
const transactions = (change: (all: unknown[]) => unknown[]): Change => put(['tx'], change);
const replaced = (from: string, to: string) => (hex: string) => {
  expect(hex).toContain(from);
  return hex.replace(from, to);
};

/** The block with the id that one of its transactions has after its bytes were changed. */
function renamed(block: unknown, at: number): unknown {
  const { tx } = block as { tx: { hex: string; txid: string }[] };
  const one = tx[at] as (typeof tx)[number];
  one.txid = readRawTransaction(one.hex)?.txid as string;
  return block;
}

/** The block again with another time, nonce or root, and the hash that it then has: a lie that holds together. */
function rehashed(block: Record<string, unknown>): Record<string, unknown> {
  const parts = {
    version: block.version as number,
    previous: block.previousblockhash as string,
    merkleRoot: block.merkleroot as string,
    time: block.time as number,
    bits: Number.parseInt(block.bits as string, 16),
  };
  for (let nonce = 0; ; nonce++) {
    const hash = headerHashOf({ ...parts, nonce });
    if (/^[0-7]/.test(hash)) return { ...block, nonce, hash };
  }
}

async function refuses(reader: Reader, hash = HASH): Promise<void> {
  await expect(reader.block(hash, WATCHED)).rejects.toThrow(ChainUnavailable);
  await expect(reader.range(HEIGHT, HEIGHT, WATCHED)).rejects.toThrow(ChainUnavailable);
  await expect(reader.transaction(TXID)).rejects.toThrow(ChainUnavailable);
}

beforeAll(async () => {
  const reader = bitcoinReader(LOCAL, replaying(repliesOf(NODE)));
  const { transfers, sent } = await reader.block(HASH, WATCHED);
  expect([transfers.length, sent.length]).toEqual([12, 1]);
  expect((await reader.range(HEIGHT, HEIGHT, WATCHED)).contents).toHaveLength(1);
  expect((await reader.transaction(TXID))?.height).toBe(HEIGHT);
});

describe('a lie in the header of a block is refused, not published:', () => {
  const lies: [string, Change][] = [
    ['another hash', put(['hash'], OTHER)],
    ['another parent', put(['previousblockhash'], OTHER)],
    ['no parent', put(['previousblockhash'], undefined)],
    ['another merkle root', put(['merkleroot'], OTHER)],
    ['another time', put(['time'], 1_700_000_000)],
    ['a time of another type', put(['time'], '1795260799')],
    ['another version', put(['version'], 1)],
    ['a version that no header holds', put(['version'], 2 ** 40)],
    ['another nonce', put(['nonce'], 7)],
    ['other bits', put(['bits'], '1d00ffff')],
    ['bits that are none', put(['bits'], '0x207fffff')],
    ['another height', put(['height'], 105)],
    ['a height below nothing', put(['height'], -1)],
    ['no confirmations', put(['confirmations'], undefined)],
    ['that it lost its place', put(['confirmations'], -1)],
  ];
  it.each(lies)('%s', async (_name, change) => {
    await refuses(lying('getblock', change));
  });

  it.each(lies.filter(([name]) => name !== 'that it lost its place'))('%s, when the height or the head is asked for', async (name, change) => {
    const reader = lying('getblockheader', change);
    await expect(reader.blockAt(HEIGHT)).rejects.toThrow(ChainUnavailable);
    // Which height a head has is proven by its first transaction, once it is read.
    if (name !== 'another height') await expect(reader.head()).rejects.toThrow(ChainUnavailable);
  });

  it('another height with a header that holds together', async () => {
    // No hash covers the height, but the first transaction names it.
    await refuses(lying('getblock', put(['height'], 107)));
    await expect(lying('getblockheader', put(['height'], 107)).blockAt(HEIGHT)).rejects.toThrow(/asked for block 106, got 107/);
  });

  it('less work than its own bits ask for', async () => {
    const cheap = rehashed({ ...recorded(NODE, 'getblock_3'), bits: '1d00ffff' });
    const reader = bitcoinReader(LOCAL, replaying(repliesOf(NODE, { getblock: () => cheap })));
    await expect(reader.block(cheap.hash as string, WATCHED)).rejects.toThrow(/was not worked for/);
  });

  it('less work than anything on this network takes', async () => {
    const reader = bitcoinReader({ name: 'bitcoin', chainId: 'mainnet' }, replaying(repliesOf(NODE)));
    await expect(reader.block(HASH, WATCHED)).rejects.toThrow(/was not worked for/);
    await expect(reader.head()).rejects.toThrow(/was not worked for/);
  });

  it('another block than the one that was asked for', async () => {
    const other = rehashed({ ...recorded(NODE, 'getblock_3'), time: 1_795_260_800 });
    const reader = bitcoinReader(LOCAL, replaying(repliesOf(NODE, { getblock: () => other, getblockheader: () => other })));
    await expect(reader.block(HASH, WATCHED)).rejects.toThrow(/asked for block/);
    await expect(reader.blockAt(HEIGHT)).rejects.toThrow(/asked for block/);
  });

  it('and a long range is not asked for at once before the size of a block is known', async () => {
    const heights: unknown[] = [];
    const reader = bitcoinReader(LOCAL, replaying(repliesOf(NODE, { getblockhash: ([height]) => heights.push(height) && HASH })));
    await expect(reader.range(HEIGHT, HEIGHT + 40, WATCHED)).rejects.toThrow(ChainUnavailable);
    expect(heights).toEqual([HEIGHT, HEIGHT + 1, HEIGHT + 2]);
  });

  it('a chain that does not hold together', async () => {
    const reader = bitcoinReader(LOCAL, replaying(repliesOf(NODE, { getblockhash: () => HASH })));
    await expect(reader.range(HEIGHT, HEIGHT + 1, WATCHED)).rejects.toThrow(ChainUnavailable);
  });
});

describe('a lie in the transactions of a block is refused, not published:', () => {
  const us = scriptOfAddress(OURS, params);
  const them = scriptOfAddress(STRANGER, params);
  const second = ['tx', 1, 'hex'];
  const lies: [string, Change][] = [
    ['none', put(['tx'], [])],
    ['no list', put(['tx'], undefined)],
    ['ids alone', transactions((all) => all.map((one) => (one as { txid: string }).txid))],
    ['one left out', transactions((all) => all.slice(0, -1))],
    ['one twice', transactions((all) => [...all, all[2]])],
    ['the last two again, as an odd tree would hash them', transactions((all) => [...all, all[2]])],
    ['another order', transactions(([one, two, three]) => [one, three, two])],
    ['no coinbase', transactions((all) => all.slice(1))],
    ['the coinbase in second place', transactions(([one, two, three]) => [two, one, three])],
    ['another recipient', put(second, replaced(us, them))],
    ['another amount', put(second, replaced('00e1f505', '00e1f506'))],
    ['an amount beyond all coins', put(second, replaced('00e1f50500000000', 'ffffffffffffff7f'))],
    ['another id', put(['tx', 1, 'txid'], OTHER)],
    ['another recipient, under the id that it then has', (block) => renamed(put(second, replaced(us, them))(block), 1)],
    ['a coinbase of another amount, under the id that it then has', (block) => renamed(put(['tx', 0, 'hex'], replaced('108a082a01', '108a082a02'))(block), 0)],
    ['no bytes', put(second, undefined)],
    ['bytes cut short', put(second, (hex: string) => hex.slice(0, -2))],
    ['bytes too many', put(second, (hex: string) => `${hex}00`)],
    ['half a byte', put(second, (hex: string) => hex.slice(0, -1))],
    ['no digits', put(second, 'zz')],
    ['a witness taken away', put(second, (hex: string) => hex.replace(/^(02000000)0001(.*?)0247304402.*?(.{8})$/, '$1$2$3'))],
    ['a witness of another key', put(second, (hex: string) => hex.replace('02e6c0ca5a3947539e', '02e6c0ca5a3947539f'))],
    ['what the coinbase commits to taken away', put(['tx', 0, 'hex'], (hex: string) => hex.replace('6a24aa21a9ed', '6a24aa21a9ee'))],
  ];
  it.each(lies)('%s', (_name, change) => refuses(lying('getblock', change)));

  it('all ids without all bytes, so that nothing is left to prove them', () =>
    refuses(
      lying(
        'getblock',
        transactions((all) => all.map((one) => ({ ...(one as object), hex: undefined }))),
      ),
    ));

  it('a merkle root that ends in a pair of twins', async () => {
    // CVE-2012-2459: a list whose end is repeated has the same root.
    const block = recorded(NODE, 'getblock_3');
    const ids = (block.tx as { txid: string }[]).map(({ txid }) => txid);
    expect(merkleRootOf([...ids, ids[2] as string])).toBe(merkleRootOf(ids));
    await refuses(
      lying(
        'getblock',
        transactions((all) => [...all, all[2]]),
      ),
    );
  });

  it('what a node prints beside the bytes changes nothing', async () => {
    const plain = await bitcoinReader(LOCAL, replaying(repliesOf(NODE))).block(HASH, WATCHED);
    const reader = lying('getblock', (block) => {
      for (const one of block.tx as { vout: { value: unknown; scriptPubKey: Record<string, unknown> }[]; fee?: unknown }[]) {
        one.fee = '-5';
        for (const output of one.vout) {
          output.value = '20000000';
          output.scriptPubKey = { hex: us, address: OURS, type: 'pubkeyhash' };
        }
      }
      return block;
    });
    expect(await reader.block(HASH, WATCHED)).toEqual(plain);
  });
});

describe('a lie about what a transaction spends is refused, not published:', () => {
  const stranger = scriptOfAddress(STRANGER, params);
  const input = ['tx', 1, 'vin', 0];
  const lies: [string, Change][] = [
    ['nothing', put([...input, 'prevout'], undefined)],
    ['an output of somebody else', put([...input, 'prevout', 'scriptPubKey', 'hex'], stranger)],
    ['an old output, which shows no witness', put([...input, 'prevout', 'scriptPubKey', 'hex'], `76a914${'11'.repeat(20)}88ac`)],
    ['a script of several keys', put([...input, 'prevout', 'scriptPubKey', 'hex'], `5121${'02'.repeat(33)}51ae`)],
    ['an output wrapped in P2SH', put([...input, 'prevout', 'scriptPubKey', 'hex'], `a914${'11'.repeat(20)}87`)],
    ['a script behind a hash', put([...input, 'prevout', 'scriptPubKey', 'hex'], `0020${'11'.repeat(32)}`)],
    ['a taproot key that its witness does not lead to', put([...input, 'prevout', 'scriptPubKey', 'hex'], `5120${'11'.repeat(32)}`)],
    ['no script', put([...input, 'prevout', 'scriptPubKey', 'hex'], undefined)],
    ['another amount than was signed', put([...input, 'prevout', 'value'], '60')],
    ['one satoshi more', put([...input, 'prevout', 'value'], '50.00000001')],
    ['more than there will ever be', put([...input, 'prevout', 'value'], '21000000.00000001')],
    ['more than anybody can sign over', put([...input, 'prevout', 'value'], '100000000000')],
    ['less than it pays out', put([...input, 'prevout', 'value'], '1')],
    ['an amount below nothing', put([...input, 'prevout', 'value'], '-50')],
    ['a part of a satoshi', put([...input, 'prevout', 'value'], '50.000000001')],
    ['no amount', put([...input, 'prevout', 'value'], undefined)],
    ['another output than in its bytes', put([...input, 'vout'], 1)],
    ['an output of another transaction than in its bytes', put([...input, 'txid'], OTHER)],
    [
      'an output of somebody else, with a key in its witness that fits',
      (block) => {
        put(['tx', 1, 'hex'], replaced('02e6c0ca5a3947539eb01532c3449127ced66fdb256baa156661b0bb761ca3e4df', GENERATOR))(block);
        return put([...input, 'prevout', 'scriptPubKey', 'hex'], '0014751e76e8199196d454941c45d1b3a323f1433bd6')(block);
      },
    ],
    ['one input too few', put(['tx', 1, 'vin'], [])],
    ['one input too many', put(['tx', 1, 'vin'], (all: unknown[]) => [...all, ...all])],
    ['no inputs', put(['tx', 1, 'vin'], undefined)],
  ];
  it.each(lies)('%s', (_name, change) => refuses(lying('getblock', change)));
});

describe('other lies are refused:', () => {
  const facts = (change: Change): Promise<unknown> => lying('getrawtransaction', change).transaction(TXID);

  it.each<[string, Change]>([
    ['the bytes of another transaction', put(['hex'], () => (recorded(NODE, 'getrawtransaction_1_unconfirmed') as { hex: string }).hex)],
    ['no bytes', put(['hex'], undefined)],
    ['a block that nobody knows', put(['blockhash'], OTHER)],
    ['a block that is no hash', put(['blockhash'], 'yes')],
    ['nothing', () => null],
    ['text', () => 'yes'],
  ])('%s as a transaction', async (_name, change) => {
    await expect(facts(change)).rejects.toThrow(ChainUnavailable);
  });

  it('a transaction in a block that does not hold it', async () => {
    const other = recorded(NODE, 'getrawtransaction_1_unconfirmed') as { hex: string };
    const { txid } = readRawTransaction(other.hex) as { txid: string };
    const reader = bitcoinReader(LOCAL, replaying(repliesOf(NODE, { getrawtransaction: () => ({ ...other, txid, blockhash: HASH }) })));
    await expect(reader.transaction(txid)).rejects.toThrow(/does not hold/);
  });

  it('another first block', async () => {
    const reader = bitcoinReader(LOCAL, replaying({ getblockhash: () => OTHER }));
    await expect(reader.genesisHash()).rejects.toMatchObject({ name: 'ChainUnavailable', trouble: 'wrong-chain' });
  });

  it('a head that keeps losing its place', async () => {
    const orphan = { ...recorded(NODE, 'getblockheader_orphan') };
    await expect(bitcoinReader(LOCAL, replaying(repliesOf(NODE, { getblockheader: () => orphan }))).head()).rejects.toThrow(/lost its place/);
  });

  it('a height that the node does not have', async () => {
    await expect(bitcoinReader(LOCAL, replaying(repliesOf(NODE))).blockAt(107)).rejects.toMatchObject({ name: 'ChainUnavailable', message: /out of range/ });
    await expect(bitcoinReader(LOCAL, replaying(repliesOf(NODE))).block(OTHER, WATCHED)).rejects.toMatchObject({
      name: 'ChainUnavailable',
      message: /not found/,
    });
  });
});

describe('a lie about unspent outputs is refused:', () => {
  const ADDRESS = 'mxuGf7hVg4dvgV7nGejXfrqe4sE7udn3GG';
  const answer = (): Record<string, unknown> => {
    const scan = recorded(NODE, 'scantxoutset');
    return { ...scan, unspents: (scan.unspents as unknown[]).slice(0, 1), total_amount: 1 };
  };
  const scanning = (change: Change): Reader => lying('scantxoutset', change, { scantxoutset: answer });

  it('and the truth is not', async () => {
    expect(await scanning((told) => told).balance(ADDRESS, null)).toBe(100_000_000n);
  });

  it.each<[string, Change]>([
    ['broken off', put(['success'], false)],
    ['another height than its block has', put(['height'], 105)],
    ['a height that cannot be told', put(['height'], NO_WORDS)],
    ['a block that nobody knows', put(['bestblock'], OTHER)],
    ['a sum that is not theirs', put(['total_amount'], '1.5')],
    ['an output twice', put(['unspents'], (all: unknown[]) => [...all, ...all])],
    ['an output of somebody else', put(['unspents', 0, 'scriptPubKey'], scriptOfAddress(STRANGER, params))],
    ['an output from the future', put(['unspents', 0, 'height'], 107)],
    ['an amount below nothing', put(['unspents', 0, 'amount'], '-1')],
    ['no outputs', put(['unspents'], undefined)],
    ['text', () => 'yes'],
  ])('%s', async (_name, change) => {
    await expect(scanning(change).balance(ADDRESS, null)).rejects.toThrow(ChainUnavailable);
    await expect(scanning(change).unspentAt?.(ADDRESS)).rejects.toThrow(ChainUnavailable);
  });

  it.each<[string, Change]>([
    ['another block than the head', put(['bestblock'], OTHER)],
    ['an amount that is none', put(['value'], 'much')],
    ['text', () => 'yes'],
  ])('of a single one: %s', async (_name, change) => {
    const reader = lying('gettxout', change, { gettxout: () => recorded(NODE, 'gettxout') });
    await expect(reader.outputs?.([{ txid: TXID, vout: 2 }])).rejects.toThrow(ChainUnavailable);
  });

  it.each<[string, unknown]>([
    ['too few', []],
    ['of another output', [{ txid: OTHER, vout: 2 }]],
    ['no id', [{ txid: TXID, vout: 2, spendingtxid: 'me' }]],
  ])('who spends it: %s', async (_name, told) => {
    const reader = bitcoinReader(LOCAL, replaying(repliesOf(NODE, { gettxspendingprevout: () => told })));
    await expect(reader.waitingSpenders?.([{ txid: TXID, vout: 2 }])).rejects.toThrow(ChainUnavailable);
  });
});

describe('a lie about what waits is refused:', () => {
  const waiting = recorded(NODE, 'getrawtransaction_1_unconfirmed') as { hex: string };
  const { txid } = readRawTransaction(waiting.hex) as { txid: string };
  const prevout = { bestblock: HASH, confirmations: 5, value: '50', scriptPubKey: { hex: scriptOfAddress(OURS, params) }, coinbase: true };
  const pool = (more: Replies): Reader =>
    bitcoinReader(LOCAL, replaying(repliesOf(NODE, { getrawmempool: () => [txid], getrawtransaction: () => waiting.hex, gettxout: () => prevout, ...more })));

  it('and the truth is not', async () => {
    const mempool = await pool({}).mempool?.(WATCHED, new Set());
    expect(mempool?.fresh.map((one) => one.txid)).toEqual([txid]);
  });

  it.each<[string, Replies]>([
    ['ids that are none', { getrawmempool: () => ['yes'] }],
    ['no list', { getrawmempool: () => ({}) }],
    ['other bytes', { getrawtransaction: () => (recorded(NODE, 'getrawtransaction_1') as { hex: string }).hex }],
    ['a payer that did not sign', { gettxout: () => ({ ...prevout, scriptPubKey: { hex: scriptOfAddress(STRANGER, params) } }) }],
    ['that it spends less than it pays', { gettxout: () => ({ ...prevout, value: '1' }) }],
    ['an error of another kind', { getrawtransaction: () => refuse('getrawtransaction', -1, 'no') }],
  ])('%s', async (_name, more) => {
    await expect(pool(more).mempool?.(WATCHED, new Set())).rejects.toThrow(ChainUnavailable);
  });
});
