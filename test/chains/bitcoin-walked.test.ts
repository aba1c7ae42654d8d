import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAddressTable } from '#indexer/address-table.ts';
import { bitcoinParams } from '#shared/chains/bitcoin/params.ts';
import { bitcoinReader } from '#shared/chains/bitcoin/reader.ts';
import { openBitcoinRpc } from '#shared/chains/bitcoin/rpc.ts';
import { addressOfScript } from '#shared/chains/bitcoin/script.ts';
import { readAnswer } from '#shared/chains/bitcoin/unread-hex.ts';
import { ChainUnavailable, type Reader, type WatchSet } from '#shared/chains/chain.ts';
import type { Rpc } from '#shared/chains/rpc.ts';
import type { AddressKind } from '#ops/devnet/bitcoin/sign.ts';
import { refuse } from '#test/fixtures/recorded-bitcoin.ts';
import { aBitcoinChain, type BitcoinChain } from '#test/harness/bitcoin-chain.ts';
import { aPurse, type Purse } from '#test/harness/bitcoin-purse.ts';

const LOCAL = { name: 'bitcoin', chainId: 'regtest' };
const fresh = (): string => addressOfScript(`0014${randomBytes(20).toString('hex')}`, bitcoinParams('regtest')) as string;

/** What an indexer watches with: it knows keys, so that blocks are walked over. */
function table(...addresses: string[]): WatchSet {
  const made = createAddressTable();
  for (const address of addresses) made.add(address);
  return made;
}

/** The same without keys, so that every block is read with care. */
const plain = (watched: WatchSet): WatchSet => ({ has: (address) => watched.has(address) });

let chain: BitcoinChain;
let rpc: Rpc;
let reader: Reader;
const asked: string[] = [];
type Answer = (method: string, params: readonly unknown[], real: () => Promise<unknown>) => unknown;

/** A node that answers some questions in its own way. */
const answering = (answer: Answer): Reader =>
  bitcoinReader(LOCAL, async (method, params, as) => {
    asked.push(method === 'getblock' || method === 'getrawtransaction' ? `${method} ${params[1]}` : method);
    return answer(method, params, () => rpc(method, params, as));
  });

beforeAll(async () => {
  chain = await aBitcoinChain({ blockSeconds: 0 });
  rpc = openBitcoinRpc(chain.url);
  reader = answering((_method, _params, real) => real());
});
beforeEach(() => void asked.splice(0));
afterAll(() => chain.stop());

const tip = async (): Promise<{ hash: string; height: number }> => (await reader.head()).latest;

/** What a block holds, read with care; what a walk over it must say too. */
async function bothWays(hash: string, watched: WatchSet): Promise<Awaited<ReturnType<Reader['block']>>> {
  const careful = await reader.block(hash, plain(watched));
  expect(asked).toContain('getblock 3');
  asked.splice(0);
  expect(await reader.block(hash, watched)).toEqual(careful);
  return careful;
}

describe('a block that is walked over says what reading it with care says', () => {
  it('of payments to us, and asks for nothing but what pays us', async () => {
    const [one, two] = [fresh(), fresh()];
    await chain.purse.pay([{ to: fresh(), rawAmount: 1_000n }]);
    await chain.purse.pay([
      { to: one, rawAmount: 2_000n },
      { to: fresh(), rawAmount: 3_000n },
      { to: two, rawAmount: 4_000n },
      { to: one, rawAmount: 5_000n },
    ]);
    await chain.mine();
    const { transfers, sent } = await bothWays((await tip()).hash, table(one, two));
    expect([transfers.map(({ rawAmount }) => rawAmount), sent]).toEqual([['2000', '4000', '5000'], []]);
    expect(asked.toSorted()).toEqual(['getblock 0', 'getblockheader', 'getrawtransaction 2']);
  });

  it('of a block without anything of ours, in two questions', async () => {
    await chain.purse.pay([{ to: fresh(), rawAmount: 1_000n }]);
    await chain.mine();
    expect((await bothWays((await tip()).hash, table(fresh()))).transfers).toEqual([]);
    expect(asked.toSorted()).toEqual(['getblock 0', 'getblockheader']);
  });

  it('of what a coinbase pays us, without a question about what it spends', async () => {
    const address = fresh();
    await chain.node.call('generatetoaddress', [1, address]);
    const { transfers } = await bothWays((await tip()).hash, table(address));
    expect(transfers).toMatchObject([{ recipient: address, sender: 'coinbase', coinbase: true }]);
    expect(asked.toSorted()).toEqual(['getblock 0', 'getblockheader']);
  });

  it('of what we spend, whatever it pays, with its fee and all that it spends', async () => {
    const payer = await chain.aPayer(50_000n);
    await chain.payAndMine(payer.address, null, 70_000n);
    await payer.look();
    const { txid } = await payer.pay([{ to: fresh(), rawAmount: 110_000n }], { fee: 1_000n });
    await chain.mine();
    const { transfers, sent } = await bothWays((await tip()).hash, table(payer.address));
    expect(transfers).toHaveLength(2);
    expect(sent).toMatchObject([{ txid, sender: payer.address, rawFee: '1000', spends: [{}, {}] }]);
    expect(asked).not.toContain('getblock 3');
  });

  it.each<AddressKind>(['legacy', 'p2sh-segwit', 'bech32m'])('of a payment from a %s address', async (kind) => {
    const payer = aPurse(chain.node, new Uint8Array(randomBytes(32)), kind);
    await chain.payAndMine(payer.address, null, 90_000n);
    await payer.look();
    const address = fresh();
    await payer.pay([{ to: address, rawAmount: 80_000n }], { fee: 1_000n });
    await chain.mine();
    expect((await bothWays((await tip()).hash, table(address))).transfers).toMatchObject([{ sender: payer.address, rawAmount: '80000' }]);
    expect(asked).not.toContain('getblock 3');
  });

  it('of a stranger who shows a key of ours in another place: nothing of ours moved', async () => {
    const key = new Uint8Array(randomBytes(32));
    const ours = aPurse(chain.node, key);
    const nested = aPurse(chain.node, key, 'p2sh-segwit');
    await chain.payAndMine(nested.address, null, 90_000n);
    await nested.look();
    await nested.pay([{ to: fresh(), rawAmount: 80_000n }], { fee: 1_000n });
    await chain.mine();
    const { transfers, sent } = await bothWays((await tip()).hash, table(ours.address));
    expect([transfers, sent]).toEqual([[], []]);
    expect(asked).toContain('getrawtransaction 2');
  });

  it('of a range, which is asked for some blocks at a time', async () => {
    const address = fresh();
    const from = (await tip()).height + 1;
    for (let block = 0; block < 40; block++) {
      if (block % 7 === 3) await chain.purse.pay([{ to: address, rawAmount: 1_000n + BigInt(block) }]);
      await chain.mine();
    }
    const watched = table(address);
    asked.splice(0);
    const walked = await reader.range(from, from + 39, watched);
    expect(asked).not.toContain('getblock 3');
    expect(asked.filter((one) => one === 'getblock 0')).toHaveLength(40);
    expect(asked.filter((one) => one === 'getblockheader').length).toBeLessThan(8);
    expect(walked.contents).toHaveLength(6);
    expect(await reader.range(from, from + 39, plain(watched))).toEqual(walked);
    // As far as it is wanted, and links to the block before.
    const { last, parentHash } = await reader.range(from, from + 39, watched, { enough: 1 });
    expect(last.height).toBeLessThan(from + 39);
    expect(parentHash).toBe((await reader.blockAt(from - 1)).hash);
  });
});

describe('a block is read with care, and says the same,', () => {
  let address: string;
  let payer: Purse;
  let hash: string;
  let height: number;
  let truth: Awaited<ReturnType<Reader['block']>>;
  let watched: WatchSet;

  beforeAll(async () => {
    address = fresh();
    payer = await chain.aPayer(100_000n);
    await payer.pay([{ to: address, rawAmount: 10_000n }], { fee: 1_000n });
    await chain.mine();
    ({ hash, height } = await tip());
    watched = table(address, payer.address);
    truth = await reader.block(hash, plain(watched));
    expect([truth.transfers.length, truth.sent.length]).toEqual([2, 1]);
  });

  const bytes =
    (change: (hex: string) => unknown): Answer =>
    async (method, params, real) =>
      method === 'getblock' && params[1] === 0 ? change(readAnswer(await real()) as string) : real();
  const alone =
    (change: (told: { vin: Record<string, unknown>[] }) => unknown): Answer =>
    async (method, params, real) =>
      method === 'getrawtransaction' && params[1] === 2 ? change(structuredClone(readAnswer(await real())) as { vin: Record<string, unknown>[] }) : real();

  it.each<[string, Answer]>([
    ['where a node gives no bytes', bytes(() => refuse('getblock', -8, 'verbosity must be at least 1'))],
    ['where it gives what is none', bytes(() => 'zz')],
    ['or an object', bytes(() => ({}))],
    ['or nothing', bytes(() => null)],
    ['where bytes are missing', bytes((hex) => hex.slice(0, -2))],
    ['where a digit is missing', bytes((hex) => hex.slice(0, -1))],
    ['where a byte is another', bytes((hex) => `${hex.slice(0, -10)}ff${hex.slice(-8)}`)],
    ['where the header is refused', (method, _params, real) => (method === 'getblockheader' ? refuse(method, -5, 'Block not found') : real())],
    ['where the header is wrong', async (method, _params, real) => (method === 'getblockheader' ? { ...((await real()) as object), time: 1 } : real())],
    [
      'where the header is at another height',
      async (method, _params, real) => (method === 'getblockheader' ? { ...((await real()) as object), height: 7 } : real()),
    ],
    ['where it does not tell what a transaction spends', alone(({ vin }) => ({ vin: vin.map(({ prevout: _, ...input }) => input) }))],
    ['where it does not find the transaction', alone(() => refuse('getrawtransaction', -5, 'No such transaction found in the provided block'))],
    ['where it tells of other inputs', alone(({ vin }) => ({ vin: [...vin, ...vin] }))],
    ['where somebody else is said to have paid', alone(({ vin: [input] }) => ({ vin: [{ ...input, prevout: { value: 1, scriptPubKey: { hex: '51' } } }] }))],
    [
      'where our coin is said to be worth more',
      alone(({ vin: [input] }) => ({ vin: [{ ...input, prevout: { ...(input?.prevout as object), value: '1.5' } }] })),
    ],
  ])('%s', async (_what, answer) => {
    const node = answering(answer);
    expect(await node.block(hash, watched)).toEqual(truth);
    expect(asked).toContain('getblock 3');
    expect((await node.range(height, height, watched)).contents).toEqual([truth]);
  });

  it('where more of its transactions concern us than it is worth asking about', async () => {
    const crowd = fresh();
    const coins = await Promise.all(Array.from({ length: 17 }, () => chain.aPayer(30_000n)));
    for (const one of coins) await one.pay([{ to: crowd, rawAmount: 1_000n }], { fee: 500n });
    await chain.mine();
    expect((await bothWays((await tip()).hash, table(crowd))).transfers).toHaveLength(17);
    expect(asked.toSorted()).toEqual(['getblock 0', 'getblock 3', 'getblockheader']);
  });

  it('unless that says something else than is true, too', async () => {
    const node = answering(async (method, params, real) =>
      method === 'getblock' && params[1] === 0 ? '' : method === 'getblock' ? { ...((await real()) as object), time: 1 } : real(),
    );
    await expect(node.block(hash, watched)).rejects.toThrow(ChainUnavailable);
    await expect(node.range(height, height, watched)).rejects.toThrow(ChainUnavailable);
  });

  it('and one that its chain has left is refused', async () => {
    const node = answering(async (method, params, real) => {
      const left = method === 'getblockheader' || (method === 'getblock' && params[1] === 3);
      return left ? { ...((await real()) as object), confirmations: -1 } : real();
    });
    await expect(node.block(hash, watched)).rejects.toThrow(/no longer on its chain/);
  });

  it.each(['getblock', 'getblockheader', 'getrawtransaction'])(
    'but not where no answer comes to %s: that is an error, and nobody is asked twice',
    async (silent) => {
      const node = answering((method, _params, real) => {
        if (method === silent) throw new ChainUnavailable('it does not answer', { trouble: 'slow' });
        return real();
      });
      await expect(node.block(hash, watched)).rejects.toMatchObject({ trouble: 'slow' });
      await expect(node.range(height, height, watched)).rejects.toMatchObject({ trouble: 'slow' });
      expect(asked).not.toContain('getblock 3');
    },
  );
});
