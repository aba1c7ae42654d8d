import type { Chain, Deps } from '#api/deps.ts';
import { readTip } from '#api/store/chain-tips.ts';
import { type Doubt, noteDoubted } from '#api/store/deposit-doubts.ts';
import type { OpenDeposit } from '#api/store/deposits.ts';
import { listPartsOf, type SumPart } from '#api/store/transfer-sums.ts';
import type { Offer } from '#api/store/payment-offers.ts';
import { ChainUnavailable, type Head } from '#shared/chains/chain.ts';
import type { Claim, SecondOpinion } from '#shared/chains/pool-votes.ts';
import type { FinalityRule } from '#shared/core/assets.ts';
import { isFinal } from '#shared/core/finality.ts';
import { parseTrusted } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { type Batch, batchByBlock, dollarsOf, finalityOf } from './deposit-batch.ts';
import type { Prices } from './outcome.ts';

/** What was said about large deposits, by exactly what was asked: a deposit that has changed since was never confirmed. */
export type Opinions = ReadonlyMap<string, SecondOpinion | 'unreachable'>;

/** What a payment's open deposits are judged with. */
interface Evidence {
  open: readonly OpenDeposit[];
  offers: readonly Offer[];
  prices: Prices;
}

/**
 * Asks two providers about the transfers of every batch that is final and worth enough to be lied about: block, outcome,
 * recipient, coin and amount, and whether the block is final (reliability D9). Goes over the network: called before anything
 * is locked.
 */
export async function askSecondOpinions(deps: Deps, { open, offers, prices }: Evidence): Promise<Opinions> {
  const opinions = new Map<string, SecondOpinion | 'unreachable'>();
  for (const batch of batchByBlock(open)) {
    const chain = [...deps.chains.values()].find((one) => one.id === batch.first.networkId);
    if (chain === undefined || !needsOpinion(chain, batch, offers, prices)) continue;
    const final = finalityOf(await readTip(deps.db.sql, chain.id), chain, batch, offers, prices);
    if (final !== undefined) opinions.set(questionOf(batch), await ask(deps, chain, batch, final.rule));
  }
  return opinions;
}

/** Why a batch may not be credited yet; null when it is small, there is one provider only, or two of them tell the same of it. */
export function doubtAbout(chain: Chain, batch: Batch, { offers, prices }: Omit<Evidence, 'open'>, opinions: Opinions): Doubt | null {
  if (!needsOpinion(chain, batch, offers, prices)) return null;
  const opinion = opinions.get(questionOf(batch)) ?? 'unreachable';
  if (opinion === 'alone') return isUnproven(batch) ? 'unreachable' : null;
  return opinion === 'agreed' ? null : opinion;
}

/** Leaves a final batch open until a second provider confirms it; from five minutes on as an alert. */
export async function keepWaiting(tx: Tx, deps: Deps, batch: Batch, { why, now }: { why: Doubt; now: Date }): Promise<void> {
  const since = await noteDoubted(
    tx,
    batch.deposits.map((deposit) => deposit.id),
    why,
  );
  const waitedMs = now.getTime() - since.getTime();
  const { paymentId, id: depositId, height, blockHash } = batch.first;
  deps.log[waitedMs >= POLICY.secondOpinionAlertSeconds * 1_000 ? 'error' : 'warn'](
    { paymentId, depositId, height, blockHash, waitedMs, why },
    'a large deposit waits for a second provider to confirm it',
  );
}

async function ask(deps: Deps, chain: Chain, batch: Batch, rule: FinalityRule): Promise<SecondOpinion | 'unreachable'> {
  const { height, blockHash, id: depositId, txid } = batch.first;
  const network = chain.config.name;
  let opinion: SecondOpinion | 'unreachable';
  try {
    // A single endpoint has nobody to be compared with.
    opinion = chain.config.rpcUrls.length < 2 ? 'alone' : await chain.reader.agrees(await readClaims(deps, batch), (head) => isFinalBy(rule, head, height));
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    deps.log.warn({ err: error, network, height }, 'no second provider can be asked about a large deposit');
    opinion = 'unreachable';
  }
  deps.metrics?.secondOpinions.inc({ chain: network, result: opinion });
  if (opinion === 'disputed') deps.log.error({ network, height, blockHash, txid, depositId }, 'another provider tells otherwise of a large deposit');
  if (opinion === 'unseen')
    deps.log.error({ network, height, txid, depositId }, 'no other provider shows coins that contracts pass on, so none can confirm a large deposit');
  return opinion;
}

/** By one provider's own head; one without the tags that a rule is about cannot be asked for them. */
function isFinalBy(rule: FinalityRule, { latest, safeHeight, finalizedHeight }: Head, height: number): boolean {
  if (finalizedHeight === null && !('blocks' in rule)) return true;
  return isFinal(rule, { height: latest.height, safeHeight: safeHeight ?? finalizedHeight ?? -1, finalHeight: finalizedHeight ?? -1 }, height);
}

/** Without any price a deposit may be worth any sum. */
function needsOpinion(chain: Chain, batch: Batch, offers: readonly Offer[], prices: Prices): boolean {
  if (isUnproven(batch)) return true;
  const value = dollarsOf(batch, offers, prices);
  return value === undefined || value > parseTrusted<'usd'>(chain.config.secondOpinionUsd ?? POLICY.secondOpinionUsd);
}

/** Whether no root covers one of them: then one provider's word is never enough (decision 0039). */
function isUnproven({ deposits }: Batch): boolean {
  return deposits.some((deposit) => deposit.unproven);
}

/** Each transfer by itself, also of those that are booked as one. */
async function readClaims(deps: Deps, { deposits }: Batch): Promise<Claim[]> {
  const summed = deposits.flatMap((deposit) => (deposit.parts === null ? [] : [deposit.id]));
  const parts = summed.length === 0 ? new Map<string, SumPart[]>() : await listPartsOf(deps.db.sql, summed);
  return deposits.flatMap((deposit) => {
    const claim = claimOf(deposit);
    return parts.get(deposit.id)?.map(({ txid, ordinal, rawAmount }) => ({ ...claim, txid, ordinal, rawAmount })) ?? [claim];
  });
}

function claimOf({ txid, kind, ordinal, height, blockHash, recipient, contract, rawAmount }: OpenDeposit): Claim {
  return { txid, kind, ordinal, height, blockHash, recipient, contract, rawAmount };
}

function questionOf({ first, deposits }: Batch): string {
  return JSON.stringify([first.networkId, ...deposits.map(claimOf)]);
}
