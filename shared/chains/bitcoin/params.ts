import type { BitcoinChain } from '#shared/core/bitcoin-chains.ts';

/** What a Bitcoin network writes differently from the others. */
export interface BitcoinParams {
  /** What `getblockchaininfo` calls it. */
  chain: string;
  /** Hash of block 0. */
  genesis: string;
  /** Human-readable part of segwit addresses (BIP-173). */
  hrp: string;
  /** First byte of base58check addresses. */
  p2pkh: number;
  p2sh: number;
  /** SLIP-132 version bytes of the extended keys of single-key segwit accounts (BIP-84). */
  segwitKeys: { public: number; private: number };
  /** Version bytes that BIP-32 itself gives extended keys. */
  plainKeys: { public: number; private: number };
  /** The least work a block of this network may ask for, as the target of block 0. */
  easiestTarget: bigint;
  /** The same from a height on, where that is known to be much less: whoever makes up a block would have to work for it too. */
  sinceThen?: { height: number; easiestTarget: bigint };
  /** Lowest height at which a coinbase must name its height (BIP-34). */
  heightInCoinbaseFrom: number;
}

const MAINNET_KEYS = { segwitKeys: { public: 0x04b24746, private: 0x04b2430c }, plainKeys: { public: 0x0488b21e, private: 0x0488ade4 } };
/** Every network for tests shares them, and tells itself apart by nothing else. */
const TEST = {
  p2pkh: 0x6f,
  p2sh: 0xc4,
  segwitKeys: { public: 0x045f1cf6, private: 0x045f18bc },
  plainKeys: { public: 0x043587cf, private: 0x04358394 },
};

/** The Bitcoin networks by the chain id of the configuration. */
export const BITCOIN_NETWORKS: Readonly<Record<BitcoinChain, BitcoinParams>> = {
  mainnet: {
    chain: 'main',
    genesis: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
    hrp: 'bc',
    p2pkh: 0x00,
    p2sh: 0x05,
    ...MAINNET_KEYS,
    easiestTarget: 0xffffn << 208n,
    // A difficulty of 2^40, an eightieth of what it was at that block, and the work of all machines of the time for eight seconds.
    sinceThen: { height: 840_000, easiestTarget: 0xffffn << 168n },
    heightInCoinbaseFrom: 227_931,
  },
  testnet4: {
    chain: 'testnet4',
    genesis: '00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043',
    hrp: 'tb',
    ...TEST,
    easiestTarget: 0xffffn << 208n,
    heightInCoinbaseFrom: 1,
  },
  signet: {
    chain: 'signet',
    genesis: '00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6',
    hrp: 'tb',
    ...TEST,
    easiestTarget: 0x377aen << 216n,
    heightInCoinbaseFrom: 1,
  },
  regtest: {
    chain: 'regtest',
    genesis: '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206',
    hrp: 'bcrt',
    ...TEST,
    easiestTarget: 0x7fffffn << 232n,
    heightInCoinbaseFrom: 1,
  },
};

/** @throws Error when the chain id is none of `BITCOIN_NETWORKS` */
export function bitcoinParams(chainId: string): BitcoinParams {
  const params = BITCOIN_NETWORKS[chainId as BitcoinChain] as BitcoinParams | undefined;
  if (params === undefined)
    throw new Error(`this build does not know the Bitcoin network ${chainId}: it is one of ${Object.keys(BITCOIN_NETWORKS).join(', ')}`);
  return params;
}
