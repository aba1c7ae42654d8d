import { createHash } from 'node:crypto';
import { createBase58check } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import fc from 'fast-check';
import { TronWeb } from 'tronweb';
import { describe, expect, it } from 'vitest';
import { codecOf, openDeriver } from '#shared/chains/codecs.ts';
import { toBase58, toHex20 } from '#shared/chains/tron/address.ts';

const JUNK = 'test test test test test test test test test test test junk';
const ABANDON = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
const USDT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const USDT_HEX = 'a614f803b6fd780986a42c78ec9c7f77e6ded13c';

const networkOf = (mnemonic: string, account = 0) => {
  const key = HDKey.fromMasterSeed(mnemonicToSeedSync(mnemonic)).derive(`m/44'/195'/${account}'`);
  return {
    name: 'tron',
    family: 'tron',
    chainId: 'local',
    accountXpub: key.publicExtendedKey,
    accountFingerprint: key.fingerprint.toString(16).padStart(8, '0'),
    accountXprv: key.privateExtendedKey,
  } as const;
};
const base58check = createBase58check((bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest()));
/** Text with a right checksum over whatever bytes. */
const checked = (hex: string): string => base58check.encode(Buffer.from(hex, 'hex'));

describe('deposit addresses', () => {
  it.each([
    [JUNK, 0],
    [ABANDON, 0],
    [ABANDON, 3],
  ])('of "%s", account %i, equal what tronweb derives from the mnemonic, from the xpub alone', (mnemonic, account) => {
    const deriver = openDeriver(networkOf(mnemonic, account));
    for (const index of [0, 1, 7, 255, 65_536, 2 ** 31 - 1])
      expect(deriver.depositAddress(index)).toBe(TronWeb.fromMnemonic(mnemonic, `m/44'/195'/${account}'/0/${index}`).address);
  });

  it('are refused for an xpub other than the pinned one', () => {
    expect(() => openDeriver({ ...networkOf(JUNK), accountFingerprint: '00000000' })).toThrow(/fingerprint .* but 00000000 is pinned/);
  });

  it('are never derived from a private extended key', () => {
    const network = networkOf(JUNK);
    expect(() => openDeriver({ ...network, accountXpub: network.accountXprv })).toThrow(/must be an xpub/);
  });
});

describe('TRON address text', () => {
  const codec = codecOf({ family: 'tron', chainId: 'local' });

  it.each([
    USDT,
    'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
    'TLBaRhANQoJFTqre9Nf1mjuwNWjCJeYqUL',
    'TSSMHYeV2uE9qYH95DqyoCuNCzEL1NvU3S',
    TronWeb.fromMnemonic(JUNK).address,
    checked(`41${'f'.repeat(40)}`),
    checked(`41${'0'.repeat(39)}1`),
  ])('%s is accepted, and is the same inside and for people', (address) => {
    expect(codec.parse(address)).toEqual({ ok: true, canonical: address });
    expect(codec.display(address)).toBe(address);
    expect(TronWeb.isAddress(address)).toBe(true);
  });

  const checksum = /checksum/;
  const shape = /must be a TRON address/;
  const hexForm = /hexadecimal form/;
  const rejects: [string, string, RegExp][] = [
    ['a last character changed', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u', checksum],
    ['a first character changed', 'TS7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', checksum],
    ['a character in the middle changed', 'TR7NHqjeKQxGTCi8q9ZY4pL8otSzgjLj6t', checksum],
    ['two characters swapped', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjL6jt', checksum],
    ['one letter in another case', 'Tr7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', checksum],
    ['upper and lower case exchanged', 'Tr7nhQJEkqXgtcI8Q8zy4Pl8OTsZGJlJ6T', shape],
    ['all lower case', USDT.toLowerCase(), shape],
    ['all upper case', USDT.toUpperCase(), shape],
    ['a right prefix over wrong bytes', `T${'1'.repeat(33)}`, checksum],
    ['a number beyond 25 bytes', `T${'z'.repeat(33)}`, checksum],
    ['one character short', USDT.slice(0, -1), shape],
    ['its first character missing', USDT.slice(1), shape],
    ['one character long', `${USDT}1`, shape],
    ['a leading 1, which adds a zero byte', `1${USDT}`, shape],
    ['twice the same address', USDT + USDT, shape],
    ['a digit zero, which base58 has not', 'TR7NHqjeKQxGTCi8q8ZY4pL80tSzgjLj6t', shape],
    ['a capital O', 'TR7NHqjeKQxGTCi8q8ZY4pL8OtSzgjLj6t', shape],
    ['a capital I', 'TR7NHqjeKQxGTCI8q8ZY4pL8otSzgjLj6t', shape],
    ['a small l', 'TR7NHqjeKQxGTCl8q8ZY4pL8otSzgjLj6t', shape],
    ['the hexadecimal form', `41${USDT_HEX}`, hexForm],
    ['the hexadecimal form, upper case', `41${USDT_HEX.toUpperCase()}`, hexForm],
    ['the hexadecimal form with 0x', `0x41${USDT_HEX}`, hexForm],
    ['the twenty bytes alone', USDT_HEX, shape],
    ['the same twenty bytes as an EVM address', `0x${USDT_HEX}`, /EVM address/],
    ['an EVM address with its checksum', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', /EVM address/],
    ['an EVM address, upper-case prefix', '0X5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED', /EVM address/],
    ['a Bitcoin P2PKH address', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', shape],
    ['a Bitcoin P2SH address', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy', shape],
    ['a Bitcoin bech32 address', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', shape],
    ['a Litecoin address', 'LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9', shape],
    ['a Ripple address', 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh', shape],
    ['the prefix 0xa0 of the old test network', checked(`a0${USDT_HEX}`), shape],
    ['the prefix 0x40 with a right checksum', checked(`40${USDT_HEX}`), /checksum|must be/],
    ['the prefix 0x42 with a right checksum', checked(`42${USDT_HEX}`), /checksum|must be/],
    ['nineteen bytes with a right checksum', checked(`41${USDT_HEX.slice(2)}`), shape],
    ['twenty-one bytes with a right checksum', checked(`41${USDT_HEX}00`), shape],
    ['the checksum of one SHA-256 instead of two', onceHashed(), checksum],
    ['a leading space', ` ${USDT}`, /white space/],
    ['a trailing space', `${USDT} `, /white space/],
    ['a trailing line break', `${USDT}\n`, /white space/],
    ['a trailing tab', `${USDT}\t`, /white space/],
    ['a no-break space before it', `\u00a0${USDT}`, /white space/],
    ['a zero-width space after it', `${USDT}\u200b`, shape],
    ['a byte-order mark before it', `\ufeff${USDT}`, /white space/],
    ['a right-to-left mark inside', `TR7NHqjeKQxGTCi8\u200fq8ZY4pL8otSzgjLj6t`, shape],
    ['a Cyrillic Т', `Т${USDT.slice(1)}`, shape],
    ['a Greek Τ', `Τ${USDT.slice(1)}`, shape],
    ['a Cyrillic о inside', USDT.replace('o', 'о'), shape],
    ['full-width letters', USDT.replace('T', 'Ｔ'), shape],
    ['a mathematical 7', USDT.replace('7', '𝟕'), shape],
    ['a null byte after it', `${USDT}\0`, shape],
    ['a URI scheme', `tron:${USDT}`, shape],
    ['a memo after it', `${USDT}?memo=1`, shape],
    ['quotes around it', `"${USDT}"`, shape],
    ['a name', 'sluice.trx', shape],
    ['base64 of its bytes', Buffer.from(`41${USDT_HEX}`, 'hex').toString('base64'), shape],
    ['a transaction id', 'ab'.repeat(32), shape],
    ['nothing', '', shape],
    ['a thousand characters', 'T'.repeat(1_000), shape],
    ['the zero address', checked(`41${'0'.repeat(40)}`), /zero address/],
  ];

  it('is refused in at least forty ways', () => expect(rejects.length).toBeGreaterThanOrEqual(40));

  it.each(rejects)('with %s is refused, and the refusal says why', (_why, text, problem) => {
    const answer = codec.parse(text);
    expect(answer).toEqual({ ok: false, problem: expect.stringMatching(problem) });
  });

  it('and the twenty bytes it stands for are two spellings of one thing, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
        const hex = Buffer.from(bytes).toString('hex');
        const address = checked(`41${hex}`);
        for (const spelling of [hex, `41${hex}`, `0x${hex}`]) expect(toBase58(spelling)).toBe(address);
        expect(toHex20(address)).toBe(hex);
      }),
    );
  });

  it('is never made of anything but twenty bytes', () => {
    for (const hex of ['', '41', `42${USDT_HEX}`, USDT_HEX.slice(1), `${USDT_HEX}0`, USDT_HEX.toUpperCase(), `0x41${USDT_HEX}`])
      expect(() => toBase58(hex)).toThrow(/not the 20 bytes/);
    for (const text of ['', USDT_HEX, USDT.toLowerCase(), `41${USDT_HEX}`]) expect(() => toHex20(text)).toThrow(/not a TRON address/);
  });
});

describe('transaction ids', () => {
  const { parseTxid } = codecOf({ family: 'tron', chainId: 'local' });
  const txid = 'aB'.repeat(32);

  it('are lower case inside, whatever case they come in', () => {
    expect(parseTxid(txid)).toEqual({ ok: true, canonical: txid.toLowerCase() });
  });

  it.each(['', '0x', `0x${txid}`, txid.slice(0, -1), `${txid}0`, ` ${txid}`, `${txid}\n`, 'g'.repeat(64), USDT])('are refused as %j, with a reason', (text) => {
    expect(parseTxid(text)).toMatchObject({ ok: false, problem: expect.stringContaining('transaction hash') });
  });
});

function onceHashed(): string {
  const body = Buffer.from(`41${USDT_HEX}`, 'hex');
  const checksum = createHash('sha256').update(body).digest().subarray(0, 4);
  // Base58 alone, with the checksum already in place.
  return encode(Buffer.concat([body, checksum]));
}

function encode(bytes: Uint8Array): string {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (; rest > 0n; rest /= 58n) text = alphabet.charAt(Number(rest % 58n)) + text;
  return text;
}
