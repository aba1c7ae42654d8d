import { Transaction } from 'bitcoinjs-lib';
import type { Exchange, Refusal } from '../conformance/meddler.ts';
import {
  beside,
  block,
  header,
  last,
  lastOf,
  type Lie,
  prevout,
  reversed,
  rewritten,
  script,
  sha256d,
  spentFor,
  swapped,
  type ToldBlock,
  type Truth,
} from './bitcoin-lie.ts';

const NOT_FOUND: Refusal = { refusal: { code: -5, message: 'Block not found' } };

/** Lies about the transactions of a block. */
const OF_TRANSACTIONS: readonly Lie[] = [
  last('an output that is said to pay us', 'its bytes pay somebody else', (transaction, { address, other }) =>
    swapped(transaction, script(address), script(other)),
  ),
  last('more coins in the bytes', 'the id of a transaction is the hash of its bytes', rewritten(2n ** 40n)),
  last('less than no coins in the bytes', 'a signed reading of 64 bits makes them negative', rewritten(-1n)),
  last('more coins than there will ever be', '21 million and one satoshi', rewritten(2_100_000_000_000_001n)),
  last('changed bytes and the id that goes with them', 'the root of the block was made of the true ids', (transaction, truth) => {
    rewritten(2n ** 40n)(transaction, truth);
    transaction.txid = Transaction.fromHex(transaction.hex).getId();
  }),
  last('the id of another transaction', 'an id that is not the hash of the bytes beside it', (transaction) => {
    transaction.txid = 'ab'.repeat(32);
  }),
  last('bytes that end early', 'a reply that was cut', (transaction) => {
    transaction.hex = transaction.hex.slice(0, -8);
  }),
  last('bytes with half a byte more', 'an odd number of digits', (transaction) => {
    transaction.hex += '0';
  }),
  last('bytes with more behind them', 'what follows a transaction is no part of it', (transaction) => {
    transaction.hex += '00000000';
  }),
  last('bytes that are no hexadecimal digits', 'text where bytes belong', (transaction) => {
    transaction.hex = `zz${transaction.hex.slice(2)}`;
  }),
  last('no bytes', 'some nodes leave them out', (transaction) => {
    transaction.hex = '';
  }),
  last('a witness with another signature', 'the id does not cover witnesses: only the commitment in the coinbase does', (transaction) => {
    const at = transaction.hex.lastIndexOf('0121') - 10;
    transaction.hex = `${transaction.hex.slice(0, at)}${transaction.hex[at] === '0' ? '1' : '0'}${transaction.hex.slice(at + 1)}`;
  }),
  block('a block without the payment', 'a transaction left out', (told) => ({ ...told, tx: told.tx.slice(0, -1), nTx: told.tx.length - 1 })),
  block('a block with the payment twice', 'a merkle tree of three is that of four with the last one doubled (CVE-2012-2459)', (told) => ({
    ...told,
    tx: [...told.tx, lastOf(told)],
    nTx: told.tx.length + 1,
  })),
  block('a block whose transactions changed places', 'order is part of the root', (told) => ({ ...told, tx: [told.tx[0], told.tx[2], told.tx[1]] })),
  block('a block without its coinbase', 'the first transaction makes the coins', (told) => ({ ...told, tx: told.tx.slice(1) })),
  block('a block of one transaction of 64 bytes', 'two hashes side by side, told as a transaction, have the true root (CVE-2017-12842)', (told) => {
    const ids = told.tx.map(({ txid }) => txid);
    const pair = (a: string, b: string): string => reversed(a) + reversed(b);
    const [a, b, c] = ids as [string, string, string];
    const hex = pair(sha256d(pair(a, b)), sha256d(pair(c, c)));
    return { ...told, tx: [{ ...told.tx[0], hex, txid: sha256d(hex), vin: [], vout: [] }], nTx: 1 };
  }),
  block('ids instead of transactions', 'the answer to a lesser question', (told) => ({ ...told, tx: told.tx.map(({ txid }) => txid) })),
];

/** Lies about what the inputs of the payment spend: only its hash is in the block. */
const OF_SPENDS: readonly Lie[] = [
  prevout('one of our addresses as the payer', 'the key in the witness is not that of the address', (spent, { other }) => {
    spent.scriptPubKey = { hex: script(other), address: other };
  }),
  prevout('a payer who could not have paid', 'coins worth less than what they pay', (spent) => {
    spent.value = 0.000001;
  }),
  ...['-0.1', '0.100000000000000005', '1e-9', '1e400', '"0.1 BTC"', 'null', '[0.1]'].map(spentFor),
  last('no word of what is spent', 'a node that pruned it', ({ vin }) => {
    delete vin[0]?.prevout;
  }),
  last('another coin than the bytes spend', 'the place in the list says which input it is', ({ vin }) => {
    if (vin[0] !== undefined) vin[0].txid = 'cd'.repeat(32);
  }),
  last('an input more than the bytes have', 'somebody else’s coins', ({ vin }) => void vin.push(structuredClone(vin[0]) as (typeof vin)[number])),
  last('no inputs', 'an empty list', (transaction) => {
    transaction.vin = [];
  }),
];

/** Lies about the header. */
const OF_HEADERS: readonly Lie[] = [
  header('another height', 'only the coinbase proves it', ({ height }) => ({ height: height + 1 })),
  header('another parent', 'the hash covers it', () => ({ previousblockhash: 'ab'.repeat(32) })),
  header('another root', 'the hash covers it', () => ({ merkleroot: 'ab'.repeat(32) })),
  header('another time', 'the hash covers it', ({ time }) => ({ time: time + 1 })),
  header('another nonce', 'the hash covers it', ({ nonce }) => ({ nonce: nonce + 1 })),
  header('a hash of its own', 'not the one that was asked for', () => ({ hash: 'ab'.repeat(32) })),
  header('an easier target', 'the hash covers it', () => ({ bits: '207ffffe' })),
  header('a version with a fraction', 'no such number has bytes', ({ version }) => ({ version: version + 0.5 })),
  {
    name: 'the block before in its place',
    reason: 'a true block, and not the one that was asked for',
    meddling:
      ({ block: { hash: id }, before }) =>
      ({ call, params, answer }) =>
        call === 'getblock' && (params as unknown[])[0] === id ? before : answer,
  },
  {
    name: 'a head that its chain has left',
    reason: 'an orphan is told with confirmations of −1',
    meddling:
      ({ block: { hash: id } }) =>
      ({ call, params, answer }) =>
        (call === 'getblock' || call === 'getblockheader') && (params as unknown[])[0] === id ? { ...(answer as object), confirmations: -1 } : answer,
  },
  {
    name: 'a block that nobody worked for',
    reason: 'a header of a hash above its target, told as the head',
    meddling({ block: told }) {
      const forged = unworked(told);
      return ({ call, params, answer }) => {
        const [which] = params as unknown[];
        if (call === 'getbestblockhash' || (call === 'getblockhash' && which === told.height)) return forged.hash;
        if (which === forged.hash) return call === 'getblockheader' ? { ...forged, tx: undefined } : forged;
        return which === told.hash ? NOT_FOUND : answer;
      };
    },
  },
  {
    name: 'the first block of another network',
    reason: 'a node of the main network, told as the head',
    meddling:
      () =>
      ({ call, answer }) =>
        call === 'getbestblockhash' ? '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f' : answer,
  },
];

/** Amounts and addresses that are told beside the bytes: nobody asks for them. */
const BESIDE: readonly Lie[] = [
  beside('a hundred times the amount', 'amounts are read from bytes', (output) => ({ ...output, value: 7_654_321.5 })),
  beside('amounts below nothing', 'amounts are read from bytes', (output) => ({ ...output, value: { numberText: '-0.30000000000000004' } })),
  beside('our other address', 'addresses are read from scripts', (output, { other }) => ({
    ...output,
    scriptPubKey: { ...output.scriptPubKey, address: other },
  })),
  beside('our other script', 'scripts are read from bytes', (output, { other }) => ({ ...output, scriptPubKey: { hex: script(other), address: other } })),
  beside('places that are all the same', 'places are counted', (output) => ({ ...output, n: 0 })),
];

type Told = { vin: { txid?: string; prevout?: { value: unknown; scriptPubKey: { hex: string } } }[] };

/** What the bytes of the block, which are walked over, are told to be; asked again with everything, the node says what is true. */
const bytes = (name: string, reason: string, change: (hex: string, truth: Truth) => unknown): Lie => ({
  name,
  reason,
  harmless: true,
  meddling: (truth) => (exchange) => (isBytesOf(exchange, truth) ? change(exchange.answer as string, truth) : exchange.answer),
});
/** What the payment spends, when it alone is asked about. */
const alone = (name: string, reason: string, change: (told: Told, truth: Truth) => unknown): Lie => ({
  name,
  reason,
  harmless: true,
  meddling:
    (truth) =>
    ({ call, params, answer }) =>
      call === 'getrawtransaction' && (params as unknown[])[1] === 2 ? change(structuredClone(answer) as Told, truth) : answer,
});
const spends = (told: Told, script: string): Told => {
  const [input] = told.vin;
  if (input?.prevout !== undefined) input.prevout.scriptPubKey.hex = script;
  return told;
};
function isBytesOf({ call, params }: Exchange, truth: Truth): boolean {
  const [which, verbosity] = params as unknown[];
  return call === 'getblock' && which === truth.block.hash && verbosity === 0;
}

/** Lies to whoever asks for a block as bytes and for what single transactions spend: they cost a question more, and nothing else. */
const OF_BYTES: readonly Lie[] = [
  bytes('bytes that pay somebody else', 'the root covers them', (hex, { address, other }) => hex.replace(script(address), script(other))),
  bytes('bytes with another witness', 'the coinbase commits to it', (hex) =>
    hex.replace(/0121(0[23])(.)/, (_, first: string, digit: string) => `0121${first}${digit === '0' ? '1' : '0'}`),
  ),
  bytes('bytes cut short', 'a reply that was cut', (hex) => hex.slice(0, -2)),
  bytes('half a byte', 'an odd number of digits', (hex) => hex.slice(0, -1)),
  bytes('the bytes of nothing', 'an empty answer', () => ''),
  bytes('a number for bytes', 'what a gateway may make of it', () => 7),
  bytes('bytes of a block that is pruned', 'and the block itself a moment later', () => ({
    refusal: { code: -1, message: 'Block not available (pruned data)' },
  })),
  alone('our other address as the payer, of the payment alone', 'its witness shows another key', (told, { other }) => spends(told, script(other))),
  alone('nothing of what the payment spends', 'nodes before 25 do not tell it', ({ vin }) => ({ vin: vin.map(({ prevout: _, ...input }) => input) })),
  alone('that it does not know the payment', 'nor has it an index', () => NOT_FOUND),
  alone('another input than the payment has', 'the bytes say which', (told) => ({ vin: [{ ...told.vin[0], txid: 'ab'.repeat(32) }] })),
  {
    name: 'our other address as the payer, whichever way it is asked',
    reason: 'its witness shows another key',
    meddling:
      ({ other, block: { hash: id } }) =>
      ({ call, params, answer }) => {
        const [which, verbosity] = params as unknown[];
        if (call === 'getrawtransaction' && verbosity === 2) return spends(structuredClone(answer) as Told, script(other));
        if (call !== 'getblock' || which !== id || verbosity !== 3) return answer;
        const told = structuredClone(answer) as ToldBlock;
        return { ...told, tx: told.tx.map((one, at) => (at === 2 ? spends(one as Told, script(other)) : one)) };
      },
  },
  {
    name: 'a true block as bytes, which its chain has left',
    reason: 'its header is told with confirmations of −1, and so is the block',
    meddling:
      ({ block: { hash: id } }) =>
      ({ call, params, answer }) =>
        (params as unknown[])[0] === id && (call === 'getblockheader' || (call === 'getblock' && (params as unknown[])[1] === 3))
          ? { ...(answer as object), confirmations: -1 }
          : answer,
  },
];

export const LIES: readonly Lie[] = [...OF_TRANSACTIONS, ...OF_SPENDS, ...OF_HEADERS, ...BESIDE, ...OF_BYTES];

/** The same block under a nonce that misses its target. */
function unworked(told: ToldBlock): ToldBlock {
  for (let nonce = told.nonce + 1; ; nonce++) {
    const id = sha256d(
      [
        reversed((told.version >>> 0).toString(16).padStart(8, '0')),
        reversed(told.previousblockhash),
        reversed(told.merkleroot),
        reversed(told.time.toString(16).padStart(8, '0')),
        reversed(told.bits),
        reversed(nonce.toString(16).padStart(8, '0')),
      ].join(''),
    );
    if (Number.parseInt(id.slice(0, 2), 16) > 0x7f) return { ...told, hash: id, nonce };
  }
}
