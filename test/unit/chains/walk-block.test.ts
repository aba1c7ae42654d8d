import * as curve from 'tiny-secp256k1';
import { crypto, script as scripts, Transaction } from 'bitcoinjs-lib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createAddressTable } from '#indexer/address-table.ts';
import { bitcoinReader } from '#shared/chains/bitcoin/reader.ts';
import { addressOfScript } from '#shared/chains/bitcoin/script.ts';
import { walkBlock } from '#shared/chains/bitcoin/walk-block.ts';
import { bitcoinParams } from '#shared/chains/bitcoin/params.ts';
import { atOnce } from '#shared/core/turns.ts';
import {
  compactSize,
  type MadeBlock,
  madeBlock,
  type MadeInput,
  madeTransaction,
  merkleRoot,
  proven,
  REGTEST,
  toldBlock,
} from '#test/fixtures/made-bitcoin-block.ts';
import {
  baseBlocks,
  expectSame,
  fuzzBlocks,
  hashOf,
  hasKey,
  OURS,
  OURS_TOO,
  payTo,
  readWithCare,
  SIGNATURE,
  THEIRS,
  walk,
} from '#test/fixtures/walked-bitcoin.ts';

const spend = (key: Uint8Array): MadeInput => ({ witness: [SIGNATURE, key] });
const LEGACY: MadeInput = { scriptSig: scripts.compile([SIGNATURE, THEIRS]) };
const stranger = (): Buffer => madeTransaction([spend(THEIRS)], [payTo(THEIRS)]);
const placesIn = (made: MadeBlock): number[] | undefined => walk(made)?.hits.map(({ position }) => position);

/** Inserts at a place, and keeps everything else. */
const withBytes = (bytes: Buffer, at: number, more: string, over = 0): Buffer =>
  Buffer.concat([bytes.subarray(0, at), Buffer.from(more, 'hex'), bytes.subarray(at + over)]);

describe('a walk over a block', () => {
  it('says of every form of block what reading it says', () => {
    for (const made of baseBlocks()) expect(expectSame(made)).toBe('walked');
  });

  it.each([1, 2, 3, 4, 5, 7, 8, 9, 252, 253, 254, 300])('proves one of %i transactions', (count) => {
    const made = madeBlock([...Array.from({ length: count - 1 }, stranger), madeTransaction([spend(OURS)], ['51'])]);
    expect(expectSame(made)).toBe('walked');
    expect(placesIn(made)).toEqual([count]);
  });

  it.each<[string, MadeInput[], (string | Uint8Array)[]]>([
    ['an output to a key of ours', [LEGACY], [payTo(OURS)]],
    ['one behind 300 others', [LEGACY], [...Array.from({ length: 300 }, () => payTo(THEIRS)), payTo(OURS)]],
    ['two of them', [LEGACY], [payTo(OURS), payTo(OURS_TOO)]],
    ['a spend of ours', [spend(OURS)], [payTo(THEIRS)]],
    ['a spend of ours behind 300 of others', [...Array.from({ length: 300 }, () => spend(THEIRS)), spend(OURS_TOO)], ['51']],
    [
      'a spend of ours among inputs of every kind',
      [LEGACY, { witness: [Buffer.alloc(64)] }, { witness: [] }, spend(OURS), { witness: [Buffer.alloc(65)] }],
      ['51'],
    ],
    ['a spend of ours with an empty signature, which may be a script of any result', [{ witness: [Buffer.alloc(0), OURS] }], ['51']],
    [
      'our key in a nested script, which is a stranger’s: a look at it is all it costs',
      [{ scriptSig: scripts.compile([Buffer.from(payTo(OURS), 'hex')]), ...spend(OURS) }],
      ['51'],
    ],
  ])('finds %s', (_what, inputs, outputs) => {
    const made = madeBlock([stranger(), madeTransaction(inputs, outputs), stranger()]);
    expect(expectSame(made)).toBe('walked');
    expect(placesIn(made)).toEqual([2]);
  });

  it('finds what a coinbase pays to us', () => {
    expect(placesIn(madeBlock([stranger()], { pays: [payTo(OURS)] }))).toEqual([0]);
  });

  it.each<[string, MadeInput[], (string | Uint8Array)[]]>([
    ['our key hash behind the code of old addresses', [LEGACY], [`76a914${hashOf(OURS)}88ac`]],
    ['as data', [LEGACY], [`6a14${hashOf(OURS)}`]],
    ['in a program of another version', [LEGACY], [`5114${hashOf(OURS)}`]],
    ['with a byte more', [LEGACY], [`${payTo(OURS)}00`]],
    ['pushed in a longer way', [LEGACY], [`004c14${hashOf(OURS)}`]],
    ['our key before another item', [{ witness: [OURS, SIGNATURE] }], ['51']],
    ['our key behind two items', [{ witness: [SIGNATURE, SIGNATURE, OURS] }], ['51']],
    ['our key alone, as after a taproot signature that was left out', [{ witness: [OURS] }], ['51']],
    ['our key in an old input', [{ scriptSig: scripts.compile([SIGNATURE, OURS]) }], ['51']],
    ['our key and an annex', [{ witness: [SIGNATURE, OURS, Buffer.from([0x50])] }], ['51']],
  ])('takes for nobody of ours %s', (_what, inputs, outputs) => {
    const made = madeBlock([stranger(), madeTransaction(inputs, outputs)]);
    expect(expectSame(made)).toBe('walked');
    expect(placesIn(made)).toEqual([]);
  });

  it('gives others a turn, however a block is filled', () => {
    const steps = (made: MadeBlock): number => [...walkBlock(made.bytes, made, REGTEST, hasKey)].length;
    expect(steps(madeBlock([stranger()]))).toBe(0);
    expect(steps(madeBlock(Array.from({ length: 2_000 }, stranger)))).toBeGreaterThan(5);
    expect(
      steps(
        madeBlock([
          madeTransaction(
            Array.from({ length: 10_000 }, () => spend(THEIRS)),
            ['51'],
          ),
        ]),
      ),
    ).toBeGreaterThan(15);
  });
});

describe('a walk over a block doubts', () => {
  const good = madeBlock([madeTransaction([LEGACY], [payTo(OURS)]), stranger()]);
  const doubts = (made: MadeBlock): void => {
    expect(walk(made)).toBeNull();
    expect(readWithCare(made)).toBeUndefined();
  };

  it('another hash, height or network than it was asked about', () => {
    expect(walk(good)).not.toBeNull();
    doubts({ ...good, hash: 'ab'.repeat(32) });
    doubts({ ...good, height: good.height + 1 });
    expect(atOnce(walkBlock(good.bytes, good, bitcoinParams('mainnet'), hasKey))).toBeNull();
    expect(atOnce(walkBlock(good.bytes, good, { ...REGTEST, sinceThen: { height: 106, easiestTarget: 1n } }, hasKey))).toBeNull();
  });

  it('one that ends anywhere but at its end', () => {
    for (let length = 0; length < good.bytes.length; length++) expect(walk({ ...good, bytes: good.bytes.subarray(0, length) }), String(length)).toBeNull();
    doubts({ ...good, bytes: withBytes(good.bytes, good.bytes.length, '00') });
  });

  it('the last transactions told twice, which leaves an odd tree its root (CVE-2012-2459)', () => {
    const [a, b, c, d, e] = Array.from({ length: 5 }, () => madeTransaction([LEGACY], [payTo(OURS)])) as [Buffer, Buffer, Buffer, Buffer, Buffer];
    for (const [once, twice] of [
      [
        [a, b],
        [a, b, b],
      ],
      [
        [a, b, c, d, e],
        [a, b, c, d, e, d, e],
      ],
    ] as const) {
      const [plain, mutated] = [madeBlock(once, { commits: false }), madeBlock(twice, { commits: false })];
      expect(mutated.bytes.subarray(0, 80)).toEqual(plain.bytes.subarray(0, 80));
      expect(walk(plain)).not.toBeNull();
      doubts(mutated);
    }
  });

  it('two hashes side by side, told as a transaction of 64 bytes (CVE-2017-12842)', () => {
    const leaves = [stranger(), stranger(), stranger()].map((bytes) => Buffer.from(Transaction.fromBuffer(bytes).getHash()));
    const inner = Buffer.concat([leaves[0] as Buffer, leaves[1] as Buffer]);
    expect(inner).toHaveLength(64);
    doubts(proven(Buffer.concat([compactSize(1), inner]), merkleRoot([merkleRoot([leaves[0] as Buffer, leaves[1] as Buffer])]), 106));
  });

  it('a transaction of 64 bytes beside the coinbase only as reading it does', () => {
    // Version, one input without a script, one output of four bytes, lock time.
    const small = Buffer.from(`0200000001${'11'.repeat(32)}0000000000fdffffff01${'e803000000000000'}0451515151${'00000000'}`, 'hex');
    expect(small).toHaveLength(64);
    expect(expectSame(madeBlock([small]))).toBe('walked');
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['no transaction', () => Buffer.alloc(0)],
    ['a witness that is cut', (bytes) => bytes.subarray(0, -6)],
    ['an amount beyond all coins', (bytes) => withBytes(bytes, bytes.indexOf('e803000000000000', 'hex'), '0140075af0750700', 8)],
    ['an amount that would be negative', (bytes) => withBytes(bytes, bytes.indexOf('e803000000000000', 'hex'), 'ffffffffffffffff', 8)],
    ['no outputs', () => madeTransaction([LEGACY], [])],
    ['no inputs', () => madeTransaction([], ['51'])],
    ['a length beyond the bytes', (bytes) => withBytes(bytes, bytes.indexOf('160014', 'hex'), 'feffffff7f', 1)],
    ['a length of eight bytes', (bytes) => withBytes(bytes, bytes.indexOf('160014', 'hex'), 'ff1600000000000080', 1)],
    ['a second coinbase', () => madeBlock([]).bytes.subarray(81)],
  ])('%s', (_what, change) => doubts(madeBlock([change(stranger())])));

  it('lengths that are written longer than they have to be, which reading takes as they are', () => {
    const long = (bytes: Buffer, width: number): Buffer => withBytes(bytes, bytes.indexOf('160014', 'hex'), compactSize(0x16, width).toString('hex'), 1);
    for (const width of [3, 5, 9]) expect(walk(madeBlock([long(stranger(), width)])), String(width)).toBeNull();
    expect(walk(madeBlock([stranger()], { count: compactSize(2, 3) }))).toBeNull();
  });

  it('a coinbase in the second place, or none', () => {
    const coinbase = madeBlock([]).bytes.subarray(81);
    doubts(madeBlock([coinbase], { coinbase: stranger() }));
    doubts(madeBlock([], { coinbase: stranger() }));
  });

  it('witnesses that the coinbase does not commit to', () => {
    const [spent, other] = [madeTransaction([spend(OURS)], ['51']), madeTransaction([spend(OURS)], ['51'])] as const;
    doubts(madeBlock([spent], { commits: false }));
    doubts(madeBlock([spent], { reserved: Buffer.alloc(31) }));
    // The id of a transaction does not cover its witness.
    const made = madeBlock([spent, other]);
    const at = made.bytes.indexOf(OURS);
    const hidden = Buffer.from(made.bytes);
    hidden.set(THEIRS, at);
    doubts({ ...made, bytes: hidden });
    const stripped = Transaction.fromBuffer(spent);
    stripped.setWitness(0, []);
    const without = Buffer.from(stripped.toBuffer());
    const start = made.bytes.indexOf(spent);
    doubts({ ...made, bytes: Buffer.concat([made.bytes.subarray(0, start), without, made.bytes.subarray(start + spent.length)]) });
  });

  it('more bytes than the rules of the network allow', () => {
    const huge = madeTransaction([{ witness: [Buffer.alloc(4_000_000)] }], ['51']);
    expect(walk(madeBlock([huge]))).toBeNull();
    expect(walk(madeBlock([madeTransaction([{ witness: [Buffer.alloc(3_900_000)] }], ['51'])]))).not.toBeNull();
  });
});

it('what is changed by chance is believed only when reading it believes it', () => {
  const { walked } = fuzzBlocks(1, 2_000);
  expect(walked).toBeGreaterThan(100);
});

it('whoever pays us out of taproot scripts, which take a millisecond each, makes nobody wait, whichever way the block is read', async () => {
  const [script, internal] = [Buffer.from([0x51]), THEIRS.subarray(1)];
  const leaf = crypto.taggedHash('TapLeaf', Buffer.concat([Buffer.from([0xc0, 1]), script]));
  const key = curve.xOnlyPointAddTweak(internal, crypto.taggedHash('TapTweak', Buffer.concat([internal, leaf])))?.xOnlyPubkey as Uint8Array;
  const witness = [script, Buffer.concat([Buffer.from([0xc0]), internal])];
  const made = madeBlock(
    Array.from({ length: 10 }, () =>
      madeTransaction(
        Array.from({ length: 10 }, () => ({ witness })),
        [payTo(OURS)],
      ),
    ),
  );
  const block = structuredClone(toldBlock(made)) as { tx: { txid: string; vin: { prevout: { scriptPubKey: { hex: string } } }[] }[] };
  for (const { vin } of block.tx) for (const { prevout } of vin) prevout.scriptPubKey.hex = `5120${Buffer.from(key).toString('hex')}`;
  const reader = bitcoinReader({ name: 'bitcoin', chainId: 'regtest' }, async (method, [asked, verbosity]) => {
    if (method === 'getblock' && verbosity === 0) return made.bytes.toString('hex');
    return method === 'getrawtransaction' ? block.tx.find(({ txid }) => txid === asked) : block;
  });
  const table = createAddressTable();
  table.add(addressOfScript(payTo(OURS), REGTEST) as string);
  // By this clock each input took longer than anybody may wait.
  let now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 20));
  onTestFinished(() => clock.mockRestore());
  for (const watched of [table, { has: (address: string) => table.has(address) }]) {
    let turns = 0;
    let next: NodeJS.Immediate | undefined;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    count();
    expect((await reader.block(made.hash, watched)).transfers).toHaveLength(10);
    clearImmediate(next);
    expect(turns).toBeGreaterThan(100);
  }
});
