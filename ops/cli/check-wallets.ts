import type { Context } from './command.ts';
import { bad, type Finding, good, warn } from './finding.ts';

interface Wallet {
  network: string;
  role: string;
  address: string;
  haltedReason: string | null;
  gas: { transfers: number | null; enough: number } | null;
  assets: { symbol: string; coins: string | null; coldStorage: { floor: string; address: string } | null }[];
}

/** A line for every network: what its wallets hold, and for how long the funding wallet brings gas. */
export async function checkWallets(context: Context, nativeSymbols: ReadonlyMap<string, string>): Promise<Finding[]> {
  const { items } = (await context.operator.must('GET', '/wallets')) as unknown as { items: Wallet[] };
  return [...new Set(items.map(({ network }) => network))].map((network) =>
    checkNetwork(
      network,
      items.filter((one) => one.network === network),
      nativeSymbols.get(network),
    ),
  );
}

function checkNetwork(network: string, wallets: readonly Wallet[], native: string | undefined): Finding {
  const check = `wallets ${network}`;
  const funding = wallets.find(({ role }) => role === 'funding');
  const fuel = funding?.assets.find(({ symbol }) => symbol === native);
  const [transfers, enough] = [funding?.gas?.transfers ?? null, funding?.gas?.enough ?? 0];
  const seen = wallets.map((wallet) => describe(wallet, native)).join('; ');
  if (wallets.some(({ assets }) => assets.some(({ coins }) => coins === null)))
    return bad(check, `the node does not say what they hold: ${seen}`, 'look at its endpoints above, and at the runbook rpc');
  const send = `send ${native ?? 'native coins'} to the funding wallet ${funding?.address ?? ''} (runbook gas)`;
  // An empty wallet may be refused the very question what a transfer costs.
  if (fuel !== undefined && Number(fuel.coins) === 0) return bad(check, seen, `${send}: nothing is swept, and cashouts of tokens wait`);
  if (transfers === 0) return bad(check, seen, `${send}: nothing is swept, and cashouts of tokens wait`);
  if (transfers !== null && transfers < enough) return warn(check, seen, send);
  for (const { role, assets } of wallets)
    for (const { symbol, coins, coldStorage } of assets)
      if (coldStorage !== null && Number(coins) < Number(coldStorage.floor))
        return warn(check, seen, `refill the ${role} wallet with ${symbol} from ${coldStorage.address} (runbook cold-storage)`);
  return good(check, seen);
}

function describe({ role, gas, assets }: Wallet, native: string | undefined): string {
  const held = assets
    .filter(({ symbol, coins }) => coins !== '0' || (role === 'funding' && symbol === native))
    .map(({ symbol, coins }) => `${coins ?? 'unknown'} ${symbol}`);
  const what = `${role} ${held.length === 0 ? 'nothing' : held.join(' ')}`;
  if (gas === null) return what;
  return gas.transfers === null ? `${what}, what a transfer costs is not known now` : `${what}, gas for ${gas.transfers} transfers (${gas.enough} are enough)`;
}
