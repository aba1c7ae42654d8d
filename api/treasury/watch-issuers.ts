import type { Chain, Deps } from '#api/deps.ts';
import { listAssets, type StoredAsset } from '#api/store/assets.ts';
import { type ChainTip, listTips } from '#api/store/chain-blocks.ts';
import { insertFreeze, countRefusals, forgetRefusal, listRefusedDeposits, noteRefusal, noteStopped, type RefusedRole } from '#api/store/freezes.ts';
import { listSweepable } from '#api/store/own-moves.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { POOLS } from '#state-machines/ledger/accounts.ts';
import { withEach } from '#shared/core/with-each.ts';
import { mayMove } from './may-move.ts';
import { onEachNetwork } from './on-each-network.ts';
import { poolAddress } from '#api/payouts/rules/wallets.ts';

/** At most this many deposit addresses are tried in one run. */
const DEPOSITS_AT_ONCE = 20;
/**
 * How many refused deposit addresses stop an asset when the hot wallet holds nothing to try it with. A single address may be stopped because of
 * what it received.
 */
const DEPOSITS_THAT_SPEAK = 2;

/**
 * Finds tokens whose issuer does not let our wallets move them, or that have no contract, and stops each of them (decisions 12). Returns how many
 * assets it stopped.
 * A stopped asset is not sent, its cashouts say why, and no new payment is offered in it, until an operator lifts the freeze and it moves again. A
 * refusal counts only once it was found at two blocks. A refusal of the held wallet, or of a single deposit address, stops only the coins that lie
 * there.
 */
export async function watchIssuers(deps: Deps): Promise<number> {
  const tokens = (await listAssets(deps.db.sql)).filter((asset) => asset.contract !== null);
  const refusing = await countRefusals(deps.db.sql);
  const tips = new Map((await listTips(deps.db.sql)).map((tip) => [tip.networkId, tip]));
  const watch = async (asset: StoredAsset): Promise<number> => {
    const chain = deps.chains.get(asset.networkName);
    const tip = tips.get(asset.networkId);
    if (chain === undefined || tip === undefined) return 0;
    try {
      return (await watchToken(deps, chain, tip, { ...asset, contract: asset.contract as string, refuses: refusing.has(asset.id) })) ? 1 : 0;
    } catch (error) {
      // An address that cannot be tried counts neither as moving nor as refused.
      if (!(error instanceof ChainUnavailable)) throw error;
      deps.log.debug({ err: error, network: asset.networkName, asset: asset.symbol }, 'a token cannot be tried; it will be later');
      return 0;
    }
  };
  const stopped = await onEachNetwork(deps, 'tokens of a network cannot be tried', (chain) =>
    withEach(
      tokens.filter(({ networkId }) => networkId === chain.id),
      watch,
      (err, { networkName, symbol }) => deps.log.error({ err, network: networkName, asset: symbol }, 'a token cannot be tried'),
    ),
  );
  await report(deps, tokens);
  return stopped;
}

/** `refuses` says whether any refusal of it was noted when this look began; one that comes meanwhile is for the next. */
type Token = StoredAsset & { contract: string; refuses: boolean };

async function watchToken(deps: Deps, chain: Chain, tip: ChainTip, token: Token): Promise<boolean> {
  const { sql } = deps.db;
  // A transfer of nothing succeeds where there is no contract, so this is asked first. The answer means that the token is wrong, whichever endpoint
  // gives it.
  if ((await chain.reader.hasCode?.(token.contract)) === false) {
    const reason = `no contract lies at ${chain.codec.display(token.contract)} on ${chain.config.name}`;
    return stop(deps, chain, token, { address: poolAddress(chain, 'green'), role: 'hot', height: tip.height, reason });
  }
  let stopped = false;
  let hotMoves = true;
  for (const pool of POOLS) {
    const address = poolAddress(chain, pool);
    const found = await mayMove(chain, token.contract, address);
    if (pool === 'green') hotMoves = found !== 'unknown';
    if (found === 'moves' && token.refuses) await forgetRefusal(sql, { assetId: token.id, address });
    if (found !== 'refused') continue;
    const { height } = tip;
    // Held coins come from a flagged source. If an issuer stops them, coins of other payments must not be stopped too.
    if (pool === 'held') await noteRefusal(sql, { assetId: token.id, address, role: 'held', height });
    else stopped = (await stop(deps, chain, token, { address, role: 'hot', height })) || stopped;
  }
  if (token.refuses) await lookAgain(deps, chain, token, tip.height);
  if (!hotMoves) stopped = (await askDeposits(deps, chain, token, tip.height)) || stopped;
  return stopped;
}

/** Stops the asset because of an address that cannot move it, if that was already found at an earlier block; true when it was not frozen yet. */
async function stop(
  deps: Deps,
  chain: Chain,
  token: Token,
  refused: { address: string; role: RefusedRole; height: number; reason?: string },
): Promise<boolean> {
  const { address, role, height, reason = `the issuer does not let ${chain.codec.display(address)} move ${token.symbol}` } = refused;
  const firstAt = await noteRefusal(deps.db.sql, { assetId: token.id, address, role, height });
  if (firstAt >= height) return false;
  const fresh = await deps.db.transaction(async (tx) => {
    await noteStopped(tx, { assetId: token.id, address });
    return insertFreeze(tx, { scope: `asset:${token.id}`, reason });
  });
  crashPoint('issuer.stopped');
  if (fresh) deps.log.fatal({ network: chain.config.name, asset: token.symbol, wallet: role, reason }, 'an asset is stopped: its coins cannot be moved');
  return fresh;
}

/** Refused deposit addresses are swept again once they are no longer refused, or hold nothing. */
async function lookAgain(deps: Deps, chain: Chain, token: Token, height: number): Promise<void> {
  const { sql } = deps.db;
  for (const address of await listRefusedDeposits(sql, { assetId: token.id, seconds: POLICY.issuerRetrySeconds, limit: DEPOSITS_AT_ONCE })) {
    if ((await mayMove(chain, token.contract, address)) === 'refused') await noteRefusal(sql, { assetId: token.id, address, role: 'deposit', height });
    else await forgetRefusal(sql, { assetId: token.id, address });
  }
}

/** When the hot wallet holds nothing to try, deposit addresses that hold the token show whether any of it moves. */
async function askDeposits(deps: Deps, chain: Chain, token: Token, height: number): Promise<boolean> {
  const query = { networkId: chain.id, assetId: token.id, pool: 'green', above: 0n, limit: DEPOSITS_AT_ONCE, evenRefused: true } as const;
  const refused: string[] = [];
  for (const { address } of await listSweepable(deps.db.sql, query)) {
    const found = await mayMove(chain, token.contract, address);
    if (found === 'moves') return false;
    if (found === 'refused') refused.push(address);
  }
  const [first] = refused;
  return first !== undefined && refused.length >= DEPOSITS_THAT_SPEAK && stop(deps, chain, token, { address: first, role: 'deposit', height });
}

const NONE: Record<RefusedRole, number> = { hot: 0, held: 0, deposit: 0 };

async function report({ metrics, db, chains }: Deps, tokens: readonly StoredAsset[]): Promise<void> {
  if (metrics === undefined) return;
  const counts = await countRefusals(db.sql);
  for (const { id, networkName: chain, symbol: asset } of tokens.filter(({ networkName }) => chains.has(networkName)))
    for (const [wallet, count] of Object.entries(counts.get(id) ?? NONE)) metrics.issuerRefusals.set({ chain, asset, wallet }, count);
}
