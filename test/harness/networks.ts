import { readFile } from 'node:fs/promises';
import type { NetworkConfig } from '#shared/core/assets.ts';

/** A network of ops/dev/networks.json, by name; `ethereum` is the one tests use unless they ask for another. @throws when there is none */
export async function demoNetwork(name = 'ethereum'): Promise<NetworkConfig> {
  const { networks } = JSON.parse(await readFile('ops/dev/networks.json', 'utf8')) as { networks: NetworkConfig[] };
  const found = networks.find((network) => network.name === name);
  if (found === undefined) throw new Error(`ops/dev/networks.json has no network ${name}`);
  return found;
}

/**
 * A second EVM network beside the demo one: the same keys, wallets and tokens under another name and chain id, as a
 * deployment has them that serves several.
 */
export function anotherEvm(demo: NetworkConfig, name: string, chainId: string): NetworkConfig {
  return { ...demo, name, chainId, explorerTxUrl: demo.explorerTxUrl.replace('ethereum', name) };
}
