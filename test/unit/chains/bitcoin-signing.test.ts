import { secp256k1 } from '@noble/curves/secp256k1.js';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { Psbt, Transaction } from 'bitcoinjs-lib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scriptOfAddress } from '#shared/chains/bitcoin/address.ts';
import { bitcoinDecoder } from '#shared/chains/bitcoin/decode.ts';
import { bitcoinDeriver } from '#shared/chains/bitcoin/deriver.ts';
import { type BitcoinFields, readFields, writeFields } from '#shared/chains/bitcoin/fields.ts';
import { bitcoinParams } from '#shared/chains/bitcoin/params.ts';
import { decodePsbt, encodePsbt } from '#shared/chains/bitcoin/psbt.ts';
import { addressOfScript } from '#shared/chains/bitcoin/script.ts';
import { bitcoinSigner, compare } from '#shared/chains/bitcoin/signer.ts';
import { networkBytes, type Spend, sighashesOf } from '#shared/chains/bitcoin/spend.ts';
import { leastVsizeOf, vsizeOf } from '#shared/chains/bitcoin/vsize.ts';
import type { OwnOutput, SigningRequest } from '#shared/chains/chain.ts';
import { decoderOf, outputsOf } from '#shared/chains/payers.ts';
import { openSigner } from '#shared/chains/signers.ts';
import { Invariant } from '#shared/core/errors.ts';
import { times } from '#test/harness/counts.ts';

const SEED = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const ABANDON = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
const HOT = "m/84'/1'/1'/0/0";
const params = bitcoinParams('regtest');
const signer = bitcoinSigner({ chainId: 'regtest' }, SEED);
const decode = bitcoinDecoder('regtest');
const hot = signer.addressAt(HOT);
const pathOf = (index: number) => `m/84'/1'/0'/0/${index}`;
const paths = Object.fromEntries([0, 1, 2, 3].map((index) => [signer.addressAt(pathOf(index)), pathOf(index)]));
const owners = [hot, ...Object.keys(paths)];
const BOB = addressOfScript(`5120${'55'.repeat(32)}`, params) as string;

const script = (address: string) => scriptOfAddress(address, params);
const coin = (rawAmount: bigint, at: number, address = owners[at % owners.length] as string): OwnOutput => ({
  txid: Buffer.from([at + 1, ...new Uint8Array(31)]).toString('hex'),
  vout: at,
  rawAmount,
  address,
});
const request = (rawAmount: bigint, inputs: OwnOutput[], change: BitcoinFields['change'], recipient = BOB): SigningRequest => ({
  intent: { sender: hot, recipient, contract: null, rawAmount },
  nonce: null,
  fields: writeFields({ inputs, change }),
  paths,
});
const PLAIN = request(100_000n, [coin(90_000n, 1), coin(20_000n, 0)], { rawAmount: 8_000n, address: hot });
const sign = (asked: SigningRequest) => signer.sign(HOT, asked);
const refused = (asked: SigningRequest) => expect(sign(asked)).rejects.toThrow(Invariant);

const scripts = fc.oneof(
  ...(
    [
      [20, '76a914', '88ac'],
      [20, 'a914', '87'],
      [20, '0014', ''],
      [32, '0020', ''],
      [32, '5120', ''],
    ] as const
  ).map(([size, before, after]) =>
    fc
      .uint8Array({ minLength: size, maxLength: size })
      .map((bytes) => addressOfScript(`${before}${Buffer.from(bytes).toString('hex')}${after}`, params) as string),
  ),
);
const requests = fc
  .record({
    amounts: fc.array(fc.bigInt({ min: 1_000n, max: 10n ** 12n }), { minLength: 1, maxLength: 5 }),
    share: fc.bigInt({ min: 1n, max: 90n }),
    back: fc.boolean(),
    recipient: scripts,
  })
  .map(({ amounts, share, back, recipient }) => {
    const inputs = amounts.map((rawAmount, at) => coin(rawAmount, at));
    const sum = amounts.reduce((a, b) => a + b);
    const fee = sum < 20_000n ? 500n : 10_000n;
    const rawAmount = back ? (sum * share) / 100n : sum - fee;
    const change = back && sum - rawAmount - fee > 0n ? { rawAmount: sum - rawAmount - fee, address: hot } : null;
    return request(change === null ? sum - fee : rawAmount, inputs, change, recipient);
  });

/** What honest bytes become when one thing in them is changed. */
async function changed(change: (spend: Spend) => Spend): Promise<Uint8Array> {
  const { signedBytes } = await sign(PLAIN);
  const tampered = encodePsbt(change(decodePsbt(signedBytes)));
  expect(tampered.equals(signedBytes)).toBe(false);
  return tampered;
}

const witness = (spend: Spend, at: number) => (spend.inputs[at] as Spend['inputs'][number]).witness;
const withInput = (spend: Spend, at: number, more: Partial<Spend['inputs'][number]>): Spend => ({
  ...spend,
  inputs: spend.inputs.map((input, place) => (place === at ? { ...input, ...more } : input)),
});
const withOutput = (spend: Spend, at: number, more: Partial<Spend['outputs'][number]>): Spend => ({
  ...spend,
  outputs: spend.outputs.map((output, place) => (place === at ? { ...output, ...more } : output)),
});
const keyOf = (path: string) => HDKey.fromMasterSeed(mnemonicToSeedSync(SEED)).derive(path);
/** Signs one input anew with any key, saying any kind of signature. */
const signedBy = (spend: Spend, at: number, path: string, kind = 1, lowS = true): Uint8Array[] => {
  const key = keyOf(path);
  const signature = secp256k1.sign(sighashesOf(spend)[at] as Uint8Array, key.privateKey as Uint8Array, { prehash: false, lowS, format: 'der' });
  return [Uint8Array.from([...signature, kind]), key.publicKey as Uint8Array];
};
const pathOfScript = (owner: string): string => (owner === script(hot) ? HOT : (paths[addressOfScript(owner, params) as string] as string));
const [first] = readFields(PLAIN.fields).inputs as [OwnOutput];
const firstPath = paths[first.address] as string;

describe('signed bytes of Bitcoin', () => {
  it('are read back, by a reader that shares nothing with their writer, to exactly the request', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async (asked) => {
        const { txid, signedBytes, rawFeeLimit, expiresAtMs } = await sign(asked);
        const { inputs, change } = readFields(asked.fields);
        const fee = inputs.reduce((sum, one) => sum + one.rawAmount, 0n) - asked.intent.rawAmount - (change?.rawAmount ?? 0n);
        expect({ rawFeeLimit, expiresAtMs }).toEqual({ rawFeeLimit: fee, expiresAtMs: null });
        expect(await decode(signedBytes)).toEqual({
          ...asked.intent,
          sender: inputs[0]?.address,
          nonce: null,
          rawFeeLimit: fee,
          expiresAtMs: null,
          txid,
          chainId: null,
          fields: asked.fields,
        });
        // A second reader: what bitcoinjs-lib itself would hand to the network.
        const extracted = Psbt.fromBuffer(signedBytes).extractTransaction(true);
        expect(extracted.toHex()).toBe(networkBytes(decodePsbt(signedBytes)).toString('hex'));
        expect(extracted.getId()).toBe(txid);
        expect(extracted.ins.every(({ sequence }) => sequence === 0xfffffffd)).toBe(true);
        // Never larger than its fee assumes, for every kind of recipient, and hardly smaller.
        const paid = [script(asked.intent.recipient), ...(change === null ? [] : [script(hot)])];
        const real = BigInt(extracted.virtualSize());
        expect(real).toBeLessThanOrEqual(vsizeOf(inputs.length, paid));
        expect(real).toBeGreaterThanOrEqual(leastVsizeOf(inputs.length, paid));
      }),
      { numRuns: times(800) },
    );
  });

  it('are at the most as large as their fee assumes, the count of their inputs included', () => {
    for (const inputs of [1, 252, 253, 400]) {
      const longest = [new Uint8Array(72), new Uint8Array(33)];
      const outputs = [script(BOB), script(hot)].map((one) => ({ rawAmount: 1n, script: one }));
      const input = { txid: 'ab'.repeat(32), vout: 0, sequence: 0, spent: { rawAmount: 1n, script: script(hot) }, witness: longest };
      const bytes = networkBytes({ version: 2, inputs: Array.from({ length: inputs }, () => input), outputs, lockTime: 0 });
      expect(BigInt(Transaction.fromBuffer(bytes).virtualSize())).toBe(vsizeOf(inputs, [script(BOB), script(hot)]));
    }
  });

  it('may spend the anchor alone, back to its wallet', async () => {
    const anchor = coin(90_000n, 1);
    const close = request(89_000n, [anchor], null, hot);
    const { signedBytes } = await sign(close);
    expect(await decode(signedBytes)).toMatchObject({ sender: anchor.address, recipient: hot, rawAmount: 89_000n, rawFeeLimit: 1_000n, fields: close.fields });
  });

  it('of other networks have the addresses of those', async () => {
    const mainnet = openSigner({ name: 'bitcoin', family: 'bitcoin', chainId: 'mainnet' }, ABANDON);
    const path = "m/84'/0'/0'/0/0";
    // The test vector of BIP-84.
    expect(mainnet.addressAt(path)).toBe('bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu');
    expect(mainnet.xpubAt("m/84'/0'/0'")).toBe(
      'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs',
    );
    const wallet = mainnet.addressAt(path);
    const asked: SigningRequest = {
      intent: { sender: wallet, recipient: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', contract: null, rawAmount: 10_000n },
      nonce: null,
      fields: writeFields({ inputs: [coin(12_000n, 0, wallet)], change: null }),
    };
    const { signedBytes } = await mainnet.sign(path, asked);
    expect(await decoderOf({ family: 'bitcoin', chainId: 'mainnet' })(signedBytes)).toMatchObject({ ...asked.intent, fields: asked.fields });
    expect(await decode(signedBytes)).not.toMatchObject({ recipient: asked.intent.recipient });
  });
});

/** The same, with good signatures of what it became. */
const resigned = (spend: Spend): Spend => ({
  ...spend,
  inputs: spend.inputs.map((input, at) => ({ ...input, witness: signedBy(spend, at, pathOfScript(input.spent.script)) })),
});

describe('bytes of Bitcoin that are signed well', () => {
  it.each<[string, RegExp, (spend: Spend) => Spend]>([
    ['have a third output', /3 outputs/, (spend) => ({ ...spend, outputs: [...spend.outputs, { rawAmount: 500n, script: script(BOB) }] })],
    ['have no outputs', /0 outputs/, (spend) => ({ ...spend, outputs: [] })],
    ['have an output that holds nothing', /holds nothing/, (spend) => withOutput(spend, 1, { rawAmount: 0n })],
    ['make more than they spend', /more than it spends/, (spend) => withOutput(spend, 0, { rawAmount: 1_000_000n })],
    ['spend an input twice', /twice/, (spend) => ({ ...spend, inputs: [...spend.inputs, ...spend.inputs.slice(0, 1)] })],
    ['cannot be replaced', /sequence/, (spend) => withInput(spend, 0, { sequence: 0xffffffff })],
    ['wait for a height', /lock time/, (spend) => ({ ...spend, lockTime: 900_000 })],
    ['are of version 1', /version/, (spend) => ({ ...spend, version: 1 })],
    ['pay to a script without an address', /without an address/, (spend) => withOutput(spend, 0, { script: `6a04${'00'.repeat(4)}` })],
  ])('are refused all the same when they %s', async (_name, words, change) => {
    await expect(decode(await changed((spend) => resigned(change(spend))))).rejects.toThrow(words);
  });

  it('are good when nothing else is wrong with them', async () => {
    const other = await changed((spend) => resigned(withOutput(spend, 0, { rawAmount: 100_001n })));
    expect(await decode(other)).toMatchObject({ rawAmount: 100_001n, rawFeeLimit: 1_999n });
  });
});

describe('signed bytes of Bitcoin that somebody changed', () => {
  it.each<[string, (spend: Spend) => Spend]>([
    ['pay somebody else', (spend) => withOutput(spend, 0, { script: script(hot) })],
    ['pay another amount', (spend) => withOutput(spend, 0, { rawAmount: 100_001n })],
    ['send the change elsewhere', (spend) => withOutput(spend, 1, { script: script(BOB) })],
    ['leave more to the miner', (spend) => withOutput(spend, 1, { rawAmount: 7_999n })],
    ['have no change any more', (spend) => ({ ...spend, outputs: spend.outputs.slice(0, 1) })],
    ['have their outputs swapped', (spend) => ({ ...spend, outputs: spend.outputs.toReversed() })],
    ['have their inputs swapped', (spend) => ({ ...spend, inputs: spend.inputs.toReversed() })],
    ['spend one input less', (spend) => ({ ...spend, inputs: spend.inputs.slice(0, 1) })],
    ['spend nothing', (spend) => ({ ...spend, inputs: [] })],
    [
      'say that an input holds less, so that the fee looks smaller',
      (spend) => withInput(spend, 0, { spent: { rawAmount: 89_000n, script: script(first.address) } }),
    ],
    ['say that an input is somebody else’s', (spend) => withInput(spend, 0, { spent: { rawAmount: 90_000n, script: script(hot) } })],
    ['spend another output', (spend) => withInput(spend, 0, { vout: 7 })],
    ['have the witnesses swapped', (spend) => withInput(withInput(spend, 0, { witness: witness(spend, 1) }), 1, { witness: witness(spend, 0) })],
    ['have a signature by another key', (spend) => withInput(spend, 0, { witness: signedBy(spend, 0, HOT) })],
    [
      'have a signature beside another key',
      (spend) => withInput(spend, 0, { witness: [witness(spend, 0)[0] as Uint8Array, witness(spend, 1)[1] as Uint8Array] }),
    ],
    ['lack a witness', (spend) => withInput(spend, 1, { witness: [] })],
    ['lack a signature', (spend) => withInput(spend, 1, { witness: [new Uint8Array(), witness(spend, 1)[1] as Uint8Array] })],
    ['have one witness item more', (spend) => withInput(spend, 1, { witness: [...witness(spend, 1), new Uint8Array()] })],
    ['sign only some of the outputs', (spend) => withInput(spend, 0, { witness: signedBy(spend, 0, firstPath, 0x03) })],
    ['let anybody add inputs', (spend) => withInput(spend, 0, { witness: signedBy(spend, 0, firstPath, 0x81) })],
    [
      'have a bit of a signature flipped',
      (spend) => withInput(spend, 0, { witness: [flipped(witness(spend, 0)[0] as Uint8Array), witness(spend, 0)[1] as Uint8Array] }),
    ],
    ['have a high S', (spend) => withInput(spend, 0, { witness: highS(spend) })],
    ['spend what is not P2WPKH', (spend) => withInput(spend, 0, { spent: { rawAmount: 90_000n, script: `5120${'55'.repeat(32)}` } })],
  ])('are refused when they %s', async (_name, change) => {
    await expect(decode(await changed(change))).rejects.toThrow(Invariant);
  });

  it('are refused when they are good but were not asked for', async () => {
    const { signedBytes } = await sign(PLAIN);
    const decoded = await decode(signedBytes);
    expect(() => compare(PLAIN, decoded)).not.toThrow();
    const others = [
      { ...decoded, recipient: hot },
      { ...decoded, rawAmount: 100_001n },
      { ...decoded, sender: hot },
      { ...decoded, nonce: 1 },
      { ...decoded, fields: { ...decoded.fields, change: `8001:${hot}` } },
      { ...decoded, fields: { ...decoded.fields, inputs: `${decoded.fields.inputs},${'aa'.repeat(32)}:0:1:${hot}` } },
    ];
    for (const other of others) expect(() => compare(PLAIN, other)).toThrow(/differ from the request/);
  });

  it('are refused in any other spelling, cut short or with anything after them', async () => {
    const { signedBytes } = await sign(PLAIN);
    const others = [
      signedBytes.subarray(0, -1),
      Uint8Array.from([...signedBytes, 0]),
      new Uint8Array(),
      networkBytes(decodePsbt(signedBytes)),
      Psbt.fromBuffer(signedBytes)
        .addUnknownKeyValToInput(0, { key: Uint8Array.of(0xfc, 1), value: Uint8Array.of(1) })
        .toBuffer(),
      Psbt.fromBuffer(signedBytes)
        .addUnknownKeyValToOutput(0, { key: Uint8Array.of(0xfc, 1), value: Uint8Array.of(1) })
        .toBuffer(),
    ];
    for (const other of others) await expect(decode(other)).rejects.toThrow(Invariant);
  });

  it('are refused, and nothing else happens, whatever single byte is changed', async () => {
    const { signedBytes } = await sign(PLAIN);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: signedBytes.length - 1 }), fc.integer({ min: 1, max: 255 }), async (at, by) => {
        const other = Uint8Array.from(signedBytes);
        other[at] = (other[at] as number) ^ by;
        await expect(decode(other)).rejects.toThrow(Invariant);
      }),
      { numRuns: times(2_000) },
    );
  });
});

describe('what the signer of Bitcoin is asked', () => {
  const inputs = [coin(90_000n, 1), coin(20_000n, 0)];
  const change = { rawAmount: 8_000n, address: hot };

  it('is refused when the wallet, the change or a path is not its own', async () => {
    const other = owners[2] as string;
    await refused({ ...PLAIN, intent: { ...PLAIN.intent, sender: other } });
    await refused(request(100_000n, inputs, { ...change, address: other }));
    for (const wrong of [{}, { [first.address]: pathOf(3) }]) await expect(sign({ ...PLAIN, paths: wrong })).rejects.toThrow(/no path, or a wrong one/);
    await refused({ ...PLAIN, paths: { [first.address]: 'm/84h/0' } });
    await refused(request(100_000n, [coin(90_000n, 1, BOB), coin(20_000n, 0)], change));
    await expect(signer.sign(pathOf(0), PLAIN)).rejects.toThrow(/their wallet/);
  });

  it('is refused when it pays more than it spends, nothing at all, or a fee that no rate below the cap makes', async () => {
    await refused(request(102_001n, inputs, change));
    await refused(request(0n, inputs, change));
    await refused(request(20_000n, [coin(200_000n, 1)], null));
    const capped = bitcoinSigner({ chainId: 'regtest', feeRate: { cap: '5' } }, SEED);
    await expect(capped.sign(HOT, PLAIN)).rejects.toThrow(/leaves a fee of 2000, and for this payment the highest rate makes 1399/);
    await refused({ ...PLAIN, nonce: 1 });
    await refused({ ...PLAIN, intent: { ...PLAIN.intent, contract: hot } });
    await refused({ ...PLAIN, intent: { ...PLAIN.intent, recipient: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu' } });
  });

  it('is refused when its fields are anything but what a plan writes', async () => {
    const { inputs: written, change: back } = PLAIN.fields as { inputs: string; change: string };
    const fields = [
      {},
      { inputs: written },
      { inputs: written, change: back, more: '' },
      { inputs: '', change: back },
      { inputs: `${written},`, change: back },
      { inputs: `${written},${written}`, change: back },
      { inputs: written.replace(':90000:', ':090000:'), change: back },
      { inputs: written.replace(':90000:', ':9e4:'), change: back },
      { inputs: written.replace(':1:', ':4294967296:'), change: back },
      { inputs: written.replace(':90000:', ':2100000000000001:'), change: back },
      { inputs: written, change: `0:${hot}` },
      { inputs: written, change: hot },
    ] as Record<string, string>[];
    for (const other of fields) {
      expect(() => outputsOf('bitcoin', other)).toThrow(Invariant);
      await refused({ ...PLAIN, fields: other });
    }
    await refused({ ...PLAIN, fields: { inputs: written.toUpperCase(), change: back } });
    expect(outputsOf('bitcoin', PLAIN.fields)).toEqual({ inputs, change });
    expect(outputsOf('evm', PLAIN.fields)).toBeNull();
  });

  it('has keys below the seed, and account keys that the deriver takes', () => {
    expect(hot).toBe('bcrt1qgnjggmy65s5s5fen2tnt3gm4uxmru7n66nspdj');
    const deriver = bitcoinDeriver(signer.xpubAt("m/84'/1'/0'"), 'regtest');
    expect([deriver.fingerprint, deriver.depositAddress(0), deriver.depositAddress(3)]).toEqual([
      '65f48bca',
      signer.addressAt(pathOf(0)),
      signer.addressAt(pathOf(3)),
    ]);
    expect(() => bitcoinSigner({ chainId: 'regtest' }, 'not a seed')).toThrow(expect.objectContaining({ message: expect.not.stringContaining('not a seed') }));
  });
});

function flipped(signature: Uint8Array): Uint8Array {
  const other = Uint8Array.from(signature);
  other[20] = (other[20] as number) ^ 1;
  return other;
}

/** The other of the two signatures that the same key makes of everything: valid by itself, and passed on by nobody (BIP-146). */
function highS(spend: Spend): Uint8Array[] {
  const [der, key] = witness(spend, 0) as [Uint8Array, Uint8Array];
  const { r, s } = secp256k1.Signature.fromBytes(der.subarray(0, -1), 'der');
  const high = new secp256k1.Signature(r, secp256k1.Point.Fn.ORDER - s).toBytes('der');
  return [Uint8Array.from([...high, 1]), key];
}
