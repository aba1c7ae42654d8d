import type { Chain, Deps } from '#api/deps.ts';
import { listSights, type Sight } from '#api/store/chain-blocks.ts';
import { setTracesMissing } from '#api/store/networks.ts';
import { nobodyTraces } from '#shared/chains/network-warnings.ts';

/** One blind block among this many recent ones is reason to ask endpoints again that used to trace. Empty blocks between them say nothing. */
const RECENT_BLOCKS = 32;

/**
 * Stops offering the native coin of a network while none of its endpoints shows internal transfers, because such coins would be paid but not seen
 * (decision 0042); returns how many networks changed.
 * The networks file may accept that by name. The coin is offered again once an endpoint traces and the indexer's last block was read from one; an
 * endpoint that fails, rests or does not answer changes nothing. Tokens are always offered.
 */
export async function watchTraces(deps: Deps): Promise<number> {
  const chains = [...deps.chains.values()];
  const sights = await listSights(
    deps.db.sql,
    chains.map(({ id }) => id),
  );
  const changed = await Promise.all(
    chains.map((chain) => {
      const sight = sights.get(chain.id);
      return sight === undefined ? false : watchNetwork(deps, chain, sight);
    }),
  );
  return changed.filter(Boolean).length;
}

async function watchNetwork(deps: Deps, { id, config, reader }: Chain, { blindAgo, missing: was }: Sight): Promise<boolean> {
  const accepted = config.acceptsUnseenInternalTransfers === true;
  // The indexer's blocks show when an endpoint that used to trace no longer does.
  const lacking = await reader.findLacks(blindAgo < RECENT_BLOCKS);
  const missing = nobodyTraces(lacking) && !accepted;
  if (!missing && !accepted && (blindAgo === 0 || lacking.every(({ lacks }) => lacks === null))) return false;
  if (missing === was || !(await setTracesMissing(deps.db.sql, id, missing))) return false;
  const told = { network: config.name, asset: config.nativeSymbol };
  if (missing) deps.log.error(told, 'no endpoint traces: the native coin is not offered any more, because coins that contracts pass on would not be seen');
  else
    deps.log.warn(
      told,
      accepted ? 'the native coin is offered although no endpoint traces, as the networks file says' : 'an endpoint traces: the native coin is offered',
    );
  return true;
}
