/** Rules of the regtest network (Bitcoin Core's chain parameters) and the node's mempool policy; amounts in satoshis. */
export const REGTEST = {
  genesisHash: '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206',
  genesisBlock:
    '0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4adae5494dffff7f2002000000' +
    '0101000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d0104455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000',
  /** Compact form of the highest target: every second hash meets it. */
  bits: 0x207fffff,
  target: '7fffff0000000000000000000000000000000000000000000000000000000000',
  difficulty: 4.656542373906925e-10,
  /** Expected hashes per block at that target. */
  workPerBlock: 2n,
  subsidy: 5_000_000_000n,
  halvingInterval: 150,
  /** Blocks on top of a coinbase before its outputs may be spent. */
  coinbaseMaturity: 100,
  maxMoney: 2_100_000_000_000_000n,
  maxBlockWeight: 4_000_000,
  blockVersion: 0x20000000,
} as const;

/** Defaults of Bitcoin Core 31; rates in satoshis per 1,000 vbytes. */
export const POLICY = {
  minRelayRate: 100n,
  incrementalRelayRate: 100n,
  dustRelayRate: 3_000n,
  maxTransactionWeight: 400_000,
  minTransactionSize: 65,
  maxScriptSigSize: 1_650,
  maxDataCarrier: 100_000,
  maxReplacementEvictions: 100,
  clusterCount: 64,
  clusterVsize: 101_000,
  maxMempoolBytes: 300_000_000,
  mempoolExpirySeconds: 336 * 3_600,
  /** What a wallet may pay at most unless told otherwise. */
  maxFeeRate: 10_000_000n,
  /** What the node's wallet pays while nothing can be estimated. */
  walletFeeRate: 2_000n,
} as const;
