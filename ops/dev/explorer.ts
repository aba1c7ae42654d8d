import type { Page, PageKind } from './explorer/html.ts';
import { familyOf } from './families.ts';
import type { LocalNetworks } from './local-networks.ts';

/** What the explorer needs of the networks of a run. */
export interface Explored {
  networks: LocalNetworks['networks'];
  chains: ReadonlyMap<string, { url: string }>;
}

/**
 * The pages behind the explorer links of local chains: `/explorer/<network>/tx/<hash>`, `…/block/<height>` and
 * `…/address/<address>`. What the chain does not know is a page with status 404; undefined for any other path.
 */
export async function explorerPage(local: Explored | undefined, path: string): Promise<Page | undefined> {
  const match = /^\/explorer\/([a-z0-9-]{1,64})\/(tx|block|address)\/([0-9a-zA-Z]{1,66})$/.exec(path);
  const [, name = '', kind, id = ''] = match ?? [];
  const chain = local?.chains.get(name);
  const network = local?.networks.find((one) => one.name === name);
  if (chain === undefined || network === undefined) return undefined;
  return familyOf(network.family).pages(network, chain.url)(kind as PageKind, id);
}
