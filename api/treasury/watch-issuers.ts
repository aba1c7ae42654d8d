import type { Chain, Deps } from '#api/deps.ts';
import { listAssets, type StoredAsset } from '#api/store/assets.ts';
import { readTip } from '#api/store/chain-blocks.ts';
import { insertFreeze, countRefusals, forgetRefusal, listRefusedDeposits, noteRefusal, noteStopped, type RefusedRole } from '#api/store/freezes.ts';
import { listSweepable } from '#api/store/own-moves.ts';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { POLICY } from '#shared/core/policy.ts';
import { crashPoint } from '#shared/platform/crash-points.ts';
import { POOLS } from '#state-machines/ledger/accounts.ts';
import { mayMove } from './may-move.ts';
import { poolAddress } from '#api/payouts/rules/wallets.ts';

/** Deposit addresses looked at in one go. */
const DEPOSITS_AT_ONCE = 20;
/** Deposit addresses that speak for all where the hot wallet holds nothing to try it with; one alone may be stopped for what came there. */
const DEPOSITS_THAT_SPEAK = 2;

/**
 * Finds out which tokens the issuer does not let our wallets move, or where no contract lies, and stops each of them: nothing of it is sent, its cashouts say why,
 * and no new payment is offered in it, until an operator lifts the freeze and it moves again (decisions 12). Only what is found at two
 * blocks counts. The held wallet and addresses of single deposits stop nothing but what lies there. Answers how many assets it stopped.
 */
export async function watchIssuers(deps: Deps): Promise<number> {
  let stopped = 0;
  const tokens = (await listAssets(deps.db.sql)).filter((asset) => asset.contract !== null);
  for (const asset of tokens) {
    const chain = deps.chains.get(asset.networkName);
    if (chain === undefined) continue;
    try {
      if (await watchToken(deps, chain, { ...asset, contract: asset.contract as string })) stopped += 1;
    } catch (error) {
      // An address that cannot be tried counts neither as moving nor as refused.
      if (!(error instanceof ChainUnavailable)) throw error;
      deps.log.debug({ err: error, network: asset.networkName, asset: asset.symbol }, 'a token cannot be tried; it will be later');
    }
  }
  return stopped;
}

type Token = StoredAsset & { contract: string };

async function watchToken(deps: Deps, chain: Chain, token: Token): Promise<boolean> {
  const { sql } = deps.db;
  const tip = await readTip(sql, chain.id);
  if (tip === undefined) return false;
  // Where no contract lies a transfer of nothing succeeds, so this is asked first. It is the token that is wrong, whichever endpoint says so.
  if ((await chain.reader.hasCode?.(token.contract)) === false) {
    const reason = `no contract lies at ${chain.codec.display(token.contract)} on ${chain.config.name}`;
    const gone = await stop(deps, chain, token, { address: poolAddress(chain, 'green'), role: 'hot', height: tip.height, reason });
    await report(deps, chain, token);
    return gone;
  }
  let stopped = false;
  let hotMoves = true;
  for (const pool of POOLS) {
    const address = poolAddress(chain, pool);
    const found = await mayMove(chain, token.contract, address);
    if (pool === 'green') hotMoves = found !== 'unknown';
    if (found === 'moves') await forgetRefusal(sql, { assetId: token.id, address });
    if (found !== 'refused') continue;
    const { height } = tip;
    // Held coins come from a flagged source: an issuer that stops them must not stop the coins of other payments.
    if (pool === 'held') await noteRefusal(sql, { assetId: token.id, address, role: 'held', height });
    else stopped = (await stop(deps, chain, token, { address, role: 'hot', height })) || stopped;
  }
  await lookAgain(deps, chain, token, tip.height);
  if (!hotMoves) stopped = (await askDeposits(deps, chain, token, tip.height)) || stopped;
  await report(deps, chain, token);
  return stopped;
}

/** Stops the asset because of an address that cannot move it, once that was found at an earlier block as well; true when it was not frozen yet. */
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

/** Deposit addresses that were refused are swept again once they are not, or hold nothing any more. */
async function lookAgain(deps: Deps, chain: Chain, token: Token, height: number): Promise<void> {
  const { sql } = deps.db;
  for (const address of await listRefusedDeposits(sql, { assetId: token.id, seconds: POLICY.issuerRetrySeconds, limit: DEPOSITS_AT_ONCE })) {
    if ((await mayMove(chain, token.contract, address)) === 'refused') await noteRefusal(sql, { assetId: token.id, address, role: 'deposit', height });
    else await forgetRefusal(sql, { assetId: token.id, address });
  }
}

/** Where the hot wallet cannot be tried, deposit addresses that hold the token tell whether anything of it moves at all. */
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

async function report({ metrics, db }: Deps, chain: Chain, token: Token): Promise<void> {
  if (metrics === undefined) return;
  for (const [wallet, count] of Object.entries(await countRefusals(db.sql, token.id)))
    metrics.issuerRefusals.set({ chain: chain.config.name, asset: token.symbol, wallet }, count);
}
