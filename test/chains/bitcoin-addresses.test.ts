import * as curve from 'tiny-secp256k1';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { address as bitcoinjs, initEccLib, networks } from 'bitcoinjs-lib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAddress, scriptOfAddress } from '#shared/chains/bitcoin/address.ts';
import { base58check } from '#shared/chains/bitcoin/base58.ts';
import { plainXpub } from '#shared/chains/bitcoin/deriver.ts';
import { BITCOIN_NETWORKS, bitcoinParams } from '#shared/chains/bitcoin/params.ts';
import { addressOfScript, ownerOfScript, witnessScript } from '#shared/chains/bitcoin/script.ts';
import { codecOf, openDeriver } from '#shared/chains/codecs.ts';
import { DEMO_SEED } from '#shared/platform/config.ts';
import { times } from '#test/harness/counts.ts';

const ABANDON = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
/** The account of BIP-84's own test vectors. */
const BIP84_ZPUB = 'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs';
const codec = (chainId: string) => codecOf({ family: 'bitcoin', chainId });
const deriver = (chainId: string, accountXpub: string, accountFingerprint = 'fd13aac9') =>
  openDeriver({ name: 'bitcoin', family: 'bitcoin', chainId, accountXpub, accountFingerprint });
/** The same key under another prefix. */
const under = (version: number, key = BIP84_ZPUB): string => {
  const bytes = base58check.decode(key);
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, version);
  return base58check.encode(bytes);
};

describe('deposit addresses', () => {
  it('are those of BIP-84, from the zpub alone', () => {
    const published = deriver('mainnet', BIP84_ZPUB);
    expect(published.fingerprint).toBe('fd13aac9');
    expect(published.depositAddress(0)).toBe('bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu');
    expect(published.depositAddress(1)).toBe('bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g');
  });

  it.each([
    ['mainnet', 'zpub', 0x04b24746, 'bc1q'],
    ['mainnet', 'xpub', 0x0488b21e, 'bc1q'],
    ['testnet4', 'vpub', 0x045f1cf6, 'tb1q'],
    ['signet', 'tpub', 0x043587cf, 'tb1q'],
    ['regtest', 'vpub', 0x045f1cf6, 'bcrt1q'],
  ])('on %s come from a %s', (chainId, text, version, prefix) => {
    const key = under(version);
    expect(key.startsWith(text)).toBe(true);
    const address = deriver(chainId, key).depositAddress(0);
    expect(address.startsWith(prefix)).toBe(true);
    // The same twenty bytes everywhere.
    expect(scriptOfAddress(address, bitcoinParams(chainId))).toBe(scriptOfAddress('bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu', bitcoinParams('mainnet')));
    expect(codec(chainId).parse(address)).toEqual({ ok: true, canonical: address });
  });

  it.each([
    ['the xpub of another network', 'regtest', under(0x0488b21e), /is a xpub, for Bitcoin's mainnet, and this network is regtest/],
    ['a zpub on a test network', 'signet', BIP84_ZPUB, /is a zpub, for Bitcoin's mainnet/],
    ['a vpub on mainnet', 'mainnet', under(0x045f1cf6), /is a vpub, for Bitcoin's test networks, and this network is mainnet/],
    ['an account of addresses wrapped in P2SH', 'mainnet', under(0x049d7cb2), /is a ypub, for segwit wrapped in P2SH/],
    ['the same of a test network', 'regtest', under(0x044a5262), /is a upub, for segwit wrapped in P2SH/],
    ['an account of addresses of several keys', 'mainnet', under(0x02aa7ed3), /is a Zpub, for addresses of several keys/],
    ['the same of a test network', 'regtest', under(0x02575483), /is a Vpub/],
    ['an unknown prefix', 'mainnet', under(0x01020304), /no extended public key of Bitcoin/],
    ['a wrong checksum', 'mainnet', BIP84_ZPUB.replace(/s$/, 't'), /its text or checksum is wrong/],
    ['an address', 'mainnet', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', /no extended public key of Bitcoin/],
  ])('are refused for %s', (_what, chainId, key, problem) => {
    expect(() => deriver(chainId, key)).toThrow(problem);
  });

  it.each([0x0488ade4, 0x04b2430c, 0x049d7878, 0x04358394, 0x045f18bc, 0x044a4e28])('are never derived from a private key, under the prefix %i', (version) => {
    const account = HDKey.fromMasterSeed(mnemonicToSeedSync(ABANDON)).derive("m/84'/0'/0'");
    const key = under(version, account.privateExtendedKey);
    expect(() => deriver('mainnet', key)).toThrow(/must be an xpub; this one is private/);
    // A private key under the prefix of a public one is still one.
    expect(() => deriver('mainnet', under(0x04b24746, account.privateExtendedKey))).toThrow();
  });

  it('are refused for an xpub other than the pinned one', () => {
    expect(() => deriver('mainnet', BIP84_ZPUB, '00000000')).toThrow(/fingerprint fd13aac9, but 00000000 is pinned/);
  });

  it('are refused on a network nobody knows', () => {
    expect(() => deriver('testnet3', BIP84_ZPUB)).toThrow(/does not know the Bitcoin network testnet3/);
    expect(() => codec('liquid')).toThrow(/one of mainnet, testnet4, signet, regtest/);
  });

  it('equal those of the keys below the seed, at small and large indexes', () => {
    const params = bitcoinParams('regtest');
    const master = HDKey.fromMasterSeed(mnemonicToSeedSync(DEMO_SEED), params.segwitKeys);
    const account = master.derive("m/84'/1'/0'");
    const demo = deriver('regtest', account.publicExtendedKey, '65f48bca');
    for (const index of [0, 1, 255, 65_536, 2 ** 31 - 1]) {
      const key = master.derive(`m/84'/1'/0'/0/${index}`);
      expect(addressOfScript(witnessScript(0, key.pubKeyHash as Uint8Array), params)).toBe(demo.depositAddress(index));
    }
  });

  it('know one key by all of its texts', () => {
    const texts = [0x04b24746, 0x0488b21e, 0x045f1cf6, 0x043587cf].map((version) => plainXpub(under(version)));
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toMatch(/^xpub/);
    expect(() => plainXpub('1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa')).toThrow(/not an extended public key/);
  });
});

/** Addresses and scripts of BIP-350, which replaces those of BIP-173. */
const WITNESS: readonly (readonly [chainId: string, text: string, script: string, payable: boolean])[] = [
  ['mainnet', 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', '0014751e76e8199196d454941c45d1b3a323f1433bd6', true],
  ['signet', 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7', '00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262', true],
  [
    'mainnet',
    'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y',
    '5128751e76e8199196d454941c45d1b3a323f1433bd6751e76e8199196d454941c45d1b3a323f1433bd6',
    false,
  ],
  ['mainnet', 'BC1SW50QGDZ25J', '6002751e', false],
  ['mainnet', 'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs', '5210751e76e8199196d454941c45d1b3a323', false],
  ['testnet4', 'tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy', '0020000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433', true],
  ['testnet4', 'tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c', '5120000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433', true],
  ['mainnet', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0', '512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798', true],
];

/** What BIP-350 and BIP-173 say must be refused, and why. */
const NO_WITNESS: readonly (readonly [text: string, why: RegExp])[] = [
  ['tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut', /begins with tc1/],
  ['bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd', /checksum of bech32, but its witness version 1/],
  ['tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf', /checksum of bech32, but its witness version 2/],
  ['BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL', /checksum of bech32, but its witness version 16/],
  ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh', /checksum of bech32m, but its witness version 0/],
  ['tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47', /checksum of bech32m, but its witness version 0/],
  ['bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4', /must be a Bitcoin address/],
  ['BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R', /witness version 17/],
  ['bc1pw5dgrnzv', /1 bytes/],
  ['bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav', /41 bytes/],
  ['BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P', /16 bytes/],
  ['tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq', /mixed case/],
  ['bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf', /malformed witness program/],
  ['tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j', /malformed witness program/],
  ['bc1gmk9yu', /no witness version/],
  ['tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4ty', /begins with tc1/],
  ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', /wrong checksum/],
  ['BC13W508D6QEJXTDG4Y5R3ZARVARY0C5XW7KN40WF2', /witness version 17/],
  ['bc1rw5uspcuh', /checksum of bech32|1 bytes/],
  ['bc10w508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kw5rljs90', /checksum of bech32|bytes/],
  ['tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sL5k7', /mixed case/],
  ['bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du', /checksum of bech32|malformed/],
  ['tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3pjxtptv', /malformed witness program/],
  // Good bech32, and no address of anything.
  ['A12UEL5L', /begins with a1/],
  ['abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw', /begins with abcdef1|Bitcoin address|checksum/],
  ['an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5tgs', /begins with an83/],
  ['split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w', /begins with split1/],
  ['?1ezyfcl', /begins with \?1/],
];

describe('segwit address text', () => {
  it.each(WITNESS)('on %s, %s is the one of BIP-350', (chainId, text, script, payable) => {
    const params = bitcoinParams(chainId);
    expect(scriptOfAddress(text, params)).toBe(script);
    expect(addressOfScript(script, params)).toBe(text.toLowerCase());
    const parsed = codec(chainId).parse(text);
    if (payable) expect(parsed).toEqual({ ok: true, canonical: text.toLowerCase() });
    else expect(parsed).toMatchObject({ ok: false, problem: expect.stringMatching(/segwit address of version|those of version 1 have 32/) });
  });

  it.each(NO_WITNESS)('%s is refused', (text, why) => {
    for (const chainId of Object.keys(BITCOIN_NETWORKS))
      expect(codec(chainId).parse(text), chainId).toEqual({ ok: false, problem: expect.stringMatching(/^(is|has|must) ./) });
    expect(readAddress(text)).toEqual({ ok: false, problem: expect.stringMatching(why) });
  });

  it.each(['testnet4', 'regtest', 'mainnet'])('of another network is named as such on %s', (chainId) => {
    for (const [other, text] of WITNESS.filter(([one, , , payable]) => payable && bitcoinParams(one).hrp !== bitcoinParams(chainId).hrp))
      expect(codec(chainId).parse(text)).toEqual({
        ok: false,
        problem: `is an address of Bitcoin's ${other === 'mainnet' ? 'mainnet' : 'testnet4 and signet'}, and this network is ${chainId}`,
      });
  });

  it('of nobody is refused', () => {
    for (const program of [new Uint8Array(20), new Uint8Array(32)]) {
      const text = addressOfScript(witnessScript(0, program), bitcoinParams('mainnet')) as string;
      expect(codec('mainnet').parse(text)).toEqual({ ok: false, problem: 'is the zero address' });
    }
  });

  it('with one character changed is never another address', () => {
    const digits = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
    const text = 'bcrt1qgnjggmy65s5s5fen2tnt3gm4uxmru7n66nspdj';
    fc.assert(
      fc.property(fc.integer({ min: 5, max: text.length - 1 }), fc.integer({ min: 0, max: 31 }), (at, digit) => {
        const changed = text.slice(0, at) + digits[digit] + text.slice(at + 1);
        expect(codec('regtest').parse(changed).ok).toBe(changed === text);
      }),
      { numRuns: times(1_000) },
    );
  });
});

describe('base58check address text', () => {
  it.each([
    ['mainnet', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', '76a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1888ac'],
    ['mainnet', '1AGNa15ZQXAZUgFiqJ2i7Z2DPU2J6hW62i', '76a91465a16059864a2fdbc7c99a4723a8395bc6f188eb88ac'],
    ['mainnet', '3CMNFxN1oHBc4R1EpboAL5yzHGgE611Xou', 'a91474f209f6ea907e2ea48f74fae05782ae8a66525787'],
    ['testnet4', 'mo9ncXisMeAoXwqcV5EWuyncbmCcQN4rVs', '76a91453c0307d6851aa0ce7825ba883c6bd9ad242b48688ac'],
    ['signet', '2N2JD6wb56AfK4tfmM6PwdVmoYk2dCKf4Br', 'a9146349a418fc4578d10a372b54b45c280cc8c4382f87'],
    ['regtest', 'mo9ncXisMeAoXwqcV5EWuyncbmCcQN4rVs', '76a91453c0307d6851aa0ce7825ba883c6bd9ad242b48688ac'],
  ])('on %s, %s stands for its script', (chainId, text, script) => {
    expect(codec(chainId).parse(text)).toEqual({ ok: true, canonical: text });
    expect(scriptOfAddress(text, bitcoinParams(chainId))).toBe(script);
    expect(addressOfScript(script, bitcoinParams(chainId))).toBe(text);
  });

  it.each([
    [
      'an address of the test networks',
      'mainnet',
      'mo9ncXisMeAoXwqcV5EWuyncbmCcQN4rVs',
      "is an address of Bitcoin's test networks, and this network is mainnet",
    ],
    ['one of mainnet', 'regtest', '3CMNFxN1oHBc4R1EpboAL5yzHGgE611Xou', "is an address of Bitcoin's mainnet, and this network is regtest"],
    ['a wrong checksum', 'mainnet', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb', 'has a wrong checksum'],
    ['another case', 'mainnet', '1a1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'has a wrong checksum'],
    [
      'the coins of another chain',
      'mainnet',
      base58check.encode(new Uint8Array([0x30, ...new Uint8Array(20).fill(7)])),
      'is not a Bitcoin address: its prefix is 48',
    ],
    ['too many bytes', 'mainnet', base58check.encode(new Uint8Array(22).fill(1)), 'has 22 bytes, and base58check addresses have 21'],
    ['too few', 'mainnet', base58check.encode(new Uint8Array(20).fill(1)), 'has 20 bytes, and base58check addresses have 21'],
    ['the burning address', 'mainnet', '1111111111111111111114oLvT2', 'is the zero address'],
    ['a private key', 'mainnet', '5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ', 'has 33 bytes, and base58check addresses have 21'],
    ['a TRON address', 'mainnet', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'is a TRON address, not a Bitcoin one'],
    ['an EVM address', 'mainnet', `0x${'a'.repeat(40)}`, 'is an EVM address, not a Bitcoin one'],
    ['an EVM address with its checksum', 'regtest', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', 'is an EVM address, not a Bitcoin one'],
    ['a Litecoin address', 'mainnet', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', 'is a Litecoin address, not a Bitcoin one'],
    ['a payment link', 'mainnet', 'bitcoin:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'is a payment link; give the address in it alone'],
    ['white space', 'mainnet', ' 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'has white space around it'],
    ['nothing', 'mainnet', '', 'must be a Bitcoin address: base58check, bech32 or bech32m text'],
    ['a script without an address', 'regtest', 'script:6a00', 'must be a Bitcoin address: base58check, bech32 or bech32m text'],
  ])('with %s is refused on %s', (_what, chainId, text, problem) => {
    expect(codec(chainId).parse(text)).toEqual({ ok: false, problem });
  });
});

describe('scripts', () => {
  const params = bitcoinParams('regtest');

  it('of every standard type have the address that bitcoinjs-lib gives them', () => {
    initEccLib(curve);
    const kinds = [
      (hash: string) => `76a914${hash.slice(0, 40)}88ac`,
      (hash: string) => `a914${hash.slice(0, 40)}87`,
      (hash: string) => `0014${hash.slice(0, 40)}`,
      (hash: string) => `0020${hash}`,
    ];
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.uint8Array({ minLength: 32, maxLength: 32 }), (kind, bytes) => {
        const script = kind(Buffer.from(bytes).toString('hex'));
        const address = addressOfScript(script, params);
        expect(address).toBe(bitcoinjs.fromOutputScript(Buffer.from(script, 'hex'), networks.regtest));
        expect(scriptOfAddress(address as string, params)).toBe(script);
      }),
      { numRuns: times(500) },
    );
    const taproot = `5120${'79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'}`;
    expect(addressOfScript(taproot, params)).toBe(bitcoinjs.fromOutputScript(Buffer.from(taproot, 'hex'), networks.regtest));
  });

  it.each([
    ['a public key', `21${'02'.repeat(33)}ac`],
    ['data', '6a0401020304'],
    ['nothing', ''],
    ['a witness program of version 0 with another length', '000312aabb'],
    ['a witness program of one byte', '510112'],
    ['a witness program with a byte too many', `0014${'ab'.repeat(21)}`],
    ['almost P2PKH', `76a914${'ab'.repeat(20)}88ad`],
    ['almost P2SH', `a914${'ab'.repeat(20)}88`],
  ])('that are %s have no address and are named by themselves', (_what, script) => {
    expect(addressOfScript(script, params)).toBeNull();
    expect(ownerOfScript(script, params)).toBe(`script:${script}`);
  });

  it('that are long are named by their hash, which fits the books', () => {
    const owner = ownerOfScript('51'.repeat(10_000), params);
    expect(owner).toMatch(/^script:sha256:[0-9a-f]{64}$/);
    expect(owner.length).toBeLessThanOrEqual(128);
    expect(ownerOfScript('51'.repeat(60), params).length).toBeLessThanOrEqual(128);
  });

  it('keep the addresses of each network apart', () => {
    const script = `0014${'ab'.repeat(20)}`;
    expect(addressOfScript(script, bitcoinParams('mainnet'))).toMatch(/^bc1q/);
    expect(addressOfScript(script, params)).toMatch(/^bcrt1q/);
    const old = `76a914${'ab'.repeat(20)}88ac`;
    expect(addressOfScript(old, bitcoinParams('mainnet'))).toMatch(/^1/);
    expect(addressOfScript(old, bitcoinParams('signet'))).toMatch(/^[mn]/);
  });
});

describe('transaction ids', () => {
  const { parseTxid } = codec('mainnet');
  it('are 64 digits, kept in lower case', () => {
    expect(parseTxid('AB'.repeat(32))).toEqual({ ok: true, canonical: 'ab'.repeat(32) });
    for (const wrong of ['', 'ab', `0x${'ab'.repeat(32)}`, 'zz'.repeat(32), 'ab'.repeat(33)]) expect(parseTxid(wrong).ok).toBe(false);
  });
});
