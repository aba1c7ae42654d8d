import type { Family } from '#shared/core/assets.ts';
import type { LocalFamily } from './local-chain.ts';
import { bitcoinFamily } from './local-bitcoin.ts';
import { evmFamily } from './local-evm.ts';
import { tronFamily } from './local-tron.ts';

/** The families that have a local node. */
const FAMILIES: Record<Family, LocalFamily> = { evm: evmFamily, tron: tronFamily, bitcoin: bitcoinFamily };

/** What the development tools know of a family. @throws when it has no local node */
export function familyOf(family: string): LocalFamily {
  const found = Object.hasOwn(FAMILIES, family) ? FAMILIES[family as Family] : undefined;
  if (found === undefined) throw new Error(`there is no local ${family} chain`);
  return found;
}
