import type { AssetType, Family } from './assets.ts';

/** EVM chains whose tokens have a name of their own: BNB Smart Chain and its test network. */
const BEP20_CHAINS = new Set(['56', '97']);
/** Public EVM chains whose tokens certainly are ERC-20. */
const ERC20_CHAINS = new Set(['1', '10', '137', '8453', '42161', '11155111']);

/** The token standards of a network, the usual one first; of a private EVM chain nobody knows, so both names will do. */
export function tokenTypesOf({ family, chainId }: { family: Family; chainId: string }): readonly AssetType[] {
  if (family === 'tron') return ['TRC20'];
  if (family === 'bitcoin') return [];
  if (BEP20_CHAINS.has(chainId)) return ['BEP20'];
  return ERC20_CHAINS.has(chainId) ? ['ERC20'] : ['ERC20', 'BEP20'];
}
