import type { Chain, Deps } from '#api/deps.ts';
import { type BooksToCompare, readBooksToCompare } from '#api/store/books-to-compare.ts';
import { listBookedBalances, listHoldingAddresses } from '#api/store/holdings.ts';
import { type AskedAtMost, type Look, type LookedAt, type Reading, readLooks, readWholeLook } from '#api/store/kept-readings.ts';
import type { Reconciliation } from '#api/store/reconciliations.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { amount, fromUnits, MONEY_LIMIT } from '#shared/core/money.ts';
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
  for (const chain of deps.chains.values()) compared.push(...(await compareNetwork(deps, chain, readBooks(deps, chain, lookAtAll, unread), unread)));
  return compared.map(({ holding }) => holding);
}

type Unread = (holding: UnreadHolding) => void;

/** A comparison, and what it read of addresses one by one, to be kept; null where coins are outputs. */
export interface ComparedHolding {
  holding: Holding;
  reading: Reading | null;
  /** The comparison before it, as it was when the books were read; undefined where there was none, or nobody asked. */
  earlier: Reconciliation | undefined;
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
 * holds is what it held when it was asked about last, with what was seen since (decision 0104). Nothing is kept before `keepReadings`.
 */
export async function compareInTurn(
  deps: Pick<Deps, 'db'>,
  chain: Chain,
  { whole, assetIds, most = POLICY.holdingsAsked }: InTurn,
  unread?: Unread,
): Promise<ComparedHolding[]> {
  const look: LookAt = async (tx, all) => {
    const some = all.filter(({ assetId }) => assetIds?.has(assetId) !== false);
    const looks = new Map(whole ? [] : await readLooks(tx, some, most));
    for (const at of some) if (!looks.has(at.assetId)) looks.set(at.assetId, await readWholeLook(tx, at));
    return looks;
  };
  const atOnce = async (): Promise<BooksToCompare> => {
    const known = await readBooksToCompare(deps.db.sql, chain.id, most);
    const isWhole = known.books.every(({ assetId, opened }) => (!opened && unread !== undefined) || known.looks.has(assetId));
    return isWhole ? known : readBooks(deps, chain, look, unread)();
  };
  return compareNetwork(deps, chain, whole || assetIds !== undefined ? readBooks(deps, chain, look, unread) : atOnce, unread);
}

/** Says which addresses are asked about, by asset; one without an answer is left out. */
type LookAt = (tx: Tx, all: readonly LookedAt[]) => Promise<ReadonlyMap<string, Look>>;

const lookAtAll: LookAt = async (tx, all) => {
  const looks = new Map<string, Look>();
  for (const at of all) {
    const addresses = (await listHoldingAddresses(tx, at)).map((address) => ({ address, settled: true, passing: 0n, lasting: 0n, answered: [], inTurn: true }));
    looks.set(at.assetId, { version: null, whole: true, elsewhere: 0n, addresses });
  }
  return looks;
};

/** Reads the books of a network in one snapshot with which addresses to ask about. */
function readBooks(deps: Pick<Deps, 'db'>, chain: Chain, lookAt: LookAt, unread: Unread | undefined): () => Promise<BooksToCompare> {
  return () =>
    deps.db.snapshot(async (tx) => {
      const books = await listBookedBalances(tx, chain.id);
      const comparable = books.filter(({ opened }) => opened || unread === undefined);
      const at = comparable.map(({ assetId, contract, finalHeight }) => ({ networkId: chain.id, assetId, contract, finalHeight }));
      return { books, looks: await lookAt(tx, at), earlier: new Map() };
    });
}

async function compareNetwork(deps: Pick<Deps, 'db'>, chain: Chain, read: () => Promise<BooksToCompare>, unread?: Unread): Promise<ComparedHolding[]> {
  const { outputs } = chain.reader;
  if (outputs !== undefined) return (await compareOutputs(deps, chain, outputs, unread)).map((one) => ({ ...one, reading: null }));
  const { books, looks, earlier } = await read();
  const compared: ComparedHolding[] = [];
  for (const asset of books) {
    const { assetId, symbol, contract, decimals, height, roles } = asset;
    if (!asset.opened) unread?.({ network: chain.config.name, symbol, why: 'unopened' });
    const look = looks.get(assetId);
    if (look === undefined) continue;
    const refuse = (why: ChainUnavailable): void => {
      if (unread === undefined) throw why;
      unread({ network: chain.config.name, symbol, why });
    };
    let told: bigint[];
    try {
      told = await readBalances(chain, look.addresses, contract, height);
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      refuse(error);
      continue;
    }
    const byRole = new Map([[DEPOSIT, look.elsewhere]]);
    for (const [at, { address }] of look.addresses.entries()) {
      const role = roles.get(address) ?? DEPOSIT;
      byRole.set(role, (byRole.get(role) ?? 0n) + (told[at] as bigint));
    }
    const actual = fromUnits(
      [...byRole.values()].reduce((sum, raw) => sum + raw, 0n),
      decimals,
    );
    const expected = amount<'asset'>(asset.booked + fromUnits(asset.unbooked, decimals));
    const difference = amount<'asset'>(actual - expected);
    // Whoever says so, a node or a contract, says nothing; and what cannot be written down would keep the verdicts of the other assets from being.
    if (difference >= MONEY_LIMIT || difference <= -MONEY_LIMIT) {
      refuse(new ChainUnavailable(`our addresses are said to hold what is no amount of ${symbol}`));
      continue;
    }
    const holding: Holding = {
      network: chain.config.name,
      assetId,
      symbol,
      native: contract === null,
      height,
      expected,
      actual,
      difference,
      byRole: new Map([...byRole].map(([role, raw]) => [role, fromUnits(raw, decimals)])),
    };
    const { version, whole } = look;
    // Other wallets are asked about always.
    const addresses = look.addresses.map((one, at) => ({ ...one, rawAmount: told[at] as bigint })).filter(({ address }) => !roles.has(address));
    compared.push({ holding, reading: { assetId, version, whole, height, addresses }, earlier: earlier.get(assetId) });
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
