import { concatHex, fromRlp, type Hex, hexToBytes, keccak256, parseGwei, sha256, toRlp } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { FAUCET } from '#ops/dev/local-evm.ts';
import { startAnvil } from '#ops/dev/services/anvil.ts';
import type { EvmNode } from '#ops/dev/services/evm-node.ts';
import type { Reader } from '#shared/chains/chain.ts';
import { encodeTransaction } from '#shared/chains/evm/envelope.ts';
import { evmReader } from '#shared/chains/evm/reader.ts';
import { openRpc } from '#shared/chains/evm/rpc.ts';
import { findTrieRoot } from '#shared/chains/evm/trie-root.ts';
import { atOnce } from '#shared/core/turns.ts';

/** The forks that the local node offers since Berlin, and what came with them. */
const FORKS: [fork: string, types: number[], fields: string[]][] = [
  ['berlin', [0, 1], []],
  ['london', [0, 1, 2], ['baseFeePerGas']],
  ['paris', [0, 1, 2], ['baseFeePerGas']],
  ['shanghai', [0, 1, 2], ['withdrawalsRoot']],
  ['cancun', [0, 1, 2], ['blobGasUsed', 'excessBlobGas', 'parentBeaconBlockRoot']],
  ['prague', [0, 1, 2, 4], ['requestsHash']],
  ['osaka', [0, 1, 2, 4], ['requestsHash']],
  ['bpo2', [0, 1, 2, 4], ['requestsHash']],
];
const BLOBS: [fork: string, cells: boolean][] = [
  ['cancun', false],
  ['prague', false],
  ['osaka', true],
  ['bpo2', true],
];
const ALICE = '0x00000000000000000000000000000000000a11ce';
const CHAIN_ID = 31_337;
const EVERYONE = { has: () => true };
const account = privateKeyToAccount(FAUCET.privateKey as Hex);
const fees = { maxFeePerGas: parseGwei('20'), maxPriorityFeePerGas: parseGwei('1') };
const payment = { to: ALICE, gas: 300_000n, chainId: CHAIN_ID } as const;

async function signed(type: number, nonce: number): Promise<Hex> {
  const own = {
    0: { type: 'legacy', gasPrice: parseGwei('20') },
    1: { type: 'eip2930', gasPrice: parseGwei('20'), accessList: [{ address: ALICE, storageKeys: [`0x${'01'.repeat(32)}`] }] },
    2: { type: 'eip1559', ...fees },
    4: { type: 'eip7702', ...fees, authorizationList: [await account.signAuthorization({ chainId: CHAIN_ID, contractAddress: ALICE, nonce: nonce + 1 })] },
  }[type];
  return account.signTransaction({ ...payment, nonce, value: BigInt(type + 1), ...own } as never);
}

async function onFork<T>(hardfork: string, work: (node: EvmNode, reader: Reader) => Promise<T>): Promise<T> {
  const anvil = await startAnvil({ blockSeconds: 0, hardfork });
  try {
    return await work(anvil.node, evmReader({ name: 'local', chainId: String(CHAIN_ID) }, openRpc(anvil.url)));
  } finally {
    await anvil.stop();
  }
}

describe('headers, transactions and receipts give what the local node names', () => {
  it.each(FORKS)('at %s, with transactions of the types %j', (hardfork, types, fields) =>
    onFork(hardfork, async (node, reader) => {
      for (const [nonce, type] of types.entries()) await node.call('eth_sendRawTransaction', [await signed(type, nonce)]);
      await node.mine(3);
      const told = await node.call<Record<string, unknown>>('eth_getBlockByNumber', ['0x1', true]);
      for (const field of fields) expect(told[field]).toMatch(/^0x/);
      expect(await reader.genesisHash()).toBe(told.parentHash);
      const { transfers, sent } = await reader.block(String(told.hash), EVERYONE);
      const paid = transfers.filter(({ recipient }) => recipient === ALICE);
      expect(paid.map(({ rawAmount, unproven }) => [rawAmount, unproven])).toEqual(types.map((type) => [String(type + 1), undefined]));
      expect(sent.map(({ sender }) => sender)).toEqual(types.map(() => FAUCET.address.toLowerCase()));
      expect((await reader.range(0, 3, EVERYONE)).last.height).toBe(3);
    }),
  );

  // anvil makes the transactions' root of what is sent, blobs included, which is in no block: nothing else of it differs.
  it.each(BLOBS)('at %s, with a blob, but for the root that anvil makes of the blob too', (hardfork, cells) =>
    onFork(hardfork, async (node, reader) => {
      const raw = await blobTransaction({ ...payment, ...fees, value: 7n, nonce: 0 }, cells);
      await node.call('eth_sendRawTransaction', [raw]);
      await node.mine(2);
      const told = await node.call<Record<string, unknown> & { transactions: { hash: Hex }[] }>('eth_getBlockByNumber', ['0x1', true]);
      const [tx] = told.transactions as [{ hash: Hex }];
      expect(keccak256(encodeTransaction({ ...tx }, 3, String(CHAIN_ID)) as Uint8Array)).toBe(tx.hash);
      expect(atOnce(findTrieRoot([hexToBytes(raw)]))).toBe(told.transactionsRoot);
      expect((await reader.range(0, 2, { has: () => false })).last.height).toBe(2);
      const { transfers } = await reader.block(String(told.hash), EVERYONE);
      expect(transfers).toMatchObject([{ kind: 'native', recipient: ALICE, rawAmount: '7', sender: FAUCET.address.toLowerCase(), unproven: true }]);
    }),
  );
});

/**
 * One whose blob is nothing but zeros: commitment and proof of that are the point at infinity, which takes no trusted setup to find. Since Osaka
 * there is a proof for each of its 128 cells (EIP-7594).
 */
async function blobTransaction(fields: object, cells: boolean): Promise<Hex> {
  const infinity: Hex = `0xc0${'00'.repeat(47)}`;
  const blob: Hex = `0x${'00'.repeat(131_072)}`;
  const blobVersionedHashes = [`0x01${sha256(infinity).slice(4)}` as Hex];
  const signed = await account.signTransaction({
    ...fields,
    type: 'eip4844',
    maxFeePerBlobGas: parseGwei('20'),
    blobVersionedHashes,
    sidecars: false,
  } as never);
  const body = fromRlp(`0x${signed.slice(4)}`, 'hex');
  const proofs = Array.from({ length: cells ? 128 : 1 }, () => infinity);
  return concatHex(['0x03', toRlp([body, ...(cells ? (['0x01'] as const) : []), [blob], [infinity], proofs] as never, 'hex')]);
}
