import type { Chain, Deps } from '#api/deps.ts';
import { readTip } from '#api/store/chain-blocks.ts';
import { type Doubt, noteDoubted, type OpenDeposit } from '#api/store/deposits.ts';
import { listPartsOf, type SumPart } from '#api/store/transfer-sums.ts';
import type { Offer } from '#api/store/payment-offers.ts';
import { ChainUnavailable, type Head } from '#shared/chains/chain.ts';
import type { SoughtTransfer, SecondOpinion } from '#shared/chains/endpoint-votes.ts';
import { rootCovers } from '#shared/chains/root-covers.ts';
import type { FinalityRule } from '#shared/core/assets.ts';
import { type ChainHeights, isFinal } from '#shared/core/finality.ts';
import { parseTrusted } from '#shared/core/money.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { isDust } from '#state-machines/payment/judge-deposit.ts';
import { type Batch, batchByBlock, dollarsOf, finalityOf } from './deposit-batch.ts';
import type { Prices } from './outcome.ts';
import { type AheadOf, tipFor } from './read-ahead.ts';

/** The answers, keyed by exactly what was asked, so that a deposit that changed since does not count as confirmed. */
export type Opinions = ReadonlyMap<string, SecondOpinion | 'unreachable'>;

/** What a payment's open deposits are judged with. */
export interface Evidence {
  open: readonly OpenDeposit[];
  offers: readonly Offer[];
  prices: Prices;
  /** Tips read beyond the stored ones, when an inquiry asked about a transaction. */
  ahead: AheadOf;
}

/**
 * What two providers must agree on: the `transfer` itself, or the hash of its `block`, which proves the transfer where a root covers it. Null for
 * dust, which is credited to no gateway.
 */
type Need = 'transfer' | 'block' | null;

/** A final batch that must be asked about. */
interface Question {
  chain: Chain;
  batch: Batch;
  need: Exclude<Need, null>;
  rule: FinalityRule;
}

/**
 * Asks two providers about every final batch (decisions 1 to 3, decision 0040): the hash of its block and whether the block is final. If no root
 * covers the transfer, or it is worth much, they are also asked for block, outcome, recipient, coin and amount.
 * Batches of one block are asked about together, and one by one only when the providers do not agree on all, so that no deposit holds up another. A
 * batch that cannot be asked about before `untilMs` (wall time, milliseconds) counts as unreachable and is asked about in the next pass. Tips are read of networks that are not among
 * the `known` ones. Asks over the network; call it before anything is locked.
 */
export async function askSecondOpinions(
  deps: Deps,
  evidences: readonly Evidence[],
  untilMs: number,
  known: ReadonlyMap<string, ChainHeights> = new Map(),
): Promise<Opinions> {
  const opinions = new Map<string, SecondOpinion | 'unreachable'>();
  const groups = new Map<string, Question[]>();
  const tips = new Map<string, ChainHeights | undefined>(known);
  for (const { open, offers, prices, ahead } of evidences)
    for (const batch of batchByBlock(open)) {
      const chain = [...deps.chains.values()].find((one) => one.id === batch.first.networkId);
      const need = chain === undefined ? null : needOf(chain, batch, offers, prices);
      if (chain === undefined || need === null) continue;
      if (!tips.has(chain.id)) tips.set(chain.id, await readTip(deps.db.sql, chain.id));
      const final = finalityOf(tipFor(ahead, batch) ?? tips.get(chain.id), chain, batch, offers, prices);
      if (final === undefined) continue;
      const question: Question = { chain, batch, need, rule: final.rule };
      const block = JSON.stringify([chain.id, batch.first.blockHash, need]);
      const together = groups.get(block);
      if (together === undefined) groups.set(block, [question]);
      else together.push(question);
    }
  const waiting = [...groups.values()];
  const note = (question: Question, opinion: SecondOpinion | 'unreachable'): void => {
    opinions.set(questionOf(question.batch, question.need), opinion);
    report(deps, question, opinion);
  };
  const askers = Array.from({ length: POLICY.secondOpinionsAtOnce }, async () => {
    for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
      if (deps.wallClock() >= untilMs) return;
      const opinion = await ask(deps, group);
      if (group.length === 1 || opinion === 'agreed' || opinion === 'alone') for (const question of group) note(question, opinion);
      else
        for (const question of group) {
          if (deps.wallClock() >= untilMs) return;
          note(question, await ask(deps, [question]));
        }
    }
  });
  await Promise.all(askers);
  return opinions;
}

/**
 * Why a batch may not be credited yet; null when two providers agree on it.
 * With only one provider configured, its word is enough up to the network's `secondOpinionUsd`; outside production, where a chain is one local
 * node, for any sum. It is never enough for a transfer that the reader marked `unproven`.
 */
export function doubtAbout(deps: Deps, chain: Chain, batch: Batch, { offers, prices }: Omit<Evidence, 'open' | 'ahead'>, opinions: Opinions): Doubt | null {
  const need = needOf(chain, batch, offers, prices);
  if (need === null) return null;
  const opinion = opinions.get(questionOf(batch, need)) ?? 'unreachable';
  if (opinion === 'alone') {
    const alone = isUnproven(batch) || (deps.config.NODE_ENV === 'production' && isLarge(chain, batch, offers, prices));
    return alone ? 'unreachable' : null;
  }
  return opinion === 'agreed' ? null : opinion;
}

/** Leaves a final batch open until a second provider confirms it and logs that, as an error once it waited five minutes. */
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
    'a deposit waits for a second provider to confirm it',
  );
}

/** What providers say about these batches of one block. A failure confirms nothing and does not affect other blocks. */
async function ask(deps: Deps, group: readonly Question[]): Promise<SecondOpinion | 'unreachable'> {
  const { chain, need, batch } = group[0] as Question;
  const { height, blockHash: hash } = batch.first;
  // A single endpoint cannot be compared with another.
  if (chain.config.rpcUrls.length < 2) return 'alone';
  const isFinal = (head: Head): boolean => group.every(({ rule }) => isFinalBy(rule, head, height));
  try {
    const rules = [...new Set(group.map(({ rule }) => JSON.stringify(rule)))].sort();
    if (need === 'block') return await chain.reader.agreesOnBlock({ height, hash }, isFinal, rules.join(' '));
    const sought: SoughtTransfer[] = [];
    for (const one of group) for (const transfer of await readSought(deps, one.batch)) sought.push(transfer);
    return await chain.reader.agrees(sought, isFinal);
  } catch (error) {
    const facts = { err: error, network: chain.config.name, height };
    if (error instanceof ChainUnavailable) deps.log.warn(facts, 'no second provider can be asked about a deposit');
    else deps.log.error(facts, 'asking a second provider about a deposit failed');
    return 'unreachable';
  }
}

function report(deps: Deps, { chain, batch }: Question, opinion: SecondOpinion | 'unreachable'): void {
  const { height, blockHash, id: depositId, txid } = batch.first;
  const network = chain.config.name;
  deps.metrics?.secondOpinions.inc({ chain: network, result: opinion });
  if (opinion === 'disputed') deps.log.error({ network, height, blockHash, txid, depositId }, 'another provider tells otherwise of a deposit');
  if (opinion === 'unseen')
    deps.log.error({ network, height, txid, depositId }, 'no other provider shows coins that contracts pass on, so none can confirm a deposit');
}

/** Whether a block is final by one provider's own head. True for a provider without the tags that the rule needs, because it cannot be asked. */
function isFinalBy(rule: FinalityRule, { latest, safeHeight, finalizedHeight }: Head, height: number): boolean {
  if (finalizedHeight === null && !('blocks' in rule)) return true;
  return isFinal(rule, { height: latest.height, safeHeight: safeHeight ?? finalizedHeight ?? -1, finalHeight: finalizedHeight ?? -1 }, height);
}

function needOf(chain: Chain, batch: Batch, offers: readonly Offer[], prices: Prices): Need {
  const { first, deposits, total } = batch;
  if (isDust(total, first.dustFloor) && !first.wasSetAside) return null;
  const covered = !isUnproven(batch) && deposits.every((deposit) => rootCovers(chain.config, deposit));
  return covered && !isLarge(chain, batch, offers, prices) ? 'block' : 'transfer';
}

/** Without a price a deposit counts as large. */
function isLarge(chain: Chain, batch: Batch, offers: readonly Offer[], prices: Prices): boolean {
  const value = dollarsOf(batch, offers, prices);
  return value === undefined || value > parseTrusted<'usd'>(chain.config.secondOpinionUsd ?? POLICY.secondOpinionUsd);
}

/** Whether the reader found that no root covers one of the transfers; then one provider's word is never enough (decision 0039). */
function isUnproven({ deposits }: Batch): boolean {
  return deposits.some((deposit) => deposit.unproven);
}

/** Lists each transfer separately, also those that are booked as one sum. */
async function readSought(deps: Deps, { deposits }: Batch): Promise<SoughtTransfer[]> {
  const summed = deposits.flatMap((deposit) => (deposit.parts === null ? [] : [deposit.id]));
  const parts = summed.length === 0 ? new Map<string, SumPart[]>() : await listPartsOf(deps.db.sql, summed);
  return deposits.flatMap((deposit) => {
    const transfer = soughtOf(deposit);
    return parts.get(deposit.id)?.map(({ txid, ordinal, rawAmount }) => ({ ...transfer, txid, ordinal, rawAmount })) ?? [transfer];
  });
}

function soughtOf({ txid, kind, ordinal, height, blockHash, recipient, contract, rawAmount }: OpenDeposit): SoughtTransfer {
  return { txid, kind, ordinal, height, blockHash, recipient, contract, rawAmount };
}

function questionOf({ first, deposits }: Batch, need: Exclude<Need, null>): string {
  return JSON.stringify([need, first.networkId, ...deposits.map(soughtOf)]);
}
