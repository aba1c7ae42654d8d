import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { mnemonicToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { codecOf, openDeriver } from '#shared/chains/codecs.ts';
import { openSigner } from '#shared/chains/signers.ts';

const JUNK = 'test test test test test test test test test test test junk';
const CHAIN = { name: 'local', family: 'evm', chainId: '31337' } as const;
const account = HDKey.fromMasterSeed(mnemonicToSeedSync(JUNK)).derive("m/44'/60'/0'");
const network = {
  name: 'local',
  family: 'evm',
  chainId: '31337',
  accountXpub: account.publicExtendedKey,
  accountFingerprint: account.fingerprint.toString(16).padStart(8, '0'),
} as const;

describe('deposit addresses', () => {
  it('are the published BIP-44 addresses of the known mnemonic, from the xpub alone', () => {
    const deriver = openDeriver(network);
    expect(deriver.depositAddress(0)).toBe('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266');
    expect(deriver.depositAddress(1)).toBe('0x70997970c51812dc3a010c7d01b50e0d17dc79c8');
    expect(deriver.depositAddress(9)).toBe('0xa0ee7a142d267c1f36714e4a8f75612f20a79720');
  });

  it('equal what viem derives from the mnemonic, for indexes small and large', () => {
    const deriver = openDeriver(network);
    for (const index of [0, 7, 255, 65_536, 2 ** 31 - 1])
      expect(deriver.depositAddress(index)).toBe(mnemonicToAccount(JUNK, { path: `m/44'/60'/0'/0/${index}` }).address.toLowerCase());
  });

  it('equal the addresses of the keys the signer derives', () => {
    const signer = openSigner(CHAIN, JUNK);
    expect(signer.addressAt("m/44'/60'/0'/0/5")).toBe(openDeriver(network).depositAddress(5));
    expect(signer.xpubAt("m/44'/60'/0'")).toBe(network.accountXpub);
  });

  it('are refused for an xpub other than the pinned one', () => {
    expect(() => openDeriver({ ...network, accountFingerprint: '00000000' })).toThrow(/fingerprint .* but 00000000 is pinned/);
  });

  it('are never derived from a private extended key', () => {
    expect(() => openDeriver({ ...network, accountXpub: account.privateExtendedKey })).toThrow(/must be an xpub/);
  });
});

describe('EVM address text', () => {
  const codec = codecOf({ family: 'evm', chainId: '31337' });
  const checksummed = [
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  ];

  it.each(checksummed)('%s is accepted with its checksum, all lower and all upper, and is stored lower case', (address) => {
    const canonical = address.toLowerCase();
    for (const text of [address, canonical, `0x${address.slice(2).toUpperCase()}`]) expect(codec.parse(text)).toEqual({ ok: true, canonical });
    expect(codec.display(canonical)).toBe(address);
  });

  it.each([
    ['a wrong checksum', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD'],
    ['no 0x', '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['an upper-case prefix', '0X5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED'],
    ['one digit short', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beae'],
    ['one digit long', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed0'],
    ['a letter that is no digit', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaeg'],
    ['surrounding spaces', ' 0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'],
    ['a trailing line break', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed\n'],
    ['full-width digits', '0x５aaeb6053f3e94c9b9a09f33669435e7ef1beaed'],
    ['an ICAP code', 'XE7338O073KYGTWWZN0F2WZ0R8PX5ZPPZS'],
    ['a name', 'vitalik.eth'],
    ['a TRON address', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
    ['nothing', ''],
    ['the zero address', '0x0000000000000000000000000000000000000000'],
  ])('%s is refused', (_why, text) => {
    expect(codec.parse(text).ok).toBe(false);
  });
});

describe('transaction hashes', () => {
  const { parseTxid } = codecOf({ family: 'evm', chainId: '31337' });
  const hash = `0x${'aB'.repeat(32)}`;

  it('are lower case inside, whatever case they come in', () => {
    expect(parseTxid(hash)).toEqual({ ok: true, canonical: hash.toLowerCase() });
  });

  it.each(['', '0x', hash.slice(2), hash.slice(0, -1), `${hash}0`, `0X${hash.slice(2)}`, ` ${hash}`, `${hash}\n`, `0x${'g'.repeat(64)}`])(
    'are refused as %j, with a reason',
    (text) => {
      expect(parseTxid(text)).toMatchObject({ ok: false, problem: expect.stringContaining('transaction hash') });
    },
  );
});
