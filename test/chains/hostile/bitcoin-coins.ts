import { crypto, networks, payments, toXOnly } from 'bitcoinjs-lib';
import { FEE, scriptAt } from '../conformance/bitcoin-purse.ts';
import { type BitcoinBench, locked, to as paid } from './bitcoin-bench.ts';
import type { Arrived, Row } from './row.ts';

const V = 1_000_000n;
const regtest = networks.regtest;
const hexOf = (bytes: Uint8Array | undefined): string => Buffer.from(bytes as Uint8Array).toString('hex');
const btc = (rawAmount: bigint, ordinal = 0): Arrived => ({ symbol: 'BTC', kind: 'native', ordinal, rawAmount });
/** The twenty bytes of the key that an address of ours pays to. */
const keyHash = (address: string): string => hexOf(scriptAt(address).subarray(2));

/** Coins under a script that looks like ours, or that our key could even spend, and that is not our address. */
const under = (name: string, reason: string, script: (address: string, key: Uint8Array) => string, value = V): Row<BitcoinBench> => ({
  name,
  reason,
  make: (bench, to) =>
    bench.pay(locked(script(to, bench.keyOf(to)), value)).catch((error: Error) => {
      // Bitcoin Knots has local chains without scripts of more than 34 bytes.
      if (!error.message.includes('script-toolarge')) throw error;
      return undefined;
    }),
});
const standard = (name: string, reason: string, script: (key: Uint8Array) => Uint8Array | undefined): Row<BitcoinBench> =>
  under(name, reason, (_to, key) => hexOf(script(key)));

/** Outputs that pay nobody of ours. */
export const OTHER_SCRIPTS: readonly Row<BitcoinBench>[] = [
  standard('P2PKH of the same key', 'the same twenty bytes under the older script are another address', (pubkey) => payments.p2pkh({ pubkey }).output),
  standard(
    'P2SH-P2WPKH of the same key',
    'what many wallets would show for the key',
    (pubkey) => payments.p2sh({ redeem: payments.p2wpkh({ pubkey }) }).output,
  ),
  standard(
    'P2TR of the same key',
    'the key as a taproot key (BIP-86)',
    (pubkey) => payments.p2tr({ internalPubkey: toXOnly(pubkey), network: regtest }).output,
  ),
  standard(
    'P2WSH of the same key',
    'the script of the key behind a hash',
    (pubkey) => payments.p2wsh({ redeem: payments.p2pkh({ pubkey, network: regtest }), network: regtest }).output,
  ),
  under('P2PK of the key', 'a bare key has no address, though our key would spend it', (_to, key) => `21${hexOf(key)}ac`),
  under(
    'bare multisig with the key',
    'one of two keys is ours, and the other one may be anybody’s',
    (_to, key) => `5121${hexOf(key)}2102${'79'.repeat(32)}52ae`,
  ),
  under(
    'P2SH of the bare script of the key',
    'pay-to-key behind a hash',
    (_to, key) => `a914${hexOf(crypto.hash160(Buffer.from(`21${hexOf(key)}ac`, 'hex')))}87`,
  ),
  under('witness version 1 with the twenty bytes', 'the same program under another version is nobody’s yet', (to) => `5114${keyHash(to)}`),
  under('witness version 16 with the twenty bytes', 'anybody may spend it today', (to) => `6014${keyHash(to)}`),
  under('witness version 0 with the bytes doubled', 'a program of 32 bytes is the hash of a script', (to) => `0020${keyHash(to)}${keyHash(to).slice(0, 24)}`),
  under('our script and one byte more', 'only the whole script is the address', (to) => `0014${keyHash(to)}61`),
  under('our script with its push spelt longer', 'OP_PUSHDATA1 makes no witness program (BIP-141)', (to) => `004c14${keyHash(to)}`),
  under('our script inside of a push', 'data is not a script', (to) => `160014${keyHash(to)}`),
  under('our script behind OP_RETURN', 'coins burnt in our name', (to) => `6a160014${keyHash(to)}`, 500_000n),
  under('a note that names the address', 'OP_RETURN is text of the sender', (to) => `6a2c${Buffer.from(to.slice(0, 44)).toString('hex')}`, 0n),
  under('a key hash one bit beside ours', 'only all of the bytes are the address', (to) => {
    const hash = scriptAt(to).slice(2);
    hash[19] = (hash[19] as number) ^ 1;
    return `0014${hexOf(hash)}`;
  }),
  under('an empty script', 'anybody may take it', () => ''),
  {
    name: 'an output of nothing',
    reason: 'zero coins at our very address: noise that anybody can make',
    make: (bench, to) => bench.pay(paid(to, 0n)),
  },
];

/** Payments that were told and never came to be. */
export const LOST_BTC: readonly Row<BitcoinBench>[] = [
  {
    name: 'a payment that its payer replaces',
    reason: 'whatever waits can be replaced for a higher fee, signalled or not',
    async make(bench, to) {
      const first = await bench.sign([paid(to, V)]);
      await bench.node.call('sendrawtransaction', [first.hex]);
      const [coin] = first.spends;
      const purse = bench.purses[0];
      const second = await purse.sign([{ script: purse.script, value: (coin?.value ?? 0n) - 40_000n }], { spends: first.spends, change: false });
      await bench.node.call('sendrawtransaction', [second.hex]);
      await bench.mine(second);
      return undefined;
    },
  },
  {
    name: 'a payment of which a block holds the double spend',
    reason: 'a miner need not have heard of the first',
    async make(bench, to) {
      const first = await bench.sign([paid(to, V)]);
      await bench.node.call('sendrawtransaction', [first.hex]);
      await bench.mine(await bench.purses[0].sign([], { spends: first.spends }));
      return undefined;
    },
  },
  {
    name: 'a payment out of coins that never came to be',
    reason: 'with its parent replaced the child is nothing',
    async make(bench, to) {
      const [payer] = bench.purses;
      const parent = await payer.sign([], {});
      const coin = { txid: parent.txid, vout: 0, value: (parent.spends[0]?.value ?? 0n) - FEE, script: payer.script };
      const child = await payer.sign([paid(to, V)], { spends: [coin] });
      for (const { hex } of [parent, child]) await bench.node.call('sendrawtransaction', [hex]);
      await bench.mine(await payer.sign([paid(payer.address, 20_000n)], { spends: parent.spends }));
      return undefined;
    },
  },
  {
    name: 'a payment in a block that lost',
    reason: 'its node goes on telling of it, with confirmations of −1',
    async make(bench, to) {
      const first = await bench.sign([paid(to, V)]);
      const lost = await bench.mine(first);
      await bench.node.call('invalidateblock', [lost]);
      await bench.mine(await bench.purses[0].sign([], { spends: first.spends }));
      return undefined;
    },
  },
];

const arriving = (name: string, reason: string, values: readonly bigint[], more: Partial<Row<BitcoinBench>> = {}): Row<BitcoinBench> => ({
  name,
  reason,
  make: (bench, to) => bench.pay(...values.map((value) => paid(to, value))),
  gets: values.map((value, at) => btc(value, at)),
  ...more,
});

/** Coins that did arrive, in ways that are easy to misread. */
export const ODD_BTC: readonly Row<BitcoinBench>[] = [
  arriving('one satoshi', 'no node passes it on and a block may hold it: too little to be credited', [1n], { dust: true }),
  arriving('dust just below the floor', 'a row in the books and no credit', [999n], { dust: true }),
  arriving('a hundredth and five of them', '0.01 + 0.05 is 0.060000000000000005 in binary', [1_000_000n, 5_000_000n]),
  arriving('an amount that doubles print a satoshi too low', '0.0020007 times a hundred million is 200069.99999999997', [200_070n]),
  arriving('an amount told as 1e-8 times something', 'printers write small numbers with an exponent', [1_001n]),
  arriving('three equal payments in one transaction', 'their places tell them apart', [V, V, V]),
  {
    name: 'more satoshis than 32 bits hold',
    reason: 'amounts have 64 bits',
    async make(bench, to) {
      const [payer] = bench.purses;
      const value = 2n ** 32n + 100_001n;
      const funding = await bench.node.chain.payAndMine(payer.address, null, value);
      const { vout } = await bench.node.call<{ vout: { n: number; scriptPubKey: { address?: string } }[] }>('getrawtransaction', [funding, 1]);
      const at = vout.find(({ scriptPubKey }) => scriptPubKey.address === payer.address)?.n as number;
      const coin = { txid: funding, vout: at, value, script: payer.script };
      const signed = await payer.sign([paid(to, 2n ** 32n + 1n)], { spends: [coin] });
      await bench.mine(signed);
      return signed.txid;
    },
    gets: [btc(2n ** 32n + 1n)],
  },
  {
    name: 'the last of three hundred outputs',
    reason: 'counts and places above 252 take three bytes',
    make: (bench, to) => bench.pay(...Array.from({ length: 299 }, (_, i) => locked(`0014${(i + 1).toString(16).padStart(40, '0')}`, 600n)), paid(to, V)),
    gets: [btc(V, 299)],
  },
  {
    name: 'beside a note, a script that anybody can spend and one of a version to come',
    reason: 'outputs without an address shift no places',
    make: (bench, to) => bench.pay(locked('6a026869', 0n), locked('51', 700n), paid(to, V), locked('5114'.padEnd(44, '7'), 700n)),
    gets: [btc(V, 2)],
  },
  {
    name: 'from four payers at once',
    reason: 'inputs of every kind in one transaction; each of them is a sender',
    async make(bench, to) {
      const signed = await bench.together(bench.purses, [paid(to, V)]);
      await bench.mine(signed);
      return signed.txid;
    },
    gets: [btc(V)],
  },
  {
    name: 'as the second of two transactions in one block, paid out of the first',
    reason: 'the block before does not know what it spends',
    async make(bench, to) {
      const payer = bench.purses[2];
      const parent = await payer.sign([]);
      const coin = { txid: parent.txid, vout: 0, value: (parent.spends[0]?.value ?? 0n) - FEE, script: payer.script };
      const child = await payer.sign([paid(to, V)], { spends: [coin] });
      await bench.mine(parent, child);
      return child.txid;
    },
    gets: [btc(V)],
  },
  {
    name: 'in a block of an even number of transactions and one more',
    reason: 'the last hash of an odd row is doubled in a merkle tree',
    async make(bench, to) {
      const signed = await bench.sign([paid(to, V)]);
      await bench.mine(await bench.sign([], bench.purses[1]), signed, await bench.sign([], bench.purses[2]), await bench.sign([], bench.purses[3]));
      return signed.txid;
    },
    gets: [btc(V)],
  },
  {
    name: 'mined, taken back and mined again',
    reason: 'one transaction in two blocks is one deposit',
    async make(bench, to) {
      const signed = await bench.sign([paid(to, V)]);
      await bench.node.call('invalidateblock', [await bench.mine(signed)]);
      await bench.mine(signed);
      return signed.txid;
    },
    gets: [btc(V)],
  },
  {
    name: 'a coinbase',
    reason: 'coins that were just made may not move for a hundred blocks, and are not credited before',
    async make(bench, to) {
      const { call } = bench.node;
      const [block] = (await call<string[]>('generatetoaddress', [1, to])) as [string];
      const { tx } = await call<{ tx: string[] }>('getblock', [block, 1]);
      return tx[0];
    },
    gets: [btc(2_500_000_000n)],
    early: true,
  },
];
