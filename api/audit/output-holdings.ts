import type { Chain, Deps } from '#api/deps.ts';
import { readOutputsToCompare } from '#api/store/books-to-compare.ts';
import { type BookedAsset, type HeldOutput, isApplied, listHeldAt, readBookedOutputs } from '#api/store/holdings.ts';
import type { Reconciliation } from '#api/store/reconciliations.ts';
import { type BlockRef, ChainUnavailable, type Reader } from '#shared/chains/chain.ts';
import { amount, fromUnits } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import type { Holding, UnreadHolding } from './holding.ts';

/** Outputs asked about in one go, so that what is asked and answered stays small; each go is answered for a block of its own. */
const AT_ONCE = 2_000;

/** Some outputs of ours, and what the chain holds of them after a block. */
interface Answer {
  at: BlockRef;
  outputs: readonly HeldOutput[];
  /** Chain units, in the same order; null for one that is spent or unknown there. */
  rawAmounts: readonly (bigint | null)[];
}

/**
 * A14 where coins are outputs: asks the chain about every output that we know of and think unspent, and compares what is there
 * with the books. What another block than the applied one has spent is looked up in the books as of that block, so it may run
 * while money moves. Outputs at our addresses that nobody told us of are not looked for: anybody can make some.
 * `unread` as in `compareHoldings`. @throws ChainUnavailable without `unread`, when the node does not answer, or for a block not applied yet
 */
export async function compareOutputs(
  deps: Pick<Deps, 'db'>,
  chain: Chain,
  ask: NonNullable<Reader['outputs']>,
  unread?: (holding: UnreadHolding) => void,
): Promise<{ holding: Holding; earlier: Reconciliation | undefined }[]> {
  const known = await readOutputsToCompare(deps.db.sql, chain.id);
  if (known === undefined) return [];
  const { asset, earlier, outputs } = known;
  const refuse = (why: UnreadHolding['why']): [] => {
    unread?.({ network: chain.config.name, symbol: asset.symbol, why });
    return [];
  };
  if (unread !== undefined && !asset.opened) return refuse('unopened');
  try {
    const answers = await askAll(ask, outputs);
    const lagging = answers.find(({ at }) => at.height < asset.finalHeight);
    if (lagging !== undefined) throw new ChainUnavailable(`the node is at block ${lagging.at.height}, and ${asset.finalHeight} is final`);
    // One statement is a snapshot by itself; where something is gone, the books are asked more about it.
    const isGone = answers.some(({ rawAmounts }) => rawAmounts.includes(null));
    const judged = isGone ? deps.db.snapshot((tx) => judge(tx, chain, asset, answers)) : judge(deps.db.sql, chain, asset, answers);
    return [{ holding: await judged, earlier }];
  } catch (error) {
    if (unread === undefined || !(error instanceof ChainUnavailable)) throw error;
    return refuse(error);
  }
}

/** With nothing to ask about, the chain is asked all the same: a node that is away must not pass for one that agrees. */
async function askAll(ask: NonNullable<Reader['outputs']>, outputs: readonly HeldOutput[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let from = 0; from === 0 || from < outputs.length; from += AT_ONCE) {
    const some = outputs.slice(from, from + AT_ONCE);
    const { at, rawAmounts } = await ask(some);
    if (rawAmounts.length !== some.length) throw new ChainUnavailable(`asked about ${some.length} outputs, the node answered about ${rawAmounts.length}`);
    answers.push({ at, outputs: some, rawAmounts });
  }
  return answers;
}

/** Puts the chain's answers beside one snapshot of the books. */
async function judge(reads: Reads, chain: Chain, asset: BookedAsset, answers: readonly Answer[]): Promise<Holding> {
  const books = await readBookedOutputs(reads, chain.id);
  const byRole = new Map(books.byRole);
  const add = (role: string, raw: bigint): void => void byRole.set(role, (byRole.get(role) ?? 0n) + raw);
  for (const { at, outputs, rawAmounts } of answers) {
    for (const [i, { role, rawAmount }] of outputs.entries()) add(role, (rawAmounts[i] ?? rawAmount) - rawAmount);
    const gone = outputs.filter((_, i) => rawAmounts[i] === null);
    const missing = await listHeldAt(reads, { networkId: chain.id, height: at.height, outputs: gone });
    // They may have been spent in a block that nobody has applied yet, or lie on another branch.
    if (missing.length > 0 && !(await isApplied(reads, chain.id, at.hash)))
      throw new ChainUnavailable(`the node does not know ${missing.length} outputs of ours after block ${at.height}, which is not applied`);
    for (const { role, rawAmount } of missing) add(role, -rawAmount);
  }
  const actual = fromUnits(
    [...byRole.values()].reduce((sum, raw) => sum + raw, 0n),
    asset.decimals,
  );
  const expected = amount<'asset'>(books.booked + fromUnits(books.unbooked, asset.decimals));
  return {
    network: chain.config.name,
    assetId: asset.assetId,
    symbol: asset.symbol,
    native: true,
    height: Math.min(...answers.map((answer) => answer.at.height)),
    expected,
    actual,
    difference: amount(actual - expected),
    byRole: new Map([...byRole].map(([role, raw]) => [role, fromUnits(raw, asset.decimals)])),
  };
}
