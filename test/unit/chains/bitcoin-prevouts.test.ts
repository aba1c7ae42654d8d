import { createHash } from 'node:crypto';
import * as curve from 'tiny-secp256k1';
import { crypto, initEccLib, payments, script as scripts, Transaction as MadeTransaction } from 'bitcoinjs-lib';
import { beforeAll, describe, expect, it } from 'vitest';
import { crossCheckAmounts, crossCheckSpends as checkingSpends } from '#shared/chains/bitcoin/prevouts.ts';
import { commitsToWitnesses, hasItsWork, headerHashOf, merkleRootOf, namesHeight } from '#shared/chains/bitcoin/proofs.ts';
import { readRawTransaction } from '#shared/chains/bitcoin/raw-transaction.ts';
import { readHeader, type Transaction } from '#shared/chains/bitcoin/replies.ts';
import { bitcoinParams } from '#shared/chains/bitcoin/params.ts';
import { atOnce } from '#shared/core/turns.ts';

beforeAll(() => initEccLib(curve));

const hex = (bytes: Uint8Array | string): string => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('hex'));
const keyOf = (byte: number): Uint8Array => curve.pointFromScalar(new Uint8Array(32).fill(byte), true) as Uint8Array;
const [KEY, OTHER_KEY] = [keyOf(1), keyOf(2)];
const SIGNATURE = Buffer.from(`30${'44'.repeat(70)}01`, 'hex');
const hash160 = (bytes: Uint8Array): string => hex(crypto.hash160(bytes));
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const push = (...parts: Uint8Array[]): Buffer => Buffer.from(scripts.compile(parts));
const REDEEM = Buffer.from(`5121${hex(KEY)}21${hex(OTHER_KEY)}52ae`, 'hex');
const NESTED = Buffer.from(`0014${hash160(KEY)}`, 'hex');
const NESTED_TAPROOT = Buffer.from(`5120${hex(KEY.slice(1))}`, 'hex');
const NESTED_SCRIPT = Buffer.from(`0020${sha256(REDEEM)}`, 'hex');

const crossCheckSpends = (...given: Parameters<typeof checkingSpends>): void => atOnce(checkingSpends(...given));

/** A transaction of one input that spends an output of this script, and one output. */
function spending(script: string, { scriptSig = '', witness = [] as Uint8Array[] }, rawAmount = 10n): Transaction {
  const input = { txid: '11'.repeat(32), vout: 0, scriptSig: Buffer.from(hex(scriptSig), 'hex'), sequence: 0, witness: witness.map((one) => Buffer.from(one)) };
  return {
    bytes: Buffer.alloc(0),
    txid: '22'.repeat(32),
    wtxid: '22'.repeat(32),
    inputs: [input],
    outputs: [{ rawAmount: 9n, script: '6a', scriptAt: 0 }],
    coinbase: false,
    prevouts: [{ rawAmount, script }],
  };
}

describe('what an input shows of the output it spends', () => {
  it.each<[string, string, Parameters<typeof spending>[1]]>([
    ['a key', `76a914${hash160(KEY)}88ac`, { scriptSig: hex(push(SIGNATURE, KEY)) }],
    ['a key that is pushed in a long way', `76a914${hash160(KEY)}88ac`, { scriptSig: `4c${SIGNATURE.length.toString(16)}${hex(SIGNATURE)}4d2100${hex(KEY)}` }],
    ['a key behind code that no wallet writes', `76a914${hash160(KEY)}88ac`, { scriptSig: `${hex(push(KEY))}7661` }],
    ['a script', `a914${hash160(REDEEM)}87`, { scriptSig: `00${hex(push(SIGNATURE, REDEEM))}` }],
    ['a script that is a small number', `a914${hash160(Buffer.from([5]))}87`, { scriptSig: '55' }],
    ['a script that is minus one', `a914${hash160(Buffer.from([0x81]))}87`, { scriptSig: '4f' }],
    ['a witness key', hex(NESTED), { witness: [SIGNATURE, KEY] }],
    ['a witness key wrapped in P2SH', `a914${hash160(NESTED)}87`, { scriptSig: hex(push(NESTED)), witness: [SIGNATURE, KEY] }],
    ['a witness script', hex(NESTED_SCRIPT), { witness: [Buffer.alloc(0), SIGNATURE, REDEEM] }],
    [
      'a witness script wrapped in P2SH',
      `a914${hash160(NESTED_SCRIPT)}87`,
      { scriptSig: hex(push(NESTED_SCRIPT)), witness: [Buffer.alloc(0), SIGNATURE, REDEEM] },
    ],
    ['a taproot key, by its signature', `5120${hex(KEY.slice(1))}`, { witness: [new Uint8Array(64)] }],
    ['the same with an annex', `5120${hex(KEY.slice(1))}`, { witness: [new Uint8Array(64), Buffer.from([0x50, 1])] }],
    ['a bare key', `21${hex(KEY)}ac`, { scriptSig: hex(push(SIGNATURE)) }],
    ['several bare keys', hex(REDEEM), { scriptSig: `00${hex(push(SIGNATURE))}` }],
    ['an anchor, which anybody may spend', '51024e73', {}],
    ['a witness version without rules', `5220${'11'.repeat(32)}`, { witness: [SIGNATURE, KEY] }],
    ['a taproot program wrapped in P2SH, which has no rules either (BIP-341)', `a914${hash160(NESTED_TAPROOT)}87`, { scriptSig: hex(push(NESTED_TAPROOT)) }],
    ['the same with a witness of anything', `a914${hash160(NESTED_TAPROOT)}87`, { scriptSig: hex(push(NESTED_TAPROOT)), witness: [SIGNATURE, KEY] }],
  ])('fits %s', (_what, script, input) => {
    expect(() => crossCheckSpends(spending(script, input))).not.toThrow();
  });

  it.each([0, 1, 2])('fits a taproot script %i steps below its key', (depth) => {
    const leaf = { output: Buffer.from(`20${hex(KEY.slice(1))}ac`, 'hex') };
    const sibling = { output: Buffer.from('51', 'hex') };
    const tree = depth === 0 ? leaf : depth === 1 ? ([leaf, sibling] as const) : ([[leaf, sibling] as const, sibling] as const);
    const spent = payments.p2tr({ internalPubkey: OTHER_KEY.slice(1), scriptTree: tree as never, redeem: { output: leaf.output, redeemVersion: 0xc0 } });
    const witness = [new Uint8Array(64), ...(spent.witness as Uint8Array[]).slice(-2)];
    const script = hex(spent.output as Uint8Array);
    expect(() => crossCheckSpends(spending(script, { witness }))).not.toThrow();
    expect(() => crossCheckSpends(spending(script, { witness: [...witness, Buffer.from([0x50])] }))).not.toThrow();
    const [signature, code, control] = witness as [Uint8Array, Uint8Array, Uint8Array];
    for (const wrong of [
      [signature, sibling.output, Buffer.from(control).fill(1, 5, 6)],
      [signature, code, control.slice(0, -1)],
      [signature, Buffer.from('00', 'hex'), control],
    ])
      expect(() => crossCheckSpends(spending(script, { witness: wrong as Uint8Array[] }))).toThrow(/cannot spend/);
  });

  it.each<[string, string, Parameters<typeof spending>[1]]>([
    ['another key', `76a914${hash160(OTHER_KEY)}88ac`, { scriptSig: hex(push(SIGNATURE, KEY)) }],
    ['no key', `76a914${hash160(KEY)}88ac`, {}],
    ['a witness beside an old output', `76a914${hash160(KEY)}88ac`, { scriptSig: hex(push(SIGNATURE, KEY)), witness: [SIGNATURE] }],
    ['another script', `a914${hash160(REDEEM)}87`, { scriptSig: hex(push(SIGNATURE, KEY)) }],
    ['code where only pushes may stand', `a914${hash160(REDEEM)}87`, { scriptSig: `${hex(push(REDEEM))}76` }],
    ['a push beyond the end', `a914${hash160(REDEEM)}87`, { scriptSig: '4dffff00' }],
    ['another witness key', hex(NESTED), { witness: [SIGNATURE, OTHER_KEY] }],
    ['one element too many', hex(NESTED), { witness: [SIGNATURE, SIGNATURE, KEY] }],
    ['no witness', hex(NESTED), {}],
    ['something before the witness', hex(NESTED), { scriptSig: '51', witness: [SIGNATURE, KEY] }],
    ['another witness key behind P2SH', `a914${hash160(NESTED)}87`, { scriptSig: hex(push(NESTED)), witness: [SIGNATURE, OTHER_KEY] }],
    ['another witness script', hex(NESTED_SCRIPT), { witness: [SIGNATURE, KEY] }],
    ['nothing of a taproot key', `5120${hex(KEY.slice(1))}`, {}],
    ['a key like ours in place of a path to a taproot key', `5120${hex(OTHER_KEY.slice(1))}`, { witness: [SIGNATURE, KEY] }],
    ['a witness beside a bare key', `21${hex(KEY)}ac`, { scriptSig: hex(push(SIGNATURE)), witness: [SIGNATURE, KEY] }],
  ])('does not fit %s', (_what, script, input) => {
    expect(() => crossCheckSpends(spending(script, input))).toThrow(/cannot spend what the node says/);
  });

  it('is looked at among strangers where it shows one key, which may be ours, and nowhere else', () => {
    const hidden = spending(`5120${hex(OTHER_KEY.slice(1))}`, { witness: [SIGNATURE, KEY] });
    expect(() => crossCheckSpends(hidden, 'keys')).toThrow(/cannot spend what the node says/);
    const path = spending(`5120${hex(OTHER_KEY.slice(1))}`, { witness: [SIGNATURE, REDEEM, Buffer.alloc(33, 0xc0)] });
    expect(() => crossCheckSpends(path)).toThrow(/cannot spend what the node says/);
    expect(() => crossCheckSpends(path, 'keys')).not.toThrow();
  });

  it('can be interrupted after each input that is looked at: a path to a taproot key takes a millisecond, and a payer may show thousands', () => {
    const [input] = spending(hex(NESTED), { witness: [SIGNATURE, KEY] }).inputs as [Transaction['inputs'][number]];
    const many = { ...spending(hex(NESTED), {}), inputs: Array(9).fill(input), prevouts: Array(9).fill({ rawAmount: 10n, script: hex(NESTED) }) };
    expect([...checkingSpends(many)]).toHaveLength(9);
    expect([...checkingSpends({ ...many, inputs: many.inputs.map((one, i) => (i < 4 ? one : { ...one, witness: [] })) }, 'keys')]).toHaveLength(4);
  });

  it('covers no more than the outputs it spends', () => {
    expect(() => crossCheckSpends(spending(hex(NESTED), { witness: [SIGNATURE, KEY] }, 9n))).not.toThrow();
    expect(() => crossCheckSpends(spending(hex(NESTED), { witness: [SIGNATURE, KEY] }, 8n))).toThrow(/pay out more than it takes in/);
  });
});

it.each(['', '30', '44'.repeat(70), `30${'44'.repeat(70)}`, `3008020200ff020200ff`, `302602${'22'}${'11'.repeat(34)}020101`])(
  'no amount is proven by what is no signature: %s',
  (signature) => {
    const made = new MadeTransaction();
    made.addInput(Buffer.alloc(32, 0x11), 0);
    made.addOutput(Buffer.from('51', 'hex'), 9n);
    const told = spending(hex(NESTED), { witness: [Buffer.from(`${signature}01`, 'hex'), KEY] });
    expect(() => crossCheckAmounts({ ...told, bytes: Buffer.from(made.toBuffer()) }, [0])).toThrow(/was not signed over 10 satoshis/);
  },
);

describe('proofs', () => {
  /** Block 0 of mainnet, whose bytes everybody has. */
  const GENESIS = {
    version: 1,
    previous: '0'.repeat(64),
    merkleRoot: '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b',
    time: 1_231_006_505,
    bits: 0x1d00ffff,
    nonce: 2_083_236_893,
  };

  it('make the hashes that everybody knows', () => {
    for (const [chainId, header] of [
      ['mainnet', GENESIS],
      ['signet', { ...GENESIS, time: 1_598_918_400, bits: 0x1e0377ae, nonce: 52_613_770 }],
      ['regtest', { ...GENESIS, time: 1_296_688_602, bits: 0x207fffff, nonce: 2 }],
    ] as const) {
      const params = bitcoinParams(chainId);
      expect(headerHashOf(header)).toBe(params.genesis);
      expect(hasItsWork(params.genesis, header.bits, params)).toBe(true);
    }
  });

  it('of work are those of their time: on mainnet nobody makes up a block of today at the price of the first ones', () => {
    const told = (height: number) => {
      const hash = headerHashOf(GENESIS);
      const { previous: previousblockhash, merkleRoot: merkleroot, version, time, nonce } = GENESIS;
      return { hash, height, previousblockhash, merkleroot, version, time, nonce, bits: '1d00ffff', confirmations: 1 };
    };
    expect(readHeader(told(839_999), bitcoinParams('mainnet')).height).toBe(839_999);
    expect(() => readHeader(told(840_000), bitcoinParams('mainnet'))).toThrow(/was not worked for/);
    expect(readHeader(told(840_000), bitcoinParams('testnet4')).height).toBe(840_000);
  });

  it('of work take no target that is too easy, negative, nothing or missed', () => {
    const params = bitcoinParams('mainnet');
    for (const bits of [0x1d010000, 0x207fffff, 0x1d80ffff, 0x01000000, 0x1a00ffff, 0xff00ffff])
      expect(hasItsWork(params.genesis, bits, params), bits.toString(16)).toBe(false);
  });

  it('of block 100,000 are the root of its four transactions', () => {
    const ids = [
      '8c14f0db3df150123e6f3dbbf30f8b955a8249b62ac1d1ff16284aefa3d06d87',
      'fff2525b8931402dd09222c50775608f75787bd2b87e56995a7bdd30f79702c4',
      '6359f0868171b1d194cbee1af2f16ea598ae8fad666d9b012c8ed2b79a236ec4',
      'e9a66845e05d5abc0ad04ec80f774a7e585c6e8db975962d069a522137b80c1d',
    ];
    expect(merkleRootOf(ids)).toBe('f3e94742aca4b5ef85488dc37c06c3282295ffec960994b2c0d5ac2a25a95766');
    expect(merkleRootOf(ids.slice(0, 1))).toBe(ids[0]);
  });

  it.each([
    [1, '51'],
    [16, '60'],
    [17, '0111'],
    [127, '017f'],
    [128, '028000'],
    [255, '02ff00'],
    [256, '020001'],
    [32_768, '03008000'],
    [840_000, '0340d10c'],
  ])('name height %i', (height, scriptSig) => {
    const coinbase = spending('6a', { scriptSig: `${scriptSig}00` });
    expect(namesHeight(coinbase, height)).toBe(true);
    expect(namesHeight(coinbase, height + 1)).toBe(false);
  });

  it('of witnesses are needed as soon as there is one', () => {
    const coinbase = { ...spending('6a', { scriptSig: '51' }), coinbase: true };
    expect(commitsToWitnesses([coinbase, spending(`76a914${hash160(KEY)}88ac`, { scriptSig: hex(push(SIGNATURE, KEY)) })])).toBe(true);
    expect(commitsToWitnesses([coinbase, spending(hex(NESTED), { witness: [SIGNATURE, KEY] })])).toBe(false);
    const committing = { ...coinbase, outputs: [{ rawAmount: 0n, script: `6a24aa21a9ed${'00'.repeat(32)}`, scriptAt: 0 }] };
    expect(commitsToWitnesses([committing])).toBe(false);
  });

  it.each(['', '00', 'zz', '0100000000', `01000000${'ff'.repeat(9)}`, `0100000001${'00'.repeat(36)}fd`, '02000000000100000000000000'])(
    'make no transaction of %s',
    (bytes) => {
      expect(readRawTransaction(bytes)).toBeUndefined();
    },
  );
});
