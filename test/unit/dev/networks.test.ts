import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DEMO_SEED } from '#shared/platform/config.ts';
import { DEMO_TOKENS } from '#ops/dev/local-evm.ts';
import { DEMO_TRON_TOKENS } from '#ops/devnet/tron/demo.ts';
import { openDeriver } from '#shared/chains/codecs.ts';
import { openSigner } from '#shared/chains/signers.ts';
import type { NetworkConfig } from '#shared/core/assets.ts';

const { networks } = JSON.parse(readFileSync('ops/dev/networks.json', 'utf8')) as { networks: NetworkConfig[] };

describe.each(networks)('the demo network $name', (network) => {
  const signer = openSigner(network, DEMO_SEED);

  it('names the wallets of the demo seed', () => {
    for (const wallet of Object.values(network.wallets)) expect(signer.addressAt(wallet.path)).toBe(wallet.address);
  });

  it('has the account key whose addresses the demo seed can spend from', () => {
    const deriver = openDeriver(network);
    expect(deriver.fingerprint).toBe(network.accountFingerprint);
    for (const index of [0, 1, 7, 1_000_000]) expect(deriver.depositAddress(index)).toBe(signer.addressAt(`${network.accountPath}/0/${index}`));
  });
});

it.each([
  ['ethereum', DEMO_TOKENS],
  ['tron', DEMO_TRON_TOKENS],
])('the demo tokens of %s are where the local chain puts them', (name, deployed) => {
  const { assets } = networks.find((network) => network.name === name) as NetworkConfig;
  const contracts = Object.fromEntries(assets.flatMap((asset) => (asset.contract === null ? [] : [[asset.symbol, asset.contract]])));
  expect(deployed).toMatchObject(contracts);
  expect(contracts).toHaveProperty('USDT');
});
