import type { AssetConfig, NetworkConfig } from '#shared/core/assets.ts';
import { BITCOIN_CHAINS } from '#shared/core/bitcoin-chains.ts';
import { parseTrusted, toUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import { tokenTypesOf } from '#shared/core/token-types.ts';

/** What in a networks file contradicts itself, each as one sentence; empty when nothing does. */
export function networkProblems(networks: readonly NetworkConfig[]): string[] {
  return [...clashes(networks), ...accountProblems(networks), ...bitcoinProblems(networks), ...networks.flatMap((network) => ownProblems(network))];
}

/** Two networks that claim the same name, chain or endpoint. */
function clashes(networks: readonly NetworkConfig[]): string[] {
  const urls = networks.flatMap((network) => network.rpcUrls.map((url) => ({ network, url })));
  return [
    ...repeated(networks, ({ name }) => name).map(({ name }) => `two networks are named ${name}`),
    ...repeated(networks, ({ family, chainId }) => `${family} ${chainId}`).map(
      ({ name, family, chainId }) => `${name}: another network is ${family} chain ${chainId} already`,
    ),
    // The path of a URL may be a key, so only its host is shown.
    ...repeated(urls, ({ url }) => new URL(url).href).map(({ network, url }) => `${network.name}: an rpcUrl at ${new URL(url).host} is given twice`),
  ];
}

/** Whatever is not the first with its key. */
function repeated<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = keyOf(item);
    const again = seen.has(key);
    seen.add(key);
    return again;
  });
}

/**
 * All networks of a family share one account: an address stands for one payment on every one of them, so that coins sent
 * on the wrong one are noticed and can be moved.
 */
function accountProblems(networks: readonly NetworkConfig[]): string[] {
  return networks.flatMap((network) => {
    const first = networks.find((one) => one.family === network.family);
    if (first === undefined || first === network) return [];
    const differs = (['accountXpub', 'accountFingerprint', 'accountPath'] as const).filter((key) => first[key] !== network[key]);
    return differs.map((key) => `${network.name}.${key}: must be that of ${first.name}, because both are ${network.family} networks`);
  });
}

const SATOSHI_DECIMALS = 8;

/** An address is kept once for all networks of its family, and each Bitcoin network writes addresses of its own: there can be one only. */
function bitcoinProblems(networks: readonly NetworkConfig[]): string[] {
  const [first, ...others] = networks.filter(({ family }) => family === 'bitcoin');
  if (first === undefined) return [];
  const problems = others.map(
    ({ name }) => `${name}: ${first.name} is a Bitcoin network already, and a deployment serves one of them, because their addresses differ`,
  );
  for (const { name, chainId, assets, finality } of [first, ...others]) {
    if (!BITCOIN_CHAINS.some((known) => known === chainId)) problems.push(`${name}.chainId: must be one of ${BITCOIN_CHAINS.join(', ')}`);
    if ([...finality.resolve.map(({ rule }) => rule), finality.mature].some((rule) => 'tag' in rule))
      problems.push(`${name}.finality: must count blocks: no block of Bitcoin is tagged safe or finalized`);
    for (const { symbol, decimals } of assets) if (decimals !== SATOSHI_DECIMALS) problems.push(`${name}.${symbol}: its decimals must be ${SATOSHI_DECIMALS}`);
  }
  return problems;
}

function ownProblems(network: NetworkConfig): string[] {
  const { name, assets } = network;
  const problems: string[] = [];
  const natives = assets.filter((asset) => asset.type === 'NATIVE');
  if (natives.length !== 1) problems.push(`${name}: exactly one asset must be NATIVE, not ${natives.length}`);
  for (const asset of repeated(assets, (one) => one.symbol)) problems.push(`${name}: two assets are called ${asset.symbol}`);
  for (const asset of repeated(assets, (one) => one.contract?.toLowerCase() ?? 'native'))
    if (asset.contract !== null) problems.push(`${name}.${asset.symbol}: another asset has its contract`);
  for (const asset of assets) problems.push(...assetProblems(network, asset).map((problem) => `${name}.${asset.symbol}: ${problem}`));
  const last = network.finality.resolve.at(-1);
  if (last?.upToUsd !== undefined) problems.push(`${name}: the last tier of finality.resolve must have no upToUsd`);
  problems.push(...feeProblems(network).map((problem) => `${name}.feeRate: ${problem}`));
  problems.push(...coldProblems(network), ...logProblems(network));
  if (network.consolidation !== undefined && network.family !== 'bitcoin') problems.push(`${name}.consolidation: only Bitcoin networks have one`);
  const { mature } = network.finality;
  for (const tier of network.finality.resolve)
    if (tier.mature !== undefined && !('blocks' in tier.mature && 'blocks' in mature && tier.mature.blocks <= mature.blocks))
      problems.push(`${name}: a tier of finality.resolve may mature at a count of blocks no larger than that of finality.mature`);
  return problems;
}

function feeProblems({ family, feeRate }: NetworkConfig): string[] {
  if (feeRate === undefined) return [];
  if (family !== 'bitcoin') return ['only Bitcoin networks have one'];
  const { floor, cap } = { ...POLICY.bitcoinFeeRate, ...feeRate };
  return parseTrusted(floor) > parseTrusted(cap) ? [`its floor of ${floor} is above its cap of ${cap}`] : [];
}

/** Only one provider's logs would be its word alone. */
function logProblems({ name, family, rpcUrls, catchUpByLogs }: NetworkConfig): string[] {
  if (catchUpByLogs !== true) return [];
  if (family !== 'evm') return [`${name}.catchUpByLogs: only EVM networks have logs that can be asked for`];
  return new Set(rpcUrls.map((url) => new URL(url).host)).size < 2 ? [`${name}.catchUpByLogs: needs rpcUrls of two providers, whose logs are compared`] : [];
}

/** What coins are kept in the hot wallet, and where the others go; that the address is one of the network is looked at when its wallets are opened. */
function coldProblems({ name, cold, assets, wallets }: NetworkConfig): string[] {
  const problems: string[] = [];
  const own = Object.entries(wallets).find(([, { address }]) => address.toLowerCase() === cold?.address.toLowerCase());
  if (own !== undefined) problems.push(`${name}.cold.address: is that of the ${own[0]} wallet, whose key is here`);
  for (const { symbol, decimals, coldStorage } of assets) {
    if (coldStorage === undefined) continue;
    const { ceiling, floor } = coldStorage;
    const refuse = (problem: string) => problems.push(`${name}.${symbol}.coldStorage: ${problem}`);
    if (cold === undefined) refuse('its network has no cold address');
    if (parseTrusted(ceiling) <= parseTrusted(floor)) refuse(`its ceiling of ${ceiling} is not above its floor of ${floor}`);
    for (const figure of [ceiling, floor])
      if (toUnits(parseTrusted(figure), decimals) === undefined) refuse(`${figure} has more than the ${decimals} decimal places of the asset`);
  }
  if (cold !== undefined && assets.every(({ coldStorage }) => coldStorage === undefined))
    problems.push(`${name}.cold: no asset of the network has a coldStorage, so that nothing would ever go there`);
  return problems;
}

/** Contracts that are the native coin of their network under another name: listed as a token, the same coins would be credited twice. */
const NATIVE_COINS = new Set([
  // Polygon's POL, Ether of OP-stack networks before Bedrock, Celo's CELO.
  '0x0000000000000000000000000000000000001010',
  '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000',
  '0x471ece3750da237f93b8e339c536989b8978a438',
]);

/** Caps must be amounts of the asset, a day's no lower than an hour's, and an hour's no lower than a transaction's. */
function capProblems({ caps, decimals }: AssetConfig): string[] {
  if (caps === undefined) return [];
  const { perTransaction, hourly, daily, floorUsd } = caps;
  const [one, hour, day] = [parseTrusted(perTransaction), parseTrusted(hourly), parseTrusted(daily)];
  return [
    ...[perTransaction, hourly, daily]
      .filter((figure) => toUnits(parseTrusted(figure), decimals) === undefined)
      .map((figure) => `caps: ${figure} has more than the ${decimals} decimal places of the asset`),
    ...(one <= hour && hour <= day ? [] : ['caps: must rise from perTransaction to hourly to daily']),
    ...(parseTrusted(floorUsd) > 0n ? [] : ['caps.floorUsd: must be more than nothing']),
  ];
}

function assetProblems(network: NetworkConfig, asset: AssetConfig): string[] {
  return [...capProblems(asset), ...kindProblems(network, asset)];
}

function kindProblems(network: NetworkConfig, { type, contract, symbol }: AssetConfig): string[] {
  if (type === 'NATIVE') {
    const problems = contract === null ? [] : ['a native coin has no contract'];
    return symbol === network.nativeSymbol ? problems : [...problems, `the native coin of this network is ${network.nativeSymbol}`];
  }
  const types = tokenTypesOf(network);
  const problems = contract === null ? ['a token needs its contract'] : [];
  if (contract !== null && NATIVE_COINS.has(contract.toLowerCase())) problems.push('this contract is the native coin itself, which would be credited twice');
  if (types.includes(type)) return problems;
  return [...problems, types.length === 0 ? 'this network has no tokens' : `its type must be ${types.join(' or ')} on chain ${network.chainId}`];
}
