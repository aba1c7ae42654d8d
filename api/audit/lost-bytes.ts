import type { Chain, Deps } from '#api/deps.ts';
import { mayStillBeMined } from '#api/store/database-epoch.ts';
import { listHeldOutputs } from '#api/store/holdings.ts';
import { listUnknownTxids } from '#api/store/reconciliations.ts';
import { listPayingWallets } from '#api/store/wallets.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';

/**
 * Whether signed bytes whose rows a database has lost may still be mined on a chain, so that what is signed next could pay for the same a
 * second time: bytes that wait at a node of ours for a nonce nobody allocated, or spend an output of ours; and, where bytes expire, any
 * made before `since` (service time). A chain that cannot be asked counts as yes.
 */
export async function mayLostBytesBeMined(deps: Deps, chain: Chain, since: Date): Promise<boolean> {
  const network = chain.config.name;
  try {
    const waiting = (await waitingByNonce(deps, chain)) ?? (await waitingByOutput(deps, chain));
    if (waiting !== null) {
      deps.log.error({ network, waiting }, 'transactions that the database has lost wait to be mined; dispatch stays shut');
      return true;
    }
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    deps.log.warn({ err: error, network }, 'what waits at the node cannot be read; dispatch stays shut');
    return true;
  }
  const seconds = chain.payer.bytesLiveSeconds;
  return seconds !== undefined && (await mayStillBeMined(deps.db.sql, chain.id, { since, seconds }));
}

/** A nonce in the books excludes whatever was signed for it; beyond them nothing does. */
async function waitingByNonce(deps: Deps, chain: Chain): Promise<string | null> {
  const ask = chain.payer.waitingNonce;
  if (ask === undefined) return null;
  for (const wallet of await listPayingWallets(deps.db.sql, chain.id)) {
    const waiting = await ask(wallet.address);
    // A wallet whose nonce was never allocated by us may have been used before it was ours.
    if (waiting > wallet.nextNonce && waiting > ((await chain.payer.nonce(wallet.address)) ?? 0))
      return `nonces ${wallet.nextNonce}..${waiting - 1} of ${wallet.address}`;
  }
  return null;
}

async function waitingByOutput(deps: Deps, chain: Chain): Promise<string | null> {
  const ask = chain.reader.waitingSpenders;
  if (ask === undefined) return null;
  const spenders = (await ask(await listHeldOutputs(deps.db.sql, chain.id))).filter((txid) => txid !== null);
  const unknown = await listUnknownTxids(deps.db.sql, spenders);
  return unknown.length === 0 ? null : unknown.slice(0, 10).join(', ');
}
