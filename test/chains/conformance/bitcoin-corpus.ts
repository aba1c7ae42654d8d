import type { AddressCorpus, FamilyDriver } from './family.ts';

const KEY_HASH = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const SCRIPT_HASH = 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3';
const TAPROOT = 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0';
const OLD = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa';

/** BIP-84's own vectors: the all-zero entropy of BIP-39. */
export const BITCOIN_PUBLISHED: FamilyDriver['published'] = [
  {
    mnemonic: 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
    accountPath: "m/84'/0'/0'",
    chainId: 'mainnet',
    addresses: { 0: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu', 1: 'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g' },
  },
];

const same = (text: string) => ({ text, canonical: text, display: text });
const shouted = (text: string) => ({ text: text.toUpperCase(), canonical: text, display: text });

const TXIDS: AddressCorpus['txids'] = {
  accepted: [
    ['ab'.repeat(32), 'ab'.repeat(32)],
    ['AB'.repeat(32), 'ab'.repeat(32)],
  ],
  refused: [
    ['nothing', ''],
    ['an address', KEY_HASH],
    ['the form with 0x', `0x${'ab'.repeat(32)}`],
    ['one digit short', `${'ab'.repeat(31)}a`],
    ['one digit long', `${'ab'.repeat(32)}a`],
    ['an outpoint', `${'ab'.repeat(32)}:0`],
    ['no hexadecimal digits', 'xy'.repeat(32)],
  ],
};

/** BIP-173's and BIP-350's own vectors, what every wallet prints, and what people paste instead. */
export const BITCOIN_CORPORA: readonly AddressCorpus[] = [
  {
    chainId: 'mainnet',
    accepted: [
      ...[OLD, '12c6DSiU4Rq3P4ZxziKxzrL5LmMBrzjrJX', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy', '3P14159f73E4gFr7JterCCQh9QjiTjiZrG'].map(same),
      ...[KEY_HASH, SCRIPT_HASH, TAPROOT, 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu'].flatMap((text) => [same(text), shouted(text)]),
    ],
    refused: [
      ['nothing', ''],
      ['a wrong last character', `${KEY_HASH.slice(0, -1)}5`],
      ['two characters exchanged', KEY_HASH.replace('508d', '50d8')],
      ['one character short', KEY_HASH.slice(0, -1)],
      ['one character long', `${KEY_HASH}q`],
      ['mixed case', KEY_HASH.replace('w508', 'W508')],
      ['a prefix in upper case', KEY_HASH.replace('bc1', 'BC1')],
      ['version 0 with the checksum of bech32m', 'bc1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqaayh03'],
      ['version 1 with the checksum of bech32', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd'],
      ['a program of version 0 that is neither 20 nor 32 bytes', 'BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P'],
      ['a program of one byte', 'bc1pw5dgrnzv'],
      ['a program of 41 bytes', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav'],
      ['a version above sixteen', 'BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R'],
      ['a version nobody can spend yet', 'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs'],
      ['version sixteen', 'BC1SW50QGDZ25J'],
      ['nothing but the prefix', 'bc1gmk9yu'],
      ['an unknown prefix', 'tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4ty'],
      ['a segwit address of the test network', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
      ['one of a local network', 'bcrt1qgnjggmy65s5s5fen2tnt3gm4uxmru7n66nspdj'],
      ['an old address of the test network', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'],
      ['a script address of the test network', '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc'],
      ['an old address with a wrong checksum', `${OLD.slice(0, -1)}b`],
      ['an old address in lower case', OLD.toLowerCase()],
      ['a zero, which base58 does not have', OLD.replace('1z', '0z')],
      ['spaces around it', ` ${KEY_HASH} `],
      ['a line break at its end', `${KEY_HASH}\n`],
      ['letters of another script', KEY_HASH.replace('bc1', 'bс1')],
      ['a payment link', `bitcoin:${KEY_HASH}?amount=0.1`],
      ['a lightning invoice', 'lnbc20m1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqhp58yjmdan79s6qqdhdzgynm4zwqd5d7xmw5fk98klysy043l2ahrqs'],
      ['an address of Litecoin', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9'],
      ['an EVM address', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
      ['a TRON address', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
      ['a private key', '5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ'],
      ['a compressed private key', 'KwdMAjGmerYanjeui5SHS7JkmpZvVipYvB2LJGU1ZxJwYvP98617'],
      ['an extended public key', 'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs'],
      ['a public key', '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'],
      ['a script in hexadecimal', '0014751e76e8199196d454941c45d1b3a323f1433bd6'],
      ['a transaction id', 'ab'.repeat(32)],
      ['a name', 'merchant.btc'],
    ],
    txids: TXIDS,
  },
  {
    chainId: 'testnet4',
    accepted: ['mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'].map(same),
    refused: [
      ['an address of the main network', KEY_HASH],
      ['an old address of the main network', OLD],
      ['one of a local network', 'bcrt1qgnjggmy65s5s5fen2tnt3gm4uxmru7n66nspdj'],
      ['a checksum broken in its data', 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sL5k7'],
    ],
    txids: TXIDS,
  },
  {
    chainId: 'regtest',
    accepted: ['mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 'bcrt1qgnjggmy65s5s5fen2tnt3gm4uxmru7n66nspdj'].map(same),
    refused: [
      ['an address of the main network', TAPROOT],
      ['one of the test network', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
    ],
    txids: TXIDS,
  },
];
