import type { AddressCorpus, FamilyDriver } from './family.ts';

/** Addresses that wallets and their tests print for mnemonics everybody knows. */
export const TRON_PUBLISHED: FamilyDriver['published'] = [
  {
    // The all-zero entropy of BIP-39's own vectors.
    mnemonic: 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
    accountPath: "m/44'/195'/0'",
    chainId: 'mainnet',
    addresses: { 0: 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH', 1: 'TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK', 2: 'TYJPRrdB5APNeRs4R7fYZSwW3TcrTKw2gx' },
  },
  {
    // A published wallet library's test account.
    mnemonic: 'cook voyage document eight skate token alien guide drink uncle term abuse',
    accountPath: "m/44'/195'/0'",
    chainId: 'mainnet',
    addresses: { 0: 'TXngH8bVadn9ZWtKBgjKQcqN1GsZ7A1jcb' },
  },
];

const USDT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';

/** Base58check text with the prefix 41, and what people paste instead. */
export const TRON_CORPUS: AddressCorpus = {
  chainId: 'mainnet',
  accepted: [USDT, 'TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8', 'TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFR', 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH'].map((text) => ({
    text,
    canonical: text,
    display: text,
  })),
  refused: [
    ['nothing', ''],
    ['the zero address', 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb'],
    ['a wrong last character', `${USDT.slice(0, -1)}u`],
    ['two characters exchanged', 'TR7HNqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
    ['one character short', USDT.slice(0, -1)],
    ['one character long', `${USDT}t`],
    ['all lower case', USDT.toLowerCase()],
    ['all upper case', USDT.toUpperCase()],
    ['a zero, which base58 does not have', USDT.replace('o', '0')],
    ['an l, which base58 does not have', USDT.replace('j', 'l')],
    ['spaces around it', ` ${USDT} `],
    ['a line break at its end', `${USDT}\n`],
    ['letters of another script', USDT.replace('T', 'Т')],
    ['the hexadecimal form', '41a614f803b6fd780986a42c78ec9c7f77e6ded13c'],
    ['the hexadecimal form with 0x', '0x41a614f803b6fd780986a42c78ec9c7f77e6ded13c'],
    ['the twenty bytes as EVM writes them', '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c'],
    ['an EVM address', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['a Bitcoin address with a good checksum', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
    ['an address of the old test network', '27bNhYEbUcLbLqMoTVGkyyoVpCFeAXZUnzV'],
    ['a transaction id', 'ab'.repeat(32)],
    ['a name', 'merchant.trx'],
  ],
  txids: {
    accepted: [
      ['ab'.repeat(32), 'ab'.repeat(32)],
      ['AB'.repeat(32), 'ab'.repeat(32)],
    ],
    refused: [
      ['nothing', ''],
      ['an address', USDT],
      ['the form with 0x', `0x${'ab'.repeat(32)}`],
      ['one digit short', `${'ab'.repeat(31)}a`],
      ['one digit long', `${'ab'.repeat(32)}a`],
      ['no hexadecimal digits', 'xy'.repeat(32)],
    ],
  },
};
