import { describe, expect, it } from 'vitest';
import { openDeriver } from '#shared/chains/codecs.ts';
import { codecOf } from '#shared/chains/codecs.ts';
import { displayNameOf, NETWORKS, type NetworkProfile, profileOf } from '#shared/chains/networks.ts';
import type { FinalityRule } from '#shared/core/assets.ts';
import { isFinal } from '#shared/core/finality.ts';
import { tokenTypesOf } from '#shared/core/token-types.ts';
import { readIndexerConfig } from '#shared/platform/config.ts';

const find = (name: string): NetworkProfile => NETWORKS.find((network) => network.name === name) as NetworkProfile;
const secret = 'x'.repeat(40);
const example = readIndexerConfig({
  DATABASE_URL: 'postgres://localhost/sluice',
  REDIS_URL: 'redis://localhost',
  SLUICE_NETWORKS: 'ops/networks.example.json',
  SLUICE_STREAM_KEY: secret,
}).networks;

describe('every known network', () => {
  it('is there once, by name and by chain', () => {
    expect(new Set(NETWORKS.map((network) => network.name)).size).toBe(NETWORKS.length);
    expect(new Set(NETWORKS.map((network) => `${network.family} ${network.chainId}`)).size).toBe(NETWORKS.length);
  });

  it('includes those of the contract and the rollups', () => {
    expect(NETWORKS.map((network) => `${network.family} ${network.chainId} ${network.nativeSymbol}`)).toEqual(
      expect.arrayContaining([
        'evm 1 ETH',
        'evm 56 BNB',
        'evm 137 POL',
        'evm 8453 ETH',
        'evm 42161 ETH',
        'evm 10 ETH',
        'tron mainnet TRX',
        'tron nile TRX',
        'bitcoin mainnet BTC',
        'bitcoin testnet4 BTC',
        'bitcoin signet BTC',
      ]),
    );
  });

  it.each(NETWORKS.map((network) => [network.name, network] as const))('%s has tokens that its family can read, of its own standard', (_name, network) => {
    for (const token of network.tokens) {
      expect(codecOf(network).parse(token.contract)).toMatchObject({ ok: true });
      // Written with its checksum, so that a wrong digit would have been refused.
      const canonical = codecOf(network).parse(token.contract) as { canonical: string };
      expect(codecOf(network).display(canonical.canonical)).toBe(token.contract);
      expect(tokenTypesOf(network)).toEqual([token.type]);
    }
  });

  it('has six decimals for the dollars of their own issuers, and eighteen for those pegged on BNB Smart Chain', () => {
    for (const { name, tokens } of NETWORKS) for (const token of tokens) expect(`${name} ${token.decimals}`).toBe(`${name} ${name === 'bsc' ? 18 : 6}`);
  });

  it('is called by payers what its wallets call it, and by capitals of its own name when nobody described it', () => {
    expect(new Set(NETWORKS.map((network) => network.displayName)).size).toBe(NETWORKS.length);
    expect(displayNameOf({ family: 'evm', chainId: '56', name: 'binance' })).toBe('BNB Smart Chain');
    expect(displayNameOf({ family: 'evm', chainId: '999', name: 'my-own_chain 2' })).toBe('My Own Chain 2');
  });

  it('counts as stalled only well after a block was due', () => {
    for (const { stallSeconds, blockSeconds } of NETWORKS) expect(stallSeconds).toBeGreaterThanOrEqual(10 * blockSeconds);
  });
});

describe('when a payment resolves (decisions 5)', () => {
  const rules = (name: string): FinalityRule[] => find(name).finality.resolve.map((tier) => tier.rule);

  it.each([
    ['ethereum', [{ blocks: 12 }, { tag: 'safe' }], { tag: 'finalized' }],
    ['bsc', [{ tag: 'finalized' }], { tag: 'finalized' }],
    ['polygon', [{ tag: 'finalized' }], { tag: 'finalized' }],
    ['base', [{ tag: 'safe' }], { tag: 'finalized' }],
    ['arbitrum', [{ tag: 'safe' }], { tag: 'finalized' }],
    ['optimism', [{ tag: 'safe' }], { tag: 'finalized' }],
    ['tron', [{ tag: 'finalized' }], { tag: 'finalized' }],
    ['bitcoin', [{ blocks: 1 }, { blocks: 2 }, { blocks: 6 }], { blocks: 7 }],
  ])('on %s', (name, resolve, mature) => {
    expect(rules(name)).toEqual(resolve);
    expect(find(name).finality.mature).toEqual(mature);
  });

  it.each(['bsc', 'polygon'])('on %s waits for the tag however far it lags, and never counts blocks instead', (name) => {
    const lagging = { height: 100_000, safeHeight: 99_000, finalHeight: 99_000 };
    for (const rule of rules(name)) {
      expect(isFinal(rule, lagging, 99_001)).toBe(false);
      expect(isFinal(rule, lagging, 99_000)).toBe(true);
    }
  });
});

describe('what the adapters need of a network', () => {
  it.each([
    ['1', null],
    ['56', null],
    ['8453', 'op-stack'],
    ['10', 'op-stack'],
    ['42161', null],
  ])('chain %s takes a data fee: %s', (chainId, dataFee) => {
    expect(profileOf('evm', chainId).dataFee).toBe(dataFee);
  });

  it('is cautious about a chain nobody described', () => {
    expect(profileOf('evm', '424242')).toMatchObject({ minimumTip: 1_000_000_000n, stallSeconds: 180, dataFee: null });
  });
});

describe('the example of a networks file', () => {
  it('has every public network that is no test network, with two providers each', () => {
    expect(example.map((network) => network.name)).toEqual(['ethereum', 'bsc', 'polygon', 'base', 'arbitrum', 'optimism', 'tron', 'bitcoin']);
    for (const network of example) expect(new Set(network.rpcUrls.map((url) => new URL(url).host)).size).toBe(2);
  });

  it.each(example.map((network) => [network.name, network] as const))('says of %s what is known of it', (name, network) => {
    const { family, chainId, nativeSymbol, blockSeconds, finality, explorerTxUrl, tokens } = find(name);
    expect(network).toMatchObject({ family, chainId, nativeSymbol, blockSeconds, finality, explorerTxUrl });
    const configured = network.assets
      .filter((asset) => asset.type !== 'NATIVE')
      .map(({ symbol, name, type, contract, decimals }) => ({ symbol, name, type, contract, decimals }));
    expect(configured).toEqual(tokens);
    expect(openDeriver(network).fingerprint).toBe(network.accountFingerprint);
  });

  it('cannot be used as it is: its account is the demo’s', () => {
    const production = () =>
      readIndexerConfig({ NODE_ENV: 'production', DATABASE_URL: 'x', REDIS_URL: 'x', SLUICE_NETWORKS: 'ops/networks.example.json', SLUICE_STREAM_KEY: secret });
    expect(production).toThrow(/ethereum\.accountXpub: the demo account is refused in production/);
  });
});
