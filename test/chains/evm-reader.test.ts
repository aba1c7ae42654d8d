import { toFunctionSelector } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callData } from '#ops/dev/services/evm-node.ts';
import { ChainUnavailable, type Reader, type WatchSet } from '#shared/chains/chain.ts';
import { evmReader } from '#shared/chains/evm/reader.ts';
import { readHeader } from '#shared/chains/evm/replies.ts';
import { openRpc } from '#shared/chains/evm/rpc.ts';
import { walkBodies } from '#shared/chains/evm/walk-bodies.ts';
import { walkReceipts } from '#shared/chains/evm/walk-receipts.ts';
import type { Rpc } from '#shared/chains/rpc.ts';
import { Unread } from '#shared/chains/unread.ts';
import { aChain, type TestChain } from '#test/harness/chain.ts';

const ALICE = '0x00000000000000000000000000000000000a11ce';
const BOB = '0x0000000000000000000000000000000000000b0b';
const watching = (...addresses: string[]): WatchSet => ({ has: (address) => addresses.includes(address) });

let chain: TestChain;
let rpc: Rpc;
let reader: Reader;

beforeAll(async () => {
  chain = await aChain({ blockSeconds: 0 });
  rpc = openRpc(chain.url);
  reader = evmReader({ name: 'local', chainId: '31337' }, rpc);
});
afterAll(() => chain.stop());

const latest = async (...addresses: string[]) => reader.block((await reader.head()).latest.hash, watching(...addresses));
/** Sends from the faucet with enough gas that a failing transaction is mined too. */
const send = (to: string, data: string, value = 0n) => chain.node.send({ from: chain.faucet, to, data, value, gas: 500_000n });

describe('the head', () => {
  it('is never served from a cache', async () => {
    const before = await reader.head();
    await chain.mine(3);
    expect((await reader.head()).latest.height).toBe(before.latest.height + 3);
  });

  it('is proven once, and what else is said of the same block counts for nothing', async () => {
    let lies = false;
    const told = evmReader({ name: 'local', chainId: '31337' }, async (method, params, as) => {
      const answer = await rpc(method, params, as);
      return lies && method === 'eth_getBlockByNumber' ? { ...(answer as object), parentHash: `0x${'ab'.repeat(32)}` } : answer;
    });
    const head = await told.head();
    lies = true;
    expect(await told.head()).toEqual(head);
    await chain.mine(1);
    await expect(told.head()).rejects.toThrow(/is not that of its header/);
  });

  it('comes with the heights the node calls safe and final', async () => {
    const head = await reader.head();
    expect(head.safeHeight).toBe(head.latest.height - 1);
    expect(head.finalizedHeight).toBe(head.latest.height - 2);
  });

  it('has no safe height on a node that does not know the tag', async () => {
    const old = evmReader({ name: 'local', chainId: '31337' }, (method, params) => (params[0] === 'safe' ? Promise.resolve(null) : rpc(method, params)));
    expect((await old.head()).safeHeight).toBeNull();
  });

  it('is refused from a node of another chain', async () => {
    await expect(evmReader({ name: 'ethereum', chainId: '1' }, rpc).genesisHash()).rejects.toThrow(/serves chain 31337, but ethereum is configured as chain 1/);
  });
});

describe('a block', () => {
  it('tells of a native deposit, with its sender and exact value', async () => {
    const txid = await chain.payAndMine(ALICE, null, 1_234_567_890_123_456_789n);
    const { block, transfers, sent } = await latest(ALICE);
    expect(transfers).toEqual([
      {
        kind: 'native',
        txid,
        ordinal: 0,
        height: block.height,
        blockHash: block.hash,
        position: 0,
        time: block.time,
        sender: chain.faucet,
        recipient: ALICE,
        contract: null,
        rawAmount: '1234567890123456789',
      },
    ]);
    expect(sent).toEqual([]);
  });

  it('tells of a token deposit, with the contract that emitted it', async () => {
    const txid = await chain.payAndMine(ALICE, chain.tokens.USDT, 5_000_001n);
    const { transfers } = await latest(ALICE);
    expect(transfers).toMatchObject([
      { kind: 'token', txid, ordinal: 0, contract: chain.tokens.USDT, sender: chain.faucet, recipient: ALICE, rawAmount: '5000001' },
    ]);
  });

  it('tells nothing of addresses nobody watches', async () => {
    await chain.payAndMine(ALICE, null, 1n);
    expect(await latest(BOB)).toMatchObject({ transfers: [], sent: [] });
  });

  it('tells of our own transactions: nonce, outcome, exact cost, and what moved', async () => {
    const txid = await chain.payAndMine(BOB, chain.tokens.USDC, 7n);
    const { transfers, sent } = await latest(chain.faucet);
    const receipt = (await rpc('eth_getTransactionReceipt', [txid])) as { gasUsed: string; effectiveGasPrice: string };
    const body = (await rpc('eth_getTransactionByHash', [txid])) as { nonce: string };
    expect(sent).toMatchObject([
      {
        kind: 'sent',
        txid,
        sender: chain.faucet,
        succeeded: true,
        nonce: Number(body.nonce),
        rawFee: (BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)).toString(),
      },
    ]);
    expect(transfers).toMatchObject([{ kind: 'token', recipient: BOB, rawAmount: '7' }]);
  });

  it('tells of a failed transaction that it was sent and failed, and of nothing that moved', async () => {
    const txid = await send(chain.tokens.USDT, callData('a9059cbb', ALICE, 10n ** 40n));
    await chain.mine();
    const { transfers, sent } = await latest(ALICE, chain.faucet);
    expect(transfers).toEqual([]);
    expect(sent).toMatchObject([{ txid, succeeded: false }]);
  });

  it('tells nothing of a native payment that failed', async () => {
    // A token has no way to take native coin, so the payment is mined and reverted.
    await send(chain.tokens.USDT, '0x', 5n);
    await chain.mine();
    expect((await latest(chain.tokens.USDT)).transfers).toEqual([]);
  });

  it('tells nothing of a transfer inside a transaction that failed as a whole', async () => {
    const router = await routerWith(chain.tokens.USDC, 100n);
    await send(router, callData(selector('forwardAndFail(address,address,uint256)'), chain.tokens.USDC, ALICE, 10n));
    await chain.mine();
    expect((await latest(ALICE)).transfers).toEqual([]);
  });

  it('ignores a Transfer with four topics (a collectible) and one of nothing', async () => {
    const collectible = await chainWithAutomine(() => chain.deploy('Collectible'));
    await send(collectible, callData('a9059cbb', ALICE, 77n));
    await send(chain.tokens.USDC, callData('a9059cbb', ALICE, 0n));
    await chain.mine();
    expect((await latest(ALICE)).transfers).toEqual([]);
  });

  it('reports a look-alike token under its own contract, never under the real one', async () => {
    const fake = await chainWithAutomine(() => chain.deployToken('TestToken', 'USDT', 6));
    await chain.mint(fake, ALICE, 1_000_000n);
    await chain.mine();
    expect((await latest(ALICE)).transfers).toMatchObject([{ kind: 'token', contract: fake, rawAmount: '1000000' }]);
  });

  it('tells two transfers in one transaction apart by their position inside it', async () => {
    const router = await routerWith(chain.tokens.USDC, 100n);
    // Something with a log comes first in the block: the position must not be the block's.
    await chain.pay(BOB, chain.tokens.USDC, 1n);
    const txid = await send(router, callData(selector('forwardTwice(address,address,uint256,uint256)'), chain.tokens.USDC, ALICE, 30n, 12n));
    await chain.mine();
    const { transfers } = await latest(ALICE);
    expect(transfers).toMatchObject([
      { txid, ordinal: 0, sender: router, recipient: ALICE, rawAmount: '30' },
      { txid, ordinal: 1, sender: router, recipient: ALICE, rawAmount: '12' },
    ]);
  });

  it('is refused when the chain no longer has it', async () => {
    const { latest: gone } = await reader.head();
    await chain.reorg(1);
    await expect(reader.block(gone.hash, watching(ALICE))).rejects.toThrow(ChainUnavailable);
  });
});

describe('a block that was announced', () => {
  /** A reader of the chain, and what it asked; `answer` may answer in place of the node. */
  const listening = (answer: (method: string, params: readonly unknown[]) => Promise<unknown> | undefined = () => undefined) => {
    const asked: string[] = [];
    const own = evmReader({ name: 'local', chainId: '31337' }, (method, params, as) => {
      asked.push(`${method} ${JSON.stringify(params[0])}`);
      return answer(method, params) ?? rpc(method, params, as);
    });
    return { own, asked };
  };
  const announced = async () => {
    const { height, hash, parentHash } = (await reader.head()).latest;
    return { height, hash, parentHash };
  };

  /** The block after one in which Alice was paid, announced to who read that one; and what was asked for then. */
  const announcedAfterOneOf = async ({ own, asked }: ReturnType<typeof listening>, watched: WatchSet) => {
    await chain.payAndMine(ALICE, null, 1n);
    await own.block((await announced()).hash, watched);
    await chain.payAndMine(ALICE, null, 2n);
    const block = await announced();
    asked.length = 0;
    own.foresee?.(block);
    return { block, first: [...asked] };
  };

  it('is asked for before anybody needs it, header, receipts and traces at once, and not again', async () => {
    const { own, asked } = listening();
    const { block, first } = await announcedAfterOneOf({ own, asked }, watching());
    expect(first).toHaveLength(3);
    expect((await own.block(block.hash, watching())).transfers).toEqual([]);
    expect(asked).toEqual(first);
    own.foresee?.(block);
    const { transfers } = await own.block(block.hash, watching(ALICE));
    expect(transfers).toMatchObject([{ recipient: ALICE, rawAmount: '2' }]);
  });

  it('is asked for with its transactions where one of the last sixteen held something, and without them where none did', async () => {
    const { own, asked } = listening();
    const { block, first } = await announcedAfterOneOf({ own, asked }, watching(ALICE));
    expect(first).toHaveLength(4);
    expect((await own.block(block.hash, watching(ALICE))).transfers).toMatchObject([{ recipient: ALICE, rawAmount: '2' }]);
    expect(asked).toEqual(first);
    for (let quiet = 0; quiet < 16; quiet++) {
      own.foresee?.(block);
      expect((await own.block(block.hash, watching())).transfers).toEqual([]);
    }
    asked.length = 0;
    own.foresee?.(block);
    expect(asked).toHaveLength(3);
  });

  it('is asked for anew when that failed, and when another one was announced', async () => {
    let failing = true;
    const { own, asked } = listening((method) => (failing && method !== 'eth_getBlockByNumber' ? Promise.reject(new ChainUnavailable('away')) : undefined));
    await chain.payAndMine(ALICE, null, 3n);
    const block = await announced();
    own.foresee?.(block);
    failing = false;
    expect((await own.block(block.hash, watching(ALICE))).transfers).toMatchObject([{ rawAmount: '3' }]);
    own.foresee?.({ ...block, hash: `0x${'ab'.repeat(32)}` });
    asked.length = 0;
    expect((await own.block(block.hash, watching(ALICE))).transfers).toMatchObject([{ rawAmount: '3' }]);
    expect(asked.some((one) => one.includes(block.hash))).toBe(true);
  });

  it.each([
    ['failed', () => Promise.reject(new ChainUnavailable('away'))],
    ['were not known yet', () => Promise.resolve(null)],
    ['were not known yet, in bytes', () => Promise.resolve(new Unread(Buffer.from('null')))],
  ])('is asked for its transactions anew when only they %s', async (_what, answer) => {
    let failing = false;
    const { own } = listening((_, params) => (failing && params[1] === true ? answer() : undefined));
    await chain.payAndMine(ALICE, null, 1n);
    const block = await announced();
    await own.block(block.hash, watching(ALICE));
    failing = true;
    own.foresee?.(block);
    failing = false;
    expect((await own.block(block.hash, watching(ALICE))).transfers).toMatchObject([{ recipient: ALICE, rawAmount: '1' }]);
  });

  it('that cannot be read after all ends nothing but that, whatever else failed of it', async () => {
    let failing = false;
    const { own } = listening(() => (failing ? Promise.reject(new ChainUnavailable('away')) : undefined));
    await chain.payAndMine(ALICE, null, 1n);
    const block = await announced();
    await own.block(block.hash, watching(ALICE));
    failing = true;
    own.foresee?.(block);
    await expect(own.block(block.hash, watching(ALICE))).rejects.toThrow('away');
    // A rejection that nobody heard of ends a process, and fails this file.
    await new Promise((turn) => setImmediate(turn));
  });

  it('that was never mined disturbs nothing', async () => {
    const { own } = listening();
    await chain.payAndMine(ALICE, null, 4n);
    const block = await announced();
    await own.block(block.hash, watching());
    own.foresee?.({ height: block.height + 1, hash: `0x${'cd'.repeat(32)}`, parentHash: block.hash });
    expect((await own.block(block.hash, watching(ALICE))).transfers).toMatchObject([{ rawAmount: '4' }]);
  });
});

describe('a range', () => {
  it('says the same as its blocks one by one, and leaves quiet blocks out', async () => {
    const start = (await reader.head()).latest.height + 1;
    for (let i = 0; i < 3; i++) {
      await chain.pay(ALICE, null, BigInt(i + 1));
      await chain.pay(ALICE, chain.tokens.USDT, BigInt(i + 10));
      await chain.mine(1);
      await chain.mine(17);
    }
    const end = (await reader.head()).latest.height;
    const watched = watching(ALICE, chain.faucet);
    const range = await reader.range(start, end, watched);
    const single = [];
    for (let height = start; height <= end; height++) single.push(await reader.block((await reader.blockAt(height)).hash, watched));
    expect(range.contents).toEqual(single.filter((content) => content.transfers.length + content.sent.length > 0));
    expect(range.contents).toHaveLength(3);
    expect(range.last).toEqual(single.at(-1)?.block);
    expect(range.parentHash).toBe(single[0]?.block.parentHash);
  });
});

describe('a single transaction', () => {
  it('is told with its block, outcome and every transfer', async () => {
    const txid = await chain.payAndMine(ALICE, chain.tokens.USDC, 3n);
    const { latest: block } = await reader.head();
    expect(await reader.transaction(txid)).toMatchObject({
      txid,
      height: block.height,
      blockHash: block.hash,
      succeeded: true,
      transfers: [{ recipient: ALICE, rawAmount: '3' }],
    });
  });

  it('names every transfer as its block does, so that an inquiry and the stream can never credit one twice', async () => {
    const router = await routerWith(chain.tokens.USDC, 100n);
    await chain.pay(BOB, chain.tokens.USDC, 1n);
    const txid = await send(router, callData(selector('forwardTwice(address,address,uint256,uint256)'), chain.tokens.USDC, ALICE, 30n, 12n));
    await chain.mine();
    const { transfers } = await latest(ALICE);
    expect(transfers).toHaveLength(2);
    expect((await reader.transaction(txid))?.transfers).toEqual(transfers);
  });

  it('that failed is told as failed, with no transfer', async () => {
    const router = await routerWith(chain.tokens.USDC, 1n);
    const txid = await send(router, callData(selector('forwardAndFail(address,address,uint256)'), chain.tokens.USDC, ALICE, 1n));
    await chain.mine();
    expect(await reader.transaction(txid)).toMatchObject({ txid, succeeded: false, transfers: [] });
  });

  it('has no block while it waits, and is unknown when nobody sent it', async () => {
    const txid = await chain.pay(ALICE, null, 1n);
    expect(await reader.transaction(txid)).toEqual({ txid, height: null, blockHash: null, succeeded: null, transfers: [] });
    await chain.mine();
    expect(await reader.transaction(`0x${'ab'.repeat(32)}`)).toBeNull();
  });
});

describe('a balance', () => {
  it('is told at a height, for coin and token', async () => {
    const carol = '0x00000000000000000000000000000000000ca401';
    await chain.payAndMine(carol, null, 5n);
    await chain.payAndMine(carol, chain.tokens.USDC, 9n);
    const { height } = (await reader.head()).latest;
    expect(await reader.balance(carol, null)).toBe(5n);
    expect(await reader.balance(carol, chain.tokens.USDC)).toBe(9n);
    expect(await reader.balance(carol, chain.tokens.USDC, height - 1)).toBe(0n);
    expect(await reader.balance(carol, null, height - 2)).toBe(0n);
  });

  it('of a contract that is none is not zero but an error', async () => {
    await expect(reader.balance(ALICE, BOB)).rejects.toThrow(ChainUnavailable);
  });
});

describe('a node that is away', () => {
  it('is an error within the time limit, never an empty answer', async () => {
    const away = evmReader({ name: 'local', chainId: '31337' }, openRpc('http://127.0.0.1:1'));
    await expect(away.head()).rejects.toThrow(ChainUnavailable);
  });
});

function selector(signature: string): string {
  return toFunctionSelector(`function ${signature}`).slice(2);
}

/** Deployments of the harness wait for their receipt, so they need a block of their own. */
async function chainWithAutomine<T>(work: () => Promise<T>): Promise<T> {
  await chain.node.call('evm_setAutomine', [true]);
  try {
    return await work();
  } finally {
    await chain.node.call('evm_setAutomine', [false]);
  }
}

async function routerWith(token: string, rawAmount: bigint): Promise<string> {
  return chainWithAutomine(async () => {
    const router = await chain.deploy('Router');
    await chain.mint(token, router, rawAmount);
    return router;
  });
}

describe('a block as a real node tells it', () => {
  it('is walked over, alone and in a list of answers, and is read as it always was by whoever does not ask for it unread', async () => {
    await chain.pay(ALICE, null, 5n);
    await chain.pay(BOB, chain.tokens.USDT, 6n);
    await chain.mine();
    const { hash } = (await reader.head()).latest;
    const ask = (as?: 'unread') => Promise.all([rpc('eth_getBlockReceipts', [hash], as), rpc('eth_getBlockByHash', [hash, true], as)]);
    const [header, receipts, bodies] = [readHeader(await rpc('eth_getBlockByHash', [hash, false])), ...(await ask('unread'))];
    const alone = await rpc('eth_getBlockReceipts', [hash], 'unread');
    for (const answer of [receipts, alone]) expect(walkReceipts(answer as Unread, header, watching(BOB))?.named(() => false)).toHaveLength(1);
    expect(walkBodies(bodies as Unread, header, { chainId: '31337', stateSyncs: false }, [1])?.covered).toBe(2);
    expect(await ask()).toEqual([receipts, bodies].map((answer) => (answer as Unread).read()));
  });
});
