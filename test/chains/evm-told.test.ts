import { getContractAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { ChainUnavailable, type BlockContent } from '#shared/chains/chain.ts';
import { type HeaderTrust, openHeaderTrust } from '#shared/chains/evm/header-trust.ts';
import { evmReader } from '#shared/chains/evm/reader.ts';
import { RpcRefused } from '#shared/chains/rpc.ts';
import { type Fields, type Made, madeBlock, PAYER_ADDRESS, signedPayment } from '#test/fixtures/made-evm-block.ts';
import { addressWord, TRANSFER, word } from './hostile/evm-bench.ts';

const TO = privateKeyToAccount(`0x${'07'.repeat(32)}`).address.toLowerCase();
const TOKEN = `0x${'22'.repeat(20)}`;
const CREATED = getContractAddress({ from: PAYER_ADDRESS as `0x${string}`, nonce: 0n }).toLowerCase();
const V = 6_000_000_000_000_001n;
const hexOf = (value: bigint): string => `0x${value.toString(16)}`;

interface Told {
  made: Made[];
  /** Of its header, or beside it. */
  block?: Fields;
  traces?: Fields[];
}
type Got = [kind: string, rawAmount: bigint, unproven?: true];

const LOCAL = { name: 'local', chainId: '31337' };

async function read({ made, block: over, traces }: Told, trusts?: HeaderTrust): Promise<BlockContent> {
  const { block, receipts } = madeBlock(made, over);
  const frames = block.transactions.map(({ hash, from, to, value }, i) => ({
    txHash: hash,
    result: {
      type: to === null ? 'CREATE' : 'CALL',
      from,
      to: to ?? receipts[i]?.contractAddress,
      value,
      gasUsed: '0x5208',
      ...(receipts[i]?.status === '0x0' ? { error: 'reverted' } : {}),
    },
  }));
  const reader = evmReader(
    LOCAL,
    async (method, [, full]) => {
      if (method === 'eth_getBlockByHash') return full === true ? block : { ...block, transactions: block.transactions.map(({ hash }) => hash) };
      if (method === 'eth_getBlockReceipts') return receipts;
      if (method === 'debug_traceBlockByHash') return frames.map((frame, i) => ({ ...frame, result: { ...frame.result, ...traces?.[i] } }));
      throw new RpcRefused(method, -32_601, 'Method not found', undefined);
    },
    trusts,
  );
  return reader.block(block.hash, { has: (address) => address === TO || address === CREATED });
}

const one = async (receipt: Fields = {}, tx: Fields = {}): Promise<Made[]> => [{ tx: { ...(await signedPayment(TO, V)), ...tx }, receipt }];
const upper = (text: string): string => `0x${text.slice(2).toUpperCase()}`;
const logOf = (address: string, raw: bigint): Fields => ({
  address,
  topics: [`0x${TRANSFER}`, `0x${addressWord(address)}`, `0x${addressWord(TO)}`],
  data: `0x${word(raw)}`,
});
const unsigned = (tx: Fields): Fields => ({ from: PAYER_ADDRESS, to: TO, value: hexOf(V), nonce: '0x0', gas: '0x5208', gasPrice: '0x0', input: '0x', ...tx });
const deposit = unsigned({ type: '0x7e', mint: hexOf(1000n * V), sourceHash: `0x${'14'.repeat(32)}`, isSystemTx: false, v: '0x0', r: '0x0', s: '0x0' });
const paid: Got[] = [['native', V]];

describe('what nodes and chains tell, in agreement with every hash and root, is read as what it is:', () => {
  it.each<[name: string, reason: string, told: () => Promise<Told>, gets: Got[]]>([
    [
      'a block with withdrawals to the address',
      'stakers are paid in the block’s body: no transaction, no deposit (chains 1.2)',
      async () => ({
        made: await one(),
        block: { withdrawals: [{ index: '0x1', validatorIndex: '0x1', address: TO, amount: '0x3b9aca00' }], withdrawalsRoot: `0x${'11'.repeat(32)}` },
      }),
      paid,
    ],
    ['a block that the address made', 'rewards of old chains are in no transaction either', async () => ({ made: await one(), block: { miner: TO } }), paid],
    [
      'a deposit from another layer that mints more than it pays',
      'OP-stack type 0x7e: `mint` goes to the sender, only `value` to the recipient',
      async () => ({ made: [{ tx: deposit, receipt: { depositNonce: '0x1', depositReceiptVersion: '0x1' } }] }),
      paid,
    ],
    ['the same before Canyon, when no root covered its nonce', 'receipts of that time', async () => ({ made: [{ tx: deposit }] }), paid],
    [
      'coins handed over from Ethereum to Arbitrum',
      'type 0x64 of nitro, which nobody signs',
      async () => ({ made: [{ tx: unsigned({ type: '0x64', chainId: '0x7a69', requestId: `0x${'15'.repeat(32)}` }) }] }),
      paid,
    ],
    [
      'a ticket of Arbitrum that is retried',
      'type 0x68',
      async () => ({
        made: [
          {
            tx: unsigned({ type: '0x68', chainId: '0x7a69', ticketId: `0x${'15'.repeat(32)}`, refundTo: TO, maxRefund: '0x1', submissionFeeRefund: '0x0' }),
          },
        ],
      }),
      paid,
    ],
    [
      'a transaction of a type nobody has heard of',
      'new types come with every fork: value and status keep their meaning, but nothing proves them',
      async () => ({ made: [{ tx: unsigned({ type: '0x7d', amount: hexOf(1000n * V) }) }] }),
      [['native', V, true]],
    ],
    [
      'a payment beside one of a type nobody has heard of',
      'neither root of the block can be made any more',
      async () => ({ made: [...(await one()), { tx: unsigned({ type: '0x7d', to: TOKEN }) }] }),
      [['native', V, true]],
    ],
    [
      'everything in upper case',
      'gateways differ in how they write hex; an address is the same in both',
      async () => ({ made: await one({ to: upper(TO), from: upper(PAYER_ADDRESS) }, { to: upper(TO), from: upper(PAYER_ADDRESS) }) }),
      paid,
    ],
    [
      'fields nobody asked for',
      'nodes add what they please to receipts and transactions',
      async () => ({
        made: await one(
          { root: null, value: hexOf(10n * V), internalTransactions: [{ to: TO, value: hexOf(V) }], feePayer: PAYER_ADDRESS },
          { amount: hexOf(10n * V) },
        ),
      }),
      paid,
    ],
    [
      'a contract created at the address, with coins',
      'a creation has no recipient: the coins are where the contract is',
      async () => ({ made: [{ tx: await signedPayment(null, V), receipt: { contractAddress: CREATED } }] }),
      paid,
    ],
    [
      'a failed creation at the address, with coins',
      'the receipt names the contract that never was',
      async () => ({ made: [{ tx: await signedPayment(null, V), receipt: { contractAddress: CREATED, status: '0x0' } }] }),
      [],
    ],
    [
      'frames that move more coins, all of them below one that failed',
      'children of a failed frame carry no error: nodes list them as if they had happened',
      async () => ({
        made: await one(),
        traces: [
          {
            calls: [
              { type: 'CALL', from: TO, to: TO, value: hexOf(5n * V), error: 'reverted', calls: [{ type: 'CALL', from: TOKEN, to: TO, value: hexOf(5n * V) }] },
            ],
          },
        ],
      }),
      paid,
    ],
    [
      'a transfer of the token in a log of the same transaction',
      'a contract at the address may call a token when it is paid',
      async () => ({ made: await one({ logs: [logOf(TOKEN, 8_000_001n)] }) }),
      [...paid, ['token', 8_000_001n]],
    ],
    [
      'a coin log of a chain that has them, where the switch is off',
      'EIP-7708 tells the value a second time in a log',
      async () => ({ made: await one({ logs: [logOf('0xfffffffffffffffffffffffffffffffffffffffe', V)] }) }),
      paid,
    ],
    [
      'a cost far above what was paid',
      'rollups take a fee for publishing; it concerns the sender alone',
      async () => ({ made: await one({ l1Fee: hexOf(10n ** 20n), l1GasUsed: '0x1', effectiveGasPrice: hexOf(10n ** 15n) }) }),
      paid,
    ],
  ])('%s (%s)', async (_name, _reason, told, gets) => {
    const { transfers } = await read(await told());
    expect(transfers.map(({ kind, rawAmount, unproven }) => [kind, BigInt(rawAmount), ...(unproven === undefined ? [] : [unproven])])).toEqual(gets);
  });
});

describe('what agrees with every hash and root but not with itself is refused:', () => {
  it.each<[string, () => Promise<Told>]>([
    ['a contract created elsewhere than its creator can', async () => ({ made: [{ tx: await signedPayment(null, V), receipt: { contractAddress: TO } }] })],
    ['a receipt of another type than its transaction', async () => ({ made: await one({ type: '0x1' }) })],
    ['another sender than who signed, in transaction and receipt', async () => ({ made: await one({}, { from: TOKEN }) })],
    ['another value than was signed', async () => ({ made: await one({}, { value: hexOf(V + 1n) }) })],
  ])('%s', async (_name, told) => {
    await expect(read(await told())).rejects.toThrow(ChainUnavailable);
  });
});

describe('a header with a field that nobody here knows', () => {
  it('is read like any other where its known fields give its hash', async () => {
    expect((await read({ made: await one(), block: { milliTimestamp: '0x1' } })).transfers).toHaveLength(1);
  });

  it('waits, and names it, where they do not', async () => {
    const told = { made: await one(), block: { hash: `0x${'ab'.repeat(32)}`, shinyRoot: `0x${'cd'.repeat(32)}` } };
    await expect(read(told)).rejects.toMatchObject({ unknownFields: ['shinyRoot'], trouble: 'refused' });
    await expect(read(told)).rejects.toThrow(/shinyRoot/);
  });

  it('is read once two providers told the very same header, and by nobody’s word alone', async () => {
    const [first, second] = [openHeaderTrust(async () => new Set(), 2), openHeaderTrust(async () => new Set(), 2)];
    const told = { made: await one(), block: { hash: `0x${'ab'.repeat(32)}`, shinyRoot: `0x${'cd'.repeat(32)}` } };
    for (const provider of ['a.example', 'a.example']) await expect(read(told, first(provider))).rejects.toThrow(/shinyRoot/);
    expect((await read(told, first('b.example'))).transfers).toHaveLength(1);
    expect((await read(told, first('a.example'))).transfers).toHaveLength(1);
    // The same hash over another header is another word.
    await expect(read(told, second('a.example'))).rejects.toThrow(/shinyRoot/);
    await expect(read({ ...told, block: { ...told.block, timestamp: '0x2' } }, second('b.example'))).rejects.toThrow(/shinyRoot/);
  });

  it('is read once two people accepted every such field of it, and those alone', async () => {
    const accepting = (...fields: string[]): HeaderTrust => openHeaderTrust(async () => new Set(fields), 1)('a.example');
    const told = { made: await one(), block: { hash: `0x${'ab'.repeat(32)}`, shinyRoot: `0x${'cd'.repeat(32)}`, dullRoot: '0x1' } };
    await expect(read(told, accepting('shinyRoot'))).rejects.toMatchObject({ unknownFields: ['shinyRoot', 'dullRoot'] });
    expect((await read(told, accepting('shinyRoot', 'dullRoot'))).transfers).toHaveLength(1);
    // What is accepted is a field, not whatever a node says: the roots in such a header still hold.
    await expect(read({ ...told, block: { ...told.block, receiptsRoot: `0x${'ef'.repeat(32)}` } }, accepting('shinyRoot', 'dullRoot'))).rejects.toThrow(
      /receipts/,
    );
    await expect(read({ made: await one(), block: { hash: `0x${'ab'.repeat(32)}` } }, accepting('shinyRoot', 'dullRoot'))).rejects.toThrow(
      /not that of its header/,
    );
  });

  it('shows no transfer as proven by what two people accepted, where another provider can be asked about the transfer', async () => {
    const { block } = madeBlock(await one());
    // The hash of a real block over a payment that nobody mined: whoever is asked for that hash alone tells it too.
    const forged = { made: [{ tx: await signedPayment(TO, 1_000n * V) }], block: { hash: block.hash, shinyRoot: `0x${'cd'.repeat(32)}` } };
    const accepting = (providers: number) => openHeaderTrust(async () => new Set(['shinyRoot']), providers);
    const [two, alone] = [accepting(2), accepting(1)];
    expect((await read(forged, two('a.example'))).transfers).toMatchObject([{ unproven: true }]);
    expect((await read(forged, alone('a.example'))).transfers[0]?.unproven).toBeUndefined();
    // Told by another one too, it is as good as proven.
    expect((await read(forged, two('b.example'))).transfers[0]?.unproven).toBeUndefined();
  });

  it('of a chain whose hashes are made of something else says so', async () => {
    const told = { made: await one(), block: { hash: `0x${'ab'.repeat(32)}`, l1BatchNumber: '0x1' } };
    await expect(read(told)).rejects.toThrow(/ZKsync/);
  });
});
