import type { Chain, Deps } from '#api/deps.ts';
import { readTip } from '#api/store/chain-blocks.ts';
import { listAssets, type StoredAsset } from '#api/store/assets.ts';
import { bookedHoldings } from '#api/ledger/balances.ts';
import { listHoldingAddresses, sumUnbooked } from '#api/store/holdings.ts';
import { type AskedAtMost, type Look, type LookedAt, type Reading, readLook, readWholeLook } from '#api/store/kept-readings.ts';
import { listUnopenedAssets, listWalletRoles } from '#api/store/reconciliations.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { type Coins, amount, fromUnits } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import type { Holding, UnreadHolding } from './holding.ts';
import { compareOutputs } from './output-holdings.ts';

/** Balances asked for at once; they share a few HTTP requests. */
const AT_ONCE = 50;

/**
 * Compares the books with the chain, per asset: minus the balance of `chain`, plus sightings not yet booked, against the
 * balances of every address of ours at the tip, or against every output of ours (A14, architecture 2). The books are read in one
 * snapshot, so it may run while money moves. Networks without a tip are left out. With `unread`, an asset the chain does not answer for, or whose
 * opening balances are not booked yet, is handed to it and the others are compared all the same. Keeps nothing.
 * @throws ChainUnavailable without `unread`, when the node cannot answer for that block
 */
export async function compareHoldings(deps: Pick<Deps, 'db' | 'chains'>, unread?: Unread): Promise<Holding[]> {
  const compared: ComparedHolding[] = [];
  for (const chain of deps.chains.values()) compared.push(...(await compareNetwork(deps, chain, lookAtAll, unread)));
  return compared.map(({ holding }) => holding);
}

type Unread = (holding: UnreadHolding) => void;

/** A comparison, and what it read of addresses one by one, to be kept; null where coins are outputs. */
export interface ComparedHolding {
  holding: Holding;
  reading: Reading | null;
}

/** How a network is compared by itself. */
export interface InTurn {
  /** Whether every address is asked about, as for an asset that never was compared. */
  whole: boolean;
  /** These assets alone. */
  assetIds?: ReadonlySet<string>;
  most?: AskedAtMost;
}

/**
 * The same of one network, without asking about every address: wallets, those where credited coins may lie or something moved, and of the others some in turn. What the rest
 * holds is what it held when it was asked about last, with what was seen since (decision 0104). Nothing is kept before `keepReading`.
 */
export async function compareInTurn(
  deps: Pick<Deps, 'db'>,
  chain: Chain,
  { whole, assetIds, most = POLICY.holdingsAsked }: InTurn,
  unread?: Unread,
): Promise<ComparedHolding[]> {
  const look: LookAt = async (tx, at) => {
    if (assetIds?.has(at.assetId) === false) return undefined;
    return (whole ? undefined : await readLook(tx, at, most)) ?? readWholeLook(tx, at);
  };
  return compareNetwork(deps, chain, look, unread);
}

/** Says which addresses are asked about; undefined leaves the asset out. */
type LookAt = (tx: Tx, at: LookedAt) => Promise<Look | undefined>;

const lookAtAll: LookAt = async (tx, at) => {
  const addresses = await listHoldingAddresses(tx, at);
  return {
    version: null,
    whole: true,
    elsewhere: 0n,
    addresses: addresses.map((address) => ({ address, settled: true, passing: 0n, answered: [], inTurn: true })),
  };
};

interface Expected {
  asset: StoredAsset;
  coins: Coins;
  look: Look;
}

async function compareNetwork(deps: Pick<Deps, 'db'>, chain: Chain, lookAt: LookAt, unread?: Unread): Promise<ComparedHolding[]> {
  const { outputs } = chain.reader;
  if (outputs !== undefined) return (await compareOutputs(deps, chain, outputs, unread)).map((holding) => ({ holding, reading: null }));
  const snapshot = await deps.db.transaction(async (tx) => {
    await tx`set transaction isolation level repeatable read`;
    const tip = await readTip(tx, chain.id);
    if (tip === undefined) return undefined;
    const unopened = new Set(unread === undefined ? [] : await listUnopenedAssets(tx, chain.id));
    const assets = (await listAssets(tx)).filter((asset) => asset.networkId === chain.id);
    const expected: Expected[] = [];
    for (const asset of assets) {
      if (unopened.has(asset.id)) {
        unread?.({ network: chain.config.name, symbol: asset.symbol, why: 'unopened' });
        continue;
      }
      const held = { networkId: chain.id, contract: asset.contract };
      const look = await lookAt(tx, { ...held, assetId: asset.id, finalHeight: tip.finalHeight });
      if (look === undefined) continue;
      const unbooked = fromUnits(await sumUnbooked(tx, held), asset.decimals);
      expected.push({ asset, coins: amount((await bookedHoldings(tx, asset.id)) + unbooked), look });
    }
    return { height: tip.height, expected, roles: await listWalletRoles(tx, chain.id) };
  });
  if (snapshot === undefined) return [];
  const compared: ComparedHolding[] = [];
  for (const { asset, coins, look } of snapshot.expected) {
    let told: bigint[];
    try {
      told = await readBalances(chain, look.addresses, asset.contract, snapshot.height);
    } catch (error) {
      if (unread === undefined || !(error instanceof ChainUnavailable)) throw error;
      unread({ network: chain.config.name, symbol: asset.symbol, why: error });
      continue;
    }
    const byRole = new Map([[DEPOSIT, look.elsewhere]]);
    for (const [at, { address }] of look.addresses.entries()) {
      const role = snapshot.roles.get(address) ?? DEPOSIT;
      byRole.set(role, (byRole.get(role) ?? 0n) + (told[at] as bigint));
    }
    const actual = fromUnits(
      [...byRole.values()].reduce((sum, raw) => sum + raw, 0n),
      asset.decimals,
    );
    const holding: Holding = {
      network: chain.config.name,
      assetId: asset.id,
      symbol: asset.symbol,
      native: asset.contract === null,
      height: snapshot.height,
      expected: coins,
      actual,
      difference: amount(actual - coins),
      byRole: new Map([...byRole].map(([role, raw]) => [role, fromUnits(raw, asset.decimals)])),
    };
    const { version, whole } = look;
    // Other wallets are asked about always.
    const addresses = look.addresses.map((one, at) => ({ ...one, rawAmount: told[at] as bigint })).filter(({ address }) => !snapshot.roles.has(address));
    compared.push({ holding, reading: { assetId: asset.id, version, whole, height: snapshot.height, addresses } });
  }
  return compared;
}

const DEPOSIT = 'deposit';

/** What the chain says each of these addresses holds after a block. @throws ChainUnavailable */
async function readBalances(chain: Chain, addresses: readonly { address: string }[], contract: string | null, height: number): Promise<bigint[]> {
  const told: bigint[] = [];
  for (let from = 0; from < addresses.length; from += AT_ONCE) {
    const some = addresses.slice(from, from + AT_ONCE);
    told.push(...(await Promise.all(some.map(({ address }) => chain.reader.balance(address, contract, height)))));
  }
  return told;
}
