import type { Chain, Deps } from '#api/deps.ts';
import { hasBlindBlocks, readTip } from '#api/store/chain-blocks.ts';
import {
  type AddressToLookAt,
  countUnexplained,
  listAddressesToLookAt,
  noteExplained,
  noteLook,
  noteUnexplained,
  sumSeen,
} from '#api/store/reconciliations.ts';
import { isReadingAfterLogs } from '#api/store/rescans.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { type Explanation, explainBalance, narrow, nextProbe, type Window } from '#shared/core/unexplained.ts';
import { onEachNetwork } from './on-each-network.ts';

/** Most addresses looked at per network and run, and most balances asked for to find the block in which coins came. */
const LOOKS = 200;
const PROBES = 16;

/**
 * Compares what our addresses hold after the final block with what was seen arriving and leaving, on networks where blocks were read from endpoints
 * that do not show internal transfers. Returns how many flags it raised or resolved.
 * Unexplained coins are flagged for a person and never credited, because a balance has no sender, transaction or history. A flag is resolved once a
 * sighting explains the balance (decision 0009).
 */
export async function explainBalances(deps: Deps): Promise<number> {
  const moved = await onEachNetwork(deps, 'balances of a network could not be compared', async (chain) => {
    try {
      return await explainNetwork(deps, chain);
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      deps.log.warn({ err: error, network: chain.config.name }, 'balances could not be compared; they will be next time');
      return 0;
    }
  });
  const open = await countUnexplained(deps.db.sql);
  for (const chain of deps.chains.values()) deps.metrics?.unexplainedBalances.set({ chain: chain.config.name }, open.get(chain.id) ?? 0);
  return moved;
}

async function explainNetwork(deps: Deps, chain: Chain): Promise<number> {
  const height = await finalHeight(deps, chain);
  if (height === undefined || !(await hasBlindBlocks(deps.db.sql, chain.id))) return 0;
  // Coins that logs do not tell of are about to be seen (decision 0053).
  if (await isReadingAfterLogs(deps.db.sql, chain.id)) return 0;
  const looks = await listAddressesToLookAt(deps.db.sql, chain.id, { height, closedSeconds: POLICY.balanceWatchSeconds, limit: LOOKS });
  const said = await explain(
    deps,
    chain,
    looks.map((look) => look.address),
    height,
  );
  let moved = 0;
  for (const look of looks) if (await note(deps, chain, look, height, said.get(look.address) as Explanation)) moved += 1;
  return moved;
}

/**
 * Whether each address holds only coins that were seen to arrive, by its balance after the final block; undefined while `height` is not final.
 * @throws ChainUnavailable when the node cannot answer
 */
export async function isAllExplained(deps: Deps, chain: Chain, addresses: readonly string[], height: number): Promise<boolean | undefined> {
  const final = await finalHeight(deps, chain);
  if (final === undefined || final < height) return undefined;
  return [...(await explain(deps, chain, addresses, final)).values()].every((said) => said.is !== 'unexplained');
}

/** The height of the last block that is both applied and final. */
async function finalHeight(deps: Deps, chain: Chain): Promise<number | undefined> {
  const tip = await readTip(deps.db.sql, chain.id);
  const height = tip === undefined ? -1 : Math.min(tip.finalHeight, tip.height);
  return height < 0 ? undefined : height;
}

/** Reads all balances at the same time, so that they share a few HTTP requests. */
async function explain(deps: Deps, chain: Chain, addresses: readonly string[], height: number): Promise<ReadonlyMap<string, Explanation>> {
  const actual = await Promise.all(addresses.map((address) => chain.reader.balance(address, null, height)));
  const seen = await sumSeen(deps.db.sql, chain.id, addresses, height);
  return new Map(addresses.map((address, i) => [address, explainBalance(actual[i] as bigint, seen.get(address) ?? 0n)]));
}

/** Stores the result of one look; true when a flag was raised, changed or resolved. */
async function note(deps: Deps, chain: Chain, look: AddressToLookAt, height: number, said: Explanation): Promise<boolean> {
  const { address, paymentId } = look;
  const told = { network: chain.config.name, address, paymentId };
  if (said.is === 'explained') {
    const resolved = await deps.db.transaction((tx) => noteExplained(tx, chain.id, address, height));
    if (resolved) deps.log.info(told, 'a balance that was unexplained is explained');
    return resolved;
  }
  if (said.is === 'missing') {
    await noteLook(deps.db.sql, chain.id, address, height, null);
    deps.log.error({ ...told, rawAmount: said.rawAmount.toString(), height }, 'an address holds less than what was seen of it leaves');
    return false;
  }
  const window =
    look.openAmount === null ? await narrowDown(deps, chain, address, { clean: Math.min(look.cleanHeight, height - 1), dirty: height }) : undefined;
  const [fromHeight, toHeight] = window === undefined ? [height, height] : [window.clean + 1, window.dirty];
  const { rawAmount } = said;
  await deps.db.transaction((tx) =>
    noteUnexplained(tx, { id: uuidFrom(deps.randomBytes(16)), networkId: chain.id, address, paymentId, rawAmount, fromHeight, toHeight }, height),
  );
  if (look.openAmount === rawAmount) return false;
  deps.log.error({ ...told, rawAmount: rawAmount.toString(), fromHeight, toHeight }, 'an address holds native coins that nothing seen of it explains');
  return true;
}

/** Narrows down, by halving, the blocks in which the coins may have come, as far back as the node still knows balances. */
async function narrowDown(deps: Deps, chain: Chain, address: string, window: Window): Promise<Window> {
  let narrowed = window;
  for (let asked = 0; asked < PROBES; asked++) {
    const probe = nextProbe(narrowed);
    if (probe === undefined) break;
    try {
      const said = (await explain(deps, chain, [address], probe)).get(address) as Explanation;
      narrowed = narrow(narrowed, probe, said);
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      break;
    }
  }
  return narrowed;
}
