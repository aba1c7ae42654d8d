import { type Hex, getContractAddress, keccak256, toFunctionSelector } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import contracts from '#ops/dev/contracts/tokens.json' with { type: 'json' };
import { deploy } from '#ops/dev/local-evm.ts';
import { callData } from '#ops/dev/services/evm-node.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { ChainUnavailable, type Reader, type WatchSet } from '#shared/chains/chain.ts';
import { evmReader } from '#shared/chains/evm/reader.ts';
import { openRpc } from '#shared/chains/evm/rpc.ts';
import { type Rpc, RpcRefused } from '#shared/chains/rpc.ts';
import type { Transfer } from '#shared/core/chain-events.ts';
import { aChain, type TestChain } from '#test/harness/chain.ts';

const ALICE = '0x00000000000000000000000000000000000a11ce';
const BOB = '0x0000000000000000000000000000000000000b0b';
const watching = (...addresses: string[]): WatchSet => ({ has: (address) => addresses.includes(address) });
const selector = (signature: string): string => toFunctionSelector(`function ${signature}`).slice(2);
const NETWORK = { name: 'local', chainId: '31337' };

let chain: TestChain;
let rpc: Rpc;
/** Asked by whichever dialect the test is about. */
let dialects: Record<'debug_traceBlockByHash' | 'trace_block', Reader>;
let passer: string;
let second: string;

beforeAll(async () => {
  chain = await aChain();
  rpc = openRpc(chain.url);
  const only = (method: string): Reader =>
    evmReader(NETWORK, (asked, params) =>
      /trace/.test(asked) && asked !== method ? Promise.reject(new RpcRefused(asked, -32_601, 'Method not found', undefined)) : rpc(asked, params),
    );
  dialects = { debug_traceBlockByHash: only('debug_traceBlockByHash'), trace_block: only('trace_block') };
  passer = await deploy(chain.node, 'Passer');
  second = await deploy(chain.node, 'Passer');
});
afterAll(() => chain.stop());

/** Makes a call in a block of its own and answers what both dialects tell of it; they must tell the same. */
async function toldAfter(call: { to: string; data: string; value?: bigint }, ...watched: string[]): Promise<{ txid: string; transfers: Transfer[] }> {
  const txid = await chain.node.send({ from: chain.faucet, value: 0n, gas: 2_000_000n, ...call });
  const { blockHash } = await waitFor(() => chain.node.receipt(txid), { what: `transaction ${txid}` });
  const [told, again] = await Promise.all(
    Object.values(dialects).map(async (reader) => {
      const block = await reader.block(blockHash, watching(...watched));
      const { height } = block.block;
      const { contents, internalUnseen } = await reader.range(height, height, watching(...watched));
      expect(contents.flatMap((content) => content.transfers)).toEqual(block.transfers);
      expect([internalUnseen, block.internalUnseen]).toEqual([undefined, undefined]);
      const alone = await reader.transaction(txid);
      expect(alone?.transfers.filter((one) => watched.includes(one.recipient) || watched.includes(one.sender))).toEqual(block.transfers);
      return block.transfers;
    }),
  );
  expect(again).toEqual(told);
  return { txid, transfers: told as Transfer[] };
}

const call = (signature: string, ...words: (string | bigint)[]): string => callData(selector(signature), ...words);

describe('coins that a contract passes on', () => {
  it('are told with the contract as their sender, beside what the transaction itself carried', async () => {
    const { txid, transfers } = await toldAfter({ to: passer, data: call('forward(address)', ALICE), value: 7n }, ALICE, passer);
    expect(transfers).toMatchObject([
      { kind: 'native', ordinal: 0, sender: chain.faucet, recipient: passer, rawAmount: '7' },
      { kind: 'internal', txid, ordinal: 1, sender: passer, recipient: ALICE, contract: null, rawAmount: '7' },
    ]);
  });

  it('are told each under its own number, whoever the others went to', async () => {
    const batch = call('batch(address,uint256,address,uint256)', BOB, 3n, ALICE, 4n);
    expect((await toldAfter({ to: passer, data: batch, value: 7n }, ALICE)).transfers).toMatchObject([{ ordinal: 2, recipient: ALICE, rawAmount: '4' }]);
    const twice = call('batch(address,uint256,address,uint256)', ALICE, 3n, ALICE, 4n);
    expect((await toldAfter({ to: passer, data: twice, value: 7n }, ALICE)).transfers).toMatchObject([
      { ordinal: 1, rawAmount: '3' },
      { ordinal: 2, rawAmount: '4' },
    ]);
  });

  it('are told when a dying contract leaves them', async () => {
    const { transfers } = await toldAfter({ to: passer, data: call('dieFor(address)', ALICE), value: 9n }, ALICE);
    // First to the contract that is to die, then from it.
    expect(transfers).toMatchObject([{ kind: 'internal', ordinal: 2, recipient: ALICE, rawAmount: '9' }]);
  });

  it('are told when they come with the creation of a contract at a watched address', async () => {
    const salt = `0x${'07'.repeat(32)}` as const;
    const born = getContractAddress({
      opcode: 'CREATE2',
      from: passer as Hex,
      salt,
      bytecodeHash: keccak256(contracts.Nothing.bytecode as Hex),
    }).toLowerCase();
    const { transfers } = await toldAfter({ to: passer, data: call('createWith(bytes32)', salt), value: 6n }, born);
    expect(transfers).toMatchObject([{ kind: 'internal', ordinal: 1, sender: passer, recipient: born, rawAmount: '6' }]);
  });

  it('are told of a smart wallet, and never of the code it borrows', async () => {
    const wallet = await deploy(chain.node, 'Wallet', passer.slice(2).padStart(64, '0'));
    const { transfers } = await toldAfter({ to: wallet, data: call('send(address,uint256)', ALICE, 5n), value: 8n }, ALICE, passer, wallet);
    expect(transfers).toMatchObject([
      { kind: 'native', sender: chain.faucet, recipient: wallet, rawAmount: '8' },
      { kind: 'internal', ordinal: 1, sender: wallet, recipient: ALICE, rawAmount: '5' },
    ]);
    expect(transfers).toHaveLength(2);
  });

  it('have a number that frames without any movement cannot change', async () => {
    const { transfers } = await toldAfter({ to: passer, data: call('fuss(address,uint256)', ALICE, 2n), value: 4n }, ALICE);
    expect(transfers).toMatchObject([{ ordinal: 1, recipient: ALICE, rawAmount: '2' }]);
  });
});

describe('coins that did not arrive', () => {
  it('because the whole transaction failed are not told', async () => {
    const { txid, transfers } = await toldAfter({ to: passer, data: call('forwardAndFail(address)', ALICE), value: 7n }, ALICE);
    expect((await chain.node.receipt(txid))?.status).toBe('0x0');
    expect(transfers).toEqual([]);
  });

  it('because the call around them failed are not told, though nothing about them says so', async () => {
    const { txid, transfers } = await toldAfter({ to: passer, data: call('tryAndFail(address)', ALICE), value: 7n }, ALICE);
    expect((await chain.node.receipt(txid))?.status).toBe('0x1');
    expect(transfers).toEqual([]);
    expect(await chain.balance(passer)).toBeGreaterThan(0n);
  });

  it('because a call far above them failed are not told either', async () => {
    expect((await toldAfter({ to: passer, data: call('failAbove(address,address)', ALICE, second), value: 7n }, ALICE)).transfers).toEqual([]);
  });

  it('do not count, so that the real ones after them have the number of what happened', async () => {
    const { transfers } = await toldAfter({ to: passer, data: call('tryThenSend(address,uint256)', ALICE, 3n), value: 7n }, ALICE);
    expect(transfers).toMatchObject([{ ordinal: 1, recipient: ALICE, rawAmount: '3' }]);
    expect(transfers).toHaveLength(1);
  });

  it('leave exactly the balance that was told', async () => {
    const carol = '0x0000000000000000000000000000000000ca7011';
    const told: Transfer[] = [];
    for (const [signature, ...words] of [
      ['forward(address)', carol],
      ['tryAndFail(address)', carol],
      ['tryThenSend(address,uint256)', carol, 3n],
      ['failAbove(address,address)', carol, second],
      ['dieFor(address)', carol],
      ['fuss(address,uint256)', carol, 2n],
      ['batch(address,uint256,address,uint256)', carol, 1n, carol, 2n],
    ] as const)
      told.push(...(await toldAfter({ to: passer, data: call(signature, ...words), value: 7n }, carol)).transfers);
    expect(await chain.balance(carol)).toBe(told.reduce((sum, one) => sum + BigInt(one.rawAmount), 0n));
  });
});

describe('what an endpoint offers', () => {
  const asked: string[] = [];
  /** A node that refuses every trace in these words. */
  const refusing = (code: number, message: string): Reader =>
    evmReader(NETWORK, (method, params) => {
      asked.push(method);
      return /trace/.test(method) ? Promise.reject(new RpcRefused(method, code, message, undefined)) : rpc(method, params);
    });

  it('is told of an endpoint with traces in either dialect', async () => {
    for (const reader of Object.values(dialects)) expect(await reader.seesInternal()).toBe(true);
  });

  it.each([
    [-32_601, 'the method debug_traceBlockByHash does not exist/is not available'],
    [-32_000, 'method not supported'],
    [-32_004, 'trace_block is not whitelisted'],
    [-32_600, 'debug_traceBlockByHash is only available on the Growth plan; please upgrade'],
  ])('is nothing when it refuses with %s %s: it says so with every block, and is asked once', async (code, message) => {
    const reader = refusing(code, message);
    const { latest } = await reader.head();
    expect(await reader.block(latest.hash, watching(ALICE))).toMatchObject({ internalUnseen: true });
    expect(await reader.seesInternal()).toBe(false);
    asked.length = 0;
    expect(await reader.range(1, latest.height, watching(ALICE))).toMatchObject({ internalUnseen: true });
    const txid = await chain.payAndMine(ALICE, null, 1n);
    expect(await reader.transaction(txid)).toMatchObject({ internalUnseen: true, transfers: [{ kind: 'native' }] });
    expect(asked.filter((method) => /trace/.test(method))).toEqual([]);
  });

  it('stays what it is when one block is too old for it; that block says so', async () => {
    let old = true;
    const reader = evmReader(NETWORK, (method, params) =>
      old && /trace/.test(method)
        ? Promise.reject(new RpcRefused(method, -32_000, 'required historical state unavailable (reexec=128)', undefined))
        : rpc(method, params),
    );
    const { latest } = await reader.head();
    expect(await reader.block(latest.hash, watching(ALICE))).toMatchObject({ internalUnseen: true });
    old = false;
    expect((await reader.block(latest.hash, watching(ALICE))).internalUnseen).toBeUndefined();
    expect(await reader.seesInternal()).toBe(true);
  });

  it.each(['execution timeout', 'block not found', 'something nobody expected'])('is no answer when it refuses with %s', async (message) => {
    const reader = refusing(-32_000, message);
    const { latest } = await reader.head();
    await expect(reader.block(latest.hash, watching(ALICE))).rejects.toThrow(ChainUnavailable);
  });

  it.each(['execution timeout', 'something nobody expected'])(
    'is not enough for a block it keeps failing with %s: that one is read without, and says so',
    async (message) => {
      const reader = refusing(-32_000, message);
      const { latest } = await reader.head();
      for (let i = 0; i < 4; i++) await expect(reader.block(latest.hash, watching(ALICE))).rejects.toThrow(ChainUnavailable);
      expect(await reader.block(latest.hash, watching(ALICE))).toMatchObject({ internalUnseen: true });
      const away = refusing(-32_000, 'block not found');
      for (let i = 0; i < 6; i++) await expect(away.block(latest.hash, watching(ALICE))).rejects.toThrow(ChainUnavailable);
    },
  );

  it('cannot be exhausted by transactions that it traces otherwise than it executed them: such a block is read without', async () => {
    const odd = evmReader(NETWORK, async (method, params) => {
      const answer = await rpc(method, params);
      return method === 'trace_block' ? (answer as object[]).map((entry) => ({ ...entry, type: 'a new kind' })) : answer;
    });
    await chain.payAndMine(ALICE, null, 1n);
    const { latest } = await odd.head();
    for (let i = 0; i < 9; i++) await expect(odd.block(latest.hash, watching(ALICE))).rejects.toThrow(ChainUnavailable);
    expect(await odd.block(latest.hash, watching(ALICE))).toMatchObject({ internalUnseen: true, transfers: [{ kind: 'native' }] });
  });

  it('is not asked for a while after three such blocks in a row', async () => {
    const reader = refusing(-32_000, 'execution timeout');
    const hashes: string[] = [];
    for (let i = 0; i < 4; i++) {
      await chain.payAndMine(ALICE, null, 1n);
      hashes.push((await reader.head()).latest.hash);
    }
    for (const hash of hashes.slice(0, 3)) {
      for (let i = 0; i < 4; i++) await expect(reader.block(hash, watching(ALICE))).rejects.toThrow(ChainUnavailable);
      await reader.block(hash, watching(ALICE));
    }
    asked.length = 0;
    expect(await reader.block(hashes[3] as string, watching(ALICE))).toMatchObject({ internalUnseen: true });
    expect(asked.filter((method) => /trace/.test(method))).toEqual([]);
  });

  it('is found out again after the endpoint was away', async () => {
    let mode: 'without' | 'away' | 'with' = 'without';
    const reader = evmReader(NETWORK, (method, params) => {
      if (mode === 'away') return Promise.reject(new ChainUnavailable('away', { trouble: 'down' }));
      return mode === 'without' && /trace/.test(method) ? Promise.reject(new RpcRefused(method, -32_601, 'no', undefined)) : rpc(method, params);
    });
    const { latest } = await reader.head();
    expect(await reader.seesInternal()).toBe(false);
    mode = 'with';
    expect(await reader.block(latest.hash, watching(ALICE))).toMatchObject({ internalUnseen: true });
    mode = 'away';
    await expect(reader.head()).rejects.toThrow(ChainUnavailable);
    mode = 'with';
    expect(await reader.seesInternal()).toBe(true);
  });

  it('is not asked about blocks in which nothing can have moved', async () => {
    await chain.mine(3);
    const reader = refusing(-32_601, 'no');
    const { latest } = await reader.head();
    asked.length = 0;
    expect((await reader.range(latest.height - 2, latest.height, watching(ALICE))).internalUnseen).toBeUndefined();
    expect(asked.filter((method) => /trace/.test(method))).toEqual([]);
  });
});

describe('a lie in the traces of a block is refused, not published:', () => {
  type Fields = Record<string, unknown>;
  /** Changes the answer's entries on the way; `top` is the outermost frame of the second transaction. */
  const lying = (method: string, change: (entries: Fields[], top: Fields) => unknown): Reader =>
    evmReader(NETWORK, async (asked, params) => {
      if (/trace/.test(asked) && asked !== method) throw new RpcRefused(asked, -32_601, 'Method not found', undefined);
      const answer = await rpc(asked, params);
      if (asked !== method) return answer;
      const entries = structuredClone(answer) as Fields[];
      return change(entries, (method === 'trace_block' ? entries.find((one) => one.transactionPosition === 1) : entries[1]?.result) as Fields);
    });
  const OTHER = `0x${'ab'.repeat(32)}`;
  const NOBODY = `0x${'33'.repeat(20)}`;
  let hash: string;
  beforeAll(async () => {
    await chain.node.call('evm_setAutomine', [false]);
    const data = call('forward(address)', ALICE);
    for (let i = 0; i < 2; i++) await chain.node.send({ from: chain.faucet, to: passer, data, value: 7n, gas: 500_000n });
    await chain.mine();
    await chain.node.call('evm_setAutomine', [true]);
    hash = await chain.headHash();
    expect((await (dialects.trace_block as Reader).block(hash, watching(ALICE))).transfers).toHaveLength(2);
  });

  it.each<[string, (entries: Fields[], top: Fields) => unknown]>([
    ['no traces at all', () => null],
    ['an empty list', () => []],
    ['one transaction left out', (entries) => entries.slice(1)],
    ['one transaction twice', (entries) => [...entries, entries[1]]],
    ['another order', (entries) => entries.toReversed()],
    ['another transaction', (entries) => entries.map((one) => ({ ...one, txHash: OTHER }))],
    ['no transaction named', (entries) => entries.map((one) => ({ result: one.result }))],
    ['a transaction without its frames', (entries) => entries.map((one) => ({ txHash: one.txHash, error: 'timeout' }))],
    ['another sender', (entries, top) => Object.assign(top, { from: NOBODY }) && entries],
    ['another recipient', (entries, top) => Object.assign(top, { to: NOBODY }) && entries],
    ['another value', (entries, top) => Object.assign(top, { value: '0x8' }) && entries],
    ['a failure that was none', (entries, top) => Object.assign(top, { error: 'execution reverted' }) && entries],
    ['a frame that is none', (entries, top) => Object.assign(top, { calls: ['0x'] }) && entries],
  ])('%s', async (_what, change) => {
    const reader = lying('debug_traceBlockByHash', change);
    await expect(reader.block(hash, watching(ALICE, passer))).rejects.toThrow(ChainUnavailable);
  });

  it.each<[string, (entries: Fields[], top: Fields) => unknown]>([
    ['an empty list', () => []],
    ['another block', (entries) => entries.map((one) => ({ ...one, blockHash: OTHER }))],
    ['the transactions themselves left out', (entries) => entries.filter((one) => (one.traceAddress as []).length > 0)],
    ['one transaction left out', (entries) => entries.filter((one) => one.transactionPosition !== 0)],
    ['a failure that was none', (entries, top) => Object.assign(top, { error: 'Reverted' }) && entries],
    ['another value', (entries, top) => Object.assign(top.action as Fields, { value: '0x8' }) && entries],
  ])('%s, of trace_block', async (_what, change) => {
    await expect(lying('trace_block', change).block(hash, watching(ALICE, passer))).rejects.toThrow(ChainUnavailable);
  });
});

describe('where the chain is said to log every movement of coins', () => {
  it('it is not traced, and not believed when it does not', async () => {
    const asked: string[] = [];
    const reader = evmReader({ ...NETWORK, coinLogs: true }, (method, params) => {
      asked.push(method);
      return rpc(method, params);
    });
    expect(await reader.seesInternal()).toBe(true);
    await chain.payAndMine(ALICE, null, 5n);
    await expect(reader.block(await chain.headHash(), watching(ALICE))).rejects.toThrow(/coinLogs/);
    expect(asked.filter((method) => /trace/.test(method))).toEqual([]);
  });
});
