import type { AddressCorpus, FamilyDriver } from './family.ts';

/** Addresses that wallets, documentation and local nodes print for mnemonics everybody knows. */
export const EVM_PUBLISHED: FamilyDriver['published'] = [
  {
    // Printed by every anvil and Hardhat node.
    mnemonic: 'test test test test test test test test test test test junk',
    accountPath: "m/44'/60'/0'",
    chainId: '1',
    addresses: {
      0: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
      1: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
      2: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
      3: '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
      4: '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
      9: '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
    },
  },
  {
    // The all-zero entropy of BIP-39's own vectors.
    mnemonic: 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
    accountPath: "m/44'/60'/0'",
    chainId: '1',
    addresses: { 0: '0x9858effd232b4033e47d90003d41ec34ecaeda94' },
  },
];

/** EIP-55's own vectors, and what people paste instead. */
export const EVM_CORPUS: AddressCorpus = {
  chainId: '1',
  accepted: [
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
    '0xde709f2102306220921060314715629080e2fb77',
    '0x27b1fdb04752bbc536007a920d24acb045561c26',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  ].flatMap((display) => {
    const canonical = display.toLowerCase();
    return [display, canonical, `0x${display.slice(2).toUpperCase()}`].map((text) => ({ text, canonical, display }));
  }),
  refused: [
    ['nothing', ''],
    ['the zero address', `0x${'00'.repeat(20)}`],
    ['a wrong checksum', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD'],
    ['no 0x', '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['an upper-case prefix', '0X5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED'],
    ['one digit short', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beae'],
    ['one digit long', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed0'],
    ['a letter that is no digit', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaeg'],
    ['spaces around it', ' 0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed '],
    ['a line break at its end', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed\n'],
    ['digits of another script', '0x５aaeb6053f3e94c9b9a09f33669435e7ef1beaed'],
    ['a transaction hash', `0x${'ab'.repeat(32)}`],
    ['a name', 'vitalik.eth'],
    ['a TRON address', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
    ['a Bitcoin address', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['the ICAP form', 'XE60HAMICDXSV5QXVJA7TJW47Q9CHWKJD'],
  ],
  txids: {
    accepted: [
      [`0x${'ab'.repeat(32)}`, `0x${'ab'.repeat(32)}`],
      [`0x${'AB'.repeat(32)}`, `0x${'ab'.repeat(32)}`],
    ],
    refused: [
      ['nothing', ''],
      ['an address', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'],
      ['one digit short', `0x${'ab'.repeat(31)}a`],
      ['one digit long', `0x${'ab'.repeat(32)}a`],
      ['no hexadecimal digits', `0x${'xy'.repeat(32)}`],
    ],
  },
};
