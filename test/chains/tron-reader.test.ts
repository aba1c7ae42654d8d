import { TronWeb } from 'tronweb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEMO_TRON_TOKENS, TRON_FAUCET } from '#ops/devnet/tron/demo.ts';
import { type RunningTronNode, startTronNode } from '#ops/devnet/tron/start.ts';
import { ChainUnavailable, type Reader, type WatchSet } from '#shared/chains/chain.ts';
import { toHex20 } from '#shared/chains/tron/address.ts';
import { openTronApi, type TronApi } from '#shared/chains/tron/http.ts';
import { tronReader } from '#shared/chains/tron/reader.ts';

const { USDT, USDC } = DEMO_TRON_TOKENS;
const FAUCET = TRON_FAUCET.address;
const MNEMONIC = 'test test test test test test test test test test test junk';
const walletAt = (index: number) => {
  const { address, privateKey } = TronWeb.fromMnemonic(MNEMONIC, `m/44'/195'/0'/0/${index}`);
  return { address, privateKey: privateKey.replace(/^0x/, '') };
};
const [ALICE, BOB, CAROL] = [1, 2, 3].map((index) => walletAt(index).address) as [string, string, string];
const LOCAL = { name: 'tron', chainId: 'local' };
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const watching = (...addresses: string[]): WatchSet => ({ has: (address) => addresses.includes(address) });
const word = (value: bigint): string => value.toString(16).padStart(64, '0');
const addressWord = (address: string): string => toHex20(address).padStart(64, '0');
const UNIT = 1_000_000n;

let node: RunningTronNode;
let api: TronApi;
let reader: Reader;
let web: TronWeb;
const asked: string[] = [];

beforeAll(async () => {
  node = await startTronNode();
  api = openTronApi(node.url);
  reader = tronReader(LOCAL, (path, body) => {
    asked.push(path);
    return api(path, body);
  });
  web = new TronWeb({ fullHost: node.url, privateKey: TRON_FAUCET.privateKey });
  await node.control.mine(3);
});
afterAll(() => node.stop());

const latest = async (...addresses: string[]) => reader.block((await reader.head()).latest.hash, watching(...addresses));
const head = async () => (await reader.head()).latest;

/** Signs and hands in; answers the transaction id. */
async function broadcast(unsigned: Parameters<TronWeb['trx']['sign']>[0], privateKey: string = TRON_FAUCET.privateKey): Promise<string> {
  const signed = (await web.trx.sign(unsigned as never, privateKey)) as unknown as { txID: string };
  const answer = (await web.trx.sendRawTransaction(signed as never)) as { result?: boolean; message?: string };
  if (answer.result !== true) throw new Error(`refused: ${Buffer.from(answer.message ?? '', 'hex')}`);
  return signed.txID;
}

const pay = async (to: string, sun: bigint, from = { address: FAUCET as string, privateKey: TRON_FAUCET.privateKey as string }): Promise<string> =>
  broadcast((await web.transactionBuilder.sendTrx(to, Number(sun), from.address)) as never, from.privateKey);

async function call(
  contract: string,
  signature: string,
  parameters: { type: string; value: unknown }[],
  options: { callValue?: number; feeLimit?: number } = {},
) {
  const built = await web.transactionBuilder.triggerSmartContract(
    contract,
    signature,
    { feeLimit: 1_000_000_000, txLocal: true, ...options },
    parameters,
    FAUCET,
  );
  return broadcast(built.transaction as never);
}

const payToken = (contract: string, to: string, raw: bigint): Promise<string> =>
  call(contract, 'transfer(address,uint256)', [
    { type: 'address', value: to },
    { type: 'uint256', value: raw.toString() },
  ]);

describe('the head', () => {
  it('is never served from a cache', async () => {
    const before = await head();
    await node.control.mine(3);
    expect((await head()).height).toBe(before.height + 3);
  });

  it('comes with the solid block and no safe one', async () => {
    const { latest: top, safeHeight, finalizedHeight } = await reader.head();
    expect({ safeHeight, finalizedHeight }).toEqual({ safeHeight: null, finalizedHeight: top.height - 1 });
  });

  it('costs headers only, however full blocks are, and one less while it is the block it was', async () => {
    await node.control.mine();
    asked.length = 0;
    await reader.head();
    expect(asked.sort()).toEqual(['wallet/getblock', 'wallet/getblock', 'walletsolidity/getblock']);
    asked.length = 0;
    await reader.head();
    expect(asked.sort()).toEqual(['wallet/getblock', 'walletsolidity/getblock']);
  });

  it('is refused while the solid block is another one than the full view has', async () => {
    await pay(BOB, 1n);
    await node.control.mine(2);
    const solid = await api('walletsolidity/getblock', { detail: false });
    await node.control.reorg(2, 'drop', { force: true });
    const forked = tronReader(LOCAL, (path, body) => (path.startsWith('walletsolidity') ? Promise.resolve(solid) : api(path, body)));
    await expect(forked.head()).rejects.toThrow(/in one view/);
    await expect(forked.head()).rejects.toThrow(/in one view/);
    await expect(reader.head()).resolves.toMatchObject({ safeHeight: null });
  });

  it('is refused from a node of another chain, for good', async () => {
    await expect(tronReader({ name: 'tron', chainId: 'mainnet' }, api).genesisHash()).rejects.toMatchObject({ trouble: 'wrong-chain' });
    expect(await reader.genesisHash()).toBe((await reader.blockAt(0)).hash);
  });
});

describe('a block', () => {
  it('tells of a TRX deposit, with its sender and exact value', async () => {
    const txid = await pay(ALICE, 1_234_567_890n);
    await node.control.mine();
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
        sender: FAUCET,
        recipient: ALICE,
        contract: null,
        rawAmount: '1234567890',
      },
    ]);
    expect(sent).toEqual([]);
  });

  it.each([
    ['a token that returns 32 zero bytes, as USDT does', USDT],
    ['a token that returns true', USDC],
  ])('tells of a deposit of %s, with the contract that emitted it', async (_which, token) => {
    const txid = await payToken(token, ALICE, 5_000_001n);
    await node.control.mine();
    expect((await latest(ALICE)).transfers).toMatchObject([
      { kind: 'token', txid, ordinal: 0, contract: token, sender: FAUCET, recipient: ALICE, rawAmount: '5000001' },
    ]);
  });

  it('costs one request for the outcomes and one for the block', async () => {
    const { hash } = await head();
    asked.length = 0;
    await reader.block(hash, watching(ALICE));
    expect(asked).toEqual(['wallet/gettransactioninfobyblocknum', 'wallet/getblockbynum']);
  });

  it('tells nothing of addresses nobody watches', async () => {
    await pay(ALICE, 1n);
    await node.control.mine();
    expect(await latest(BOB)).toMatchObject({ transfers: [], sent: [] });
  });

  it('tells of our own transactions: outcome, exact cost, and what moved', async () => {
    const before = await reader.balance(FAUCET, null);
    const txid = await payToken(USDT, BOB, 7n);
    await node.control.mine();
    const { transfers, sent } = await latest(FAUCET);
    const cost = before - (await reader.balance(FAUCET, null));
    expect(sent).toMatchObject([{ kind: 'sent', txid, sender: FAUCET, succeeded: true, nonce: null, rawFee: cost.toString() }]);
    expect(cost).toBeGreaterThan(0n);
    expect(transfers).toMatchObject([{ kind: 'token', recipient: BOB, rawAmount: '7' }]);
  });

  it('tells of a failed transaction that it was sent, failed and cost, and of nothing that moved', async () => {
    const before = await reader.balance(FAUCET, null);
    const txid = await call(
      USDT,
      'transfer(address,uint256)',
      [
        { type: 'address', value: ALICE },
        { type: 'uint256', value: '9' },
      ],
      { feeLimit: 1_000 },
    );
    await node.control.mine();
    const { transfers, sent } = await latest(ALICE, FAUCET);
    expect(transfers).toEqual([]);
    expect(sent).toMatchObject([{ txid, succeeded: false, rawFee: (before - (await reader.balance(FAUCET, null))).toString() }]);
  });

  it('tells of TRX that goes with a contract call, so that a wallet of ours that made it is never off', async () => {
    const sink = await node.control.script({ steps: [] });
    const txid = await call(sink, 'anything()', [], { callValue: 77 });
    await node.control.mine();
    expect((await latest(FAUCET)).transfers).toMatchObject([
      { kind: 'native', txid, ordinal: 0, sender: FAUCET, recipient: sink, contract: null, rawAmount: '77' },
    ]);
  });

  it('tells of TRX that a contract passed on, each movement by its place among those that took effect', async () => {
    const splitter = await node.control.script({
      steps: [
        { do: 'send', to: BOB, sun: '5', rejected: true },
        { do: 'send', to: ALICE, sun: '30' },
        { do: 'internal', to: ALICE, values: [{ sun: '1000' }], note: 'delegateResourceOfEnergy' },
        { do: 'send', to: CAROL, sun: '1' },
        { do: 'send', to: ALICE, sun: '12' },
      ],
    });
    const txid = await call(splitter, 'split()', [], { callValue: 43 });
    await node.control.mine();
    const { transfers } = await latest(ALICE, BOB);
    expect(transfers).toMatchObject([
      { kind: 'internal', txid, ordinal: 1, sender: splitter, recipient: ALICE, contract: null, rawAmount: '30' },
      { kind: 'internal', txid, ordinal: 3, sender: splitter, recipient: ALICE, contract: null, rawAmount: '12' },
    ]);
  });

  it.each(['delegateResourceOfEnergy', 'freezeForEnergy', 'unDelegateResourceOfBandwidth', ''])(
    'credits nothing from an internal transaction noted as "%s", which moves no TRX',
    async (note) => {
      const staking = await node.control.script({ steps: [{ do: 'internal', to: ALICE, values: [{ sun: '1000000000' }], note }] });
      await call(staking, 'delegate()', []);
      await node.control.mine();
      expect((await latest(ALICE)).transfers).toEqual([]);
    },
  );

  it('credits nothing of a call that failed as a whole, though its steps moved TRX and tokens', async () => {
    const failing = await node.control.script({
      steps: [
        { do: 'send', to: ALICE, sun: '30' },
        { do: 'log', address: USDT, topics: [TRANSFER, addressWord(FAUCET), addressWord(ALICE)], data: word(9n) },
      ],
      outcome: 'REVERT',
    });
    await call(failing, 'fail()', [], { callValue: 30 });
    await node.control.mine();
    expect((await latest(ALICE)).transfers).toEqual([]);
  });

  it('never takes a TRC-10 for TRX, neither sent nor passed on', async () => {
    await node.control.fundAsset(FAUCET, '1002000', 500n);
    const passing = await node.control.script({ steps: [{ do: 'internal', to: ALICE, values: [{ sun: '77', tokenId: '1002000' }, {}] }] });
    await broadcast((await web.transactionBuilder.sendToken(ALICE, 400, '1002000', FAUCET)) as never);
    await call(passing, 'pass()', []);
    await node.control.mine();
    expect((await latest(ALICE)).transfers).toEqual([]);
  });

  const shapes: [string, { topics: string[]; data: string }][] = [
    ['four topics (a collectible)', { topics: [TRANSFER, addressWord(FAUCET), addressWord(ALICE), word(1n)], data: word(5n) }],
    ['two topics', { topics: [TRANSFER, addressWord(ALICE)], data: word(5n) }],
    ['an amount of nothing', { topics: [TRANSFER, addressWord(FAUCET), addressWord(ALICE)], data: word(0n) }],
    ['two words of data', { topics: [TRANSFER, addressWord(FAUCET), addressWord(ALICE)], data: word(5n) + word(5n) }],
    ['no data', { topics: [TRANSFER, addressWord(FAUCET), addressWord(ALICE)], data: '' }],
    ['another event', { topics: ['ab'.repeat(32), addressWord(FAUCET), addressWord(ALICE)], data: word(5n) }],
    ['a recipient that is no plain address', { topics: [TRANSFER, addressWord(FAUCET), `${'0'.repeat(22)}41${toHex20(ALICE)}`], data: word(5n) }],
  ];
  it.each(shapes)('ignores a log with %s', async (_what, log) => {
    const contract = await node.control.script({ steps: [{ do: 'log', ...log }] });
    await call(contract, 'emit()', []);
    await node.control.mine();
    expect((await latest(ALICE)).transfers).toEqual([]);
  });

  it('reports a look-alike token under its own contract, never under the real one', async () => {
    const fake = await node.control.deployToken({ symbol: 'USDT', decimals: 6, returns: 'true' });
    await node.control.mint(fake, FAUCET, UNIT);
    await payToken(fake, ALICE, UNIT);
    await node.control.mine();
    expect((await latest(ALICE)).transfers).toMatchObject([{ kind: 'token', contract: fake, rawAmount: '1000000' }]);
  });

  it('tells several transfers in one transaction apart by their place in its logs', async () => {
    const batch = await node.control.script({
      steps: [
        { do: 'log', topics: ['ab'.repeat(32)], data: '' },
        { do: 'transferToken', contract: USDC, to: ALICE, raw: '30' },
        { do: 'transferToken', contract: USDC, to: ALICE, raw: '12' },
      ],
    });
    await node.control.mint(USDC, batch, 100n);
    await payToken(USDT, BOB, 1n);
    const txid = await call(batch, 'batch()', []);
    await node.control.mine();
    const { transfers } = await latest(ALICE);
    expect(transfers).toMatchObject([
      { txid, kind: 'token', ordinal: 1, position: 1, sender: batch, recipient: ALICE, rawAmount: '30' },
      { txid, kind: 'token', ordinal: 2, position: 1, sender: batch, recipient: ALICE, rawAmount: '12' },
    ]);
    expect((await reader.transaction(txid))?.transfers).toEqual(transfers);
  });

  it('is refused when the chain no longer has it', async () => {
    await pay(ALICE, 3n);
    await node.control.mine();
    const gone = await head();
    await node.control.reorg(1, 'drop');
    await expect(reader.block(gone.hash, watching(ALICE))).rejects.toThrow(/no longer on its chain/);
  });

  it('is refused, not published empty, while the node has no outcomes of it yet', async () => {
    await pay(ALICE, 3n);
    await node.control.mine();
    const { hash } = await head();
    await node.control.behave({ unreadableInfos: 1 });
    await expect(reader.block(hash, watching(ALICE))).rejects.toThrow(/1 transactions but 0 outcomes/);
    await node.control.recover();
    expect((await reader.block(hash, watching(ALICE))).transfers).toHaveLength(1);
  });

  it('of a chain that begins is read too, and what it allots is no transfer', async () => {
    const { hash } = await reader.blockAt(0);
    expect(await reader.block(hash, { has: () => true })).toMatchObject({ block: { height: 0 }, transfers: [], sent: [] });
  });
});

describe('a node that does not record internal transactions', () => {
  it('is found out by its many contract calls without one, and what it tells says that something was unseen', async () => {
    await node.control.behave({ saveInternalTx: false });
    const blind = tronReader(LOCAL, api, 4);
    const top = async () => (await blind.head()).latest;
    await payToken(USDC, BOB, 1n);
    await payToken(USDC, BOB, 2n);
    await node.control.mine(11);
    await payToken(USDC, BOB, 3n);
    await payToken(USDC, BOB, 4n);
    await payToken(USDC, BOB, 5n);
    await node.control.mine();
    expect(await blind.seesInternal()).toBe(true);
    // Looking at the same block again and again is no further evidence.
    for (let i = 0; i < 3; i++) expect(await blind.block((await top()).hash, watching(ALICE))).not.toHaveProperty('internalUnseen');
    await payToken(USDC, BOB, 6n);
    await node.control.mine();
    const { hash, height } = await top();
    expect(await blind.block(hash, watching(ALICE))).toMatchObject({ internalUnseen: true });
    expect(await blind.seesInternal()).toBe(false);
    expect(await blind.range(height, height, watching(ALICE))).toMatchObject({ internalUnseen: true });
    await node.control.mine();
    expect(await blind.block((await top()).hash, watching(ALICE))).not.toHaveProperty('internalUnseen');
    await node.control.recover();
  });

  it('is not what a node is that showed one, and that is found out once, not for every block', async () => {
    await expect(tronReader(LOCAL, openTronApi('http://127.0.0.1:1')).seesInternal()).rejects.toThrow(ChainUnavailable);
    expect(await reader.seesInternal()).toBe(true);
    asked.length = 0;
    expect(await reader.seesInternal()).toBe(true);
    expect(asked).toEqual([]);
  });
});

describe('a range', () => {
  it('says the same as its blocks one by one, and leaves quiet blocks out', async () => {
    const start = (await head()).height + 1;
    for (let i = 0; i < 3; i++) {
      await pay(ALICE, BigInt(i + 1));
      await payToken(USDT, ALICE, BigInt(i + 10));
      await node.control.mine(9);
    }
    const end = (await head()).height;
    const watched = watching(ALICE, FAUCET);
    const range = await reader.range(start, end, watched);
    const single = [];
    for (let height = start; height <= end; height++) single.push(await reader.block((await reader.blockAt(height)).hash, watched));
    expect(range.contents).toEqual(single.filter((content) => content.transfers.length + content.sent.length > 0));
    expect(range.contents).toHaveLength(3);
    expect(range.last).toEqual(single.at(-1)?.block);
    expect(range.parentHash).toBe(single[0]?.block.parentHash);
  });

  it('asks for the next blocks before these are read, and fails for them only where they are wanted', async () => {
    const start = (await head()).height + 1;
    for (let i = 0; i < 2; i++) {
      await pay(BOB, 1n);
      await node.control.mine(10);
    }
    const { height } = await head();
    const starts: unknown[] = [];
    const broken = tronReader(LOCAL, async (path, body, as) => {
      if (path === 'wallet/getblockbylimitnext') starts.push(body.startNum);
      if (starts.length > 1) throw new ChainUnavailable('it stopped answering');
      return api(path, body, as);
    });
    const { last, contents } = await broken.range(start, height, watching(BOB), { enough: 1 });
    expect([last.height, contents.length]).toEqual([start + 9, 1]);
    expect(starts).toEqual([start, start + 10]);
    starts.length = 0;
    await expect(broken.range(start, height, watching(BOB))).rejects.toThrow('it stopped answering');
  });

  it('beyond the head is refused, not answered short', async () => {
    const { height } = await head();
    await expect(reader.range(height, height + 5, watching(ALICE))).rejects.toThrow(ChainUnavailable);
  });
});

describe('a single transaction', () => {
  it('is told with its block, outcome and every transfer', async () => {
    const txid = await payToken(USDC, ALICE, 3n);
    await node.control.mine();
    const block = await head();
    expect(await reader.transaction(txid)).toMatchObject({
      txid,
      height: block.height,
      blockHash: block.hash,
      succeeded: true,
      transfers: [{ recipient: ALICE, rawAmount: '3' }],
    });
  });

  it('has no block while it waits, and is unknown when nobody sent it', async () => {
    const txid = await pay(ALICE, 1n);
    expect(await reader.transaction(txid)).toEqual({ txid, height: null, blockHash: null, succeeded: null, transfers: [] });
    await node.control.mine();
    expect(await reader.transaction(txid)).toMatchObject({ succeeded: true });
    expect(await reader.transaction('ab'.repeat(32))).toBeNull();
  });

  it('whose outcome the node does not have yet is not called unknown', async () => {
    const txid = await pay(ALICE, 1n);
    await node.control.mine();
    await node.control.behave({ unreadableInfos: 1 });
    await expect(reader.transaction(txid)).rejects.toThrow(/but not its outcome/);
    await node.control.recover();
  });
});

describe('a balance', () => {
  it('is told at the head, for TRX and token, and is nothing for an address nobody ever paid', async () => {
    await node.control.fund(CAROL, 5_000_000_000n);
    expect(await reader.balance(CAROL, null)).toBeGreaterThanOrEqual(5_000_000_000n);
    expect(await reader.balance(walletAt(77).address, null)).toBe(0n);
    expect(await reader.balance(walletAt(77).address, USDC)).toBe(0n);
  });

  it('of a contract that is none is not zero but an error, which is not held against the node', async () => {
    await expect(reader.balance(ALICE, BOB)).rejects.toThrow(ChainUnavailable);
    await expect(reader.balance(ALICE, BOB)).rejects.toMatchObject({ trouble: 'refused' });
  });

  it('is exact at every past height: deposits, payouts, fees, failures and internal transfers taken back', async () => {
    const wallet = walletAt(40);
    const splitter = await node.control.script({ steps: [{ do: 'send', to: wallet.address, sun: '333' }] });
    const recorded: { height: number; trx: bigint; usdt: bigint }[] = [];
    const record = async (): Promise<void> => {
      await node.control.mine();
      recorded.push({ height: (await head()).height, trx: await reader.balance(wallet.address, null), usdt: await reader.balance(wallet.address, USDT) });
    };
    const asWallet = async (contract: string, to: string, raw: bigint, feeLimit: number): Promise<void> => {
      const parameters = [
        { type: 'address', value: to },
        { type: 'uint256', value: raw.toString() },
      ];
      const built = await web.transactionBuilder.triggerSmartContract(
        contract,
        'transfer(address,uint256)',
        { feeLimit, txLocal: true },
        parameters,
        wallet.address,
      );
      await broadcast(built.transaction as never, wallet.privateKey);
    };
    await record();
    await pay(wallet.address, 100n * UNIT);
    await record();
    await payToken(USDT, wallet.address, 50n * UNIT);
    await record();
    await asWallet(USDT, BOB, 20n * UNIT, 100_000_000);
    await record();
    await asWallet(USDT, BOB, 20n * UNIT, 1_000);
    await record();
    await pay(BOB, 7n * UNIT, wallet);
    await record();
    await pay(wallet.address, UNIT, wallet).catch(() => undefined);
    await call(splitter, 'split()', [], { callValue: 333 });
    await record();
    await node.control.mine(25);
    expect(new Set(recorded.map(({ trx }) => trx)).size).toBe(recorded.length - 1);
    for (const { height, trx, usdt } of recorded) {
      expect(await reader.balance(wallet.address, null, height)).toBe(trx);
      expect(await reader.balance(wallet.address, USDT, height)).toBe(usdt);
    }
  });

  it('of a wallet that was funded before anybody watched it is exact from its first block on', async () => {
    const wallet = walletAt(41).address;
    await node.control.fund(wallet, 9n * UNIT);
    await pay(wallet, UNIT);
    await node.control.mine(2);
    const watchedFrom = (await head()).height;
    await pay(wallet, 2n * UNIT);
    await node.control.mine(2);
    expect(await reader.balance(wallet, null, watchedFrom - 1)).toBe(10n * UNIT);
    expect(await reader.balance(wallet, null, 0)).toBe(9n * UNIT);
  });

  it('far back is exact too, and near the head costs its blocks once for many addresses', async () => {
    const wallet = walletAt(43).address;
    await pay(wallet, UNIT);
    await node.control.mine(90);
    const { height } = await head();
    expect(await reader.balance(wallet, null, height - 88)).toBe(UNIT);
    expect(await reader.balance(wallet, null, height - 90)).toBe(0n);
    asked.length = 0;
    for (const address of [wallet, ALICE, BOB, CAROL]) await reader.balance(address, null, height - 20);
    expect(asked.filter((path) => path === 'wallet/getblockbylimitnext').length).toBeLessThanOrEqual(3);
  });

  it('at a height nobody mined yet is an error', async () => {
    await expect(reader.balance(ALICE, null, (await head()).height + 1)).rejects.toThrow(/below block/);
  });

  it('is taken again when a block comes in between, so that it never belongs to another block', async () => {
    const wallet = walletAt(42).address;
    const { height } = await head();
    let raced = 0;
    const racing = tronReader(LOCAL, async (path, body) => {
      const answer = await api(path, body);
      if (path === 'wallet/getaccount' && raced++ < 2) {
        await pay(wallet, UNIT);
        await node.control.mine();
      }
      return answer;
    });
    expect(await racing.balance(wallet, null, height)).toBe(0n);
    expect(raced).toBe(3);
    expect(await racing.balance(wallet, null, height + 1)).toBe(UNIT);
  });

  it('of a node whose head never rests is an error, not a guess', async () => {
    const restless = tronReader(LOCAL, async (path, body) => {
      const answer = await api(path, body);
      if (path === 'wallet/getaccount') await node.control.mine();
      return answer;
    });
    await expect(restless.balance(ALICE, null, 1)).rejects.toThrow(/head moved/);
  });
});

describe('a node that is away', () => {
  it('is an error, never an empty answer', async () => {
    await expect(tronReader(LOCAL, openTronApi('http://127.0.0.1:1')).head()).rejects.toMatchObject({ name: 'ChainUnavailable', trouble: 'down' });
  });
});
