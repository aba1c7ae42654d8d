import { groupBy } from '#shared/core/group-by.ts';
import type { Transfer } from '#shared/core/chain-events.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Head, Reader, TransactionFacts } from './chain.ts';

/** The fields of a transfer that two providers must agree on. */
export type SoughtTransfer = Pick<Transfer, 'txid' | 'kind' | 'ordinal' | 'height' | 'blockHash' | 'recipient' | 'contract' | 'rawAmount'>;

/**
 * `agreed`: two providers say the same. `alone`: there is only one provider. `disputed`: one says otherwise. `unseen`: none says otherwise, but a
 * provider does not show internal transfers and so cannot confirm one.
 */
export type SecondOpinion = 'agreed' | 'alone' | 'disputed' | 'unseen';

/** One provider's answer about the transfers. `behind`: their block is not there yet, or not final by the provider's own head. */
export type Vote = 'same' | 'other' | 'unseen' | 'behind';

/** One provider's vote, from its own head and its own facts about each transaction, which are read from the block with every check. */
export async function voteOn(
  sought: readonly SoughtTransfer[],
  head: Head,
  isFinal: (head: Head) => boolean,
  factsOf: (txid: string, inBlock: string) => Promise<TransactionFacts | null>,
): Promise<Vote> {
  if (!isFinal(head) || sought.some((transfer) => transfer.height > head.latest.height)) return 'behind';
  let vote: Vote = 'same';
  for (const [txid, ofIt] of groupBy(sought, (transfer) => transfer.txid)) {
    const facts = await factsOf(txid, (ofIt[0] as SoughtTransfer).blockHash);
    // Grouped first, because one transaction may have tens of thousands of both, and searching all for each would be too slow.
    const told = groupBy(facts?.transfers ?? [], placeOf);
    for (const transfer of ofIt) {
      if (facts !== null && isIncluded(transfer, facts) && isTold(transfer, told.get(placeOf(transfer)))) continue;
      if (facts === null || !isIncluded(transfer, facts) || transfer.kind !== 'internal' || facts.internalUnseen === undefined) return 'other';
      vote = 'unseen';
    }
  }
  return vote;
}

/**
 * How one provider is asked about the transactions: each separately, for which it reads their block each time; or, when they are very many, the
 * whole block once. For a block that is not, or no longer, on its main chain it knows none of them.
 */
export function askingAbout(sought: readonly SoughtTransfer[], reader: Pick<Reader, 'block' | 'blockAt' | 'transaction'>): Parameters<typeof voteOn>[3] {
  if (new Set(sought.map((transfer) => transfer.txid)).size <= POLICY.transfersAlone) return (txid, inBlock) => reader.transaction(txid, inBlock);
  const recipients = new Set(sought.map((transfer) => transfer.recipient));
  const read = async (hash: string): Promise<(txid: string) => TransactionFacts | null> => {
    const { block, transfers, internalUnseen } = await reader.block(hash, recipients);
    if ((await reader.blockAt(block.height)).hash !== hash) return () => null;
    const made = groupBy(transfers, ({ txid }) => txid);
    const place = { height: block.height, blockHash: hash, succeeded: true, ...(internalUnseen === undefined ? {} : { internalUnseen }) };
    return (txid) => ({ txid, ...place, transfers: made.get(txid) ?? [] });
  };
  const blocks = new Map<string, ReturnType<typeof read>>();
  return async (txid, inBlock) => {
    const block = blocks.get(inBlock) ?? read(inBlock);
    blocks.set(inBlock, block);
    return (await block)(txid);
  };
}

/** The result of the votes when there is no agreement; undefined while it is too early to say. */
export function verdictOf(votes: readonly Vote[]): 'disputed' | 'unseen' | undefined {
  if (votes.includes('other')) return 'disputed';
  return votes.includes('unseen') ? 'unseen' : undefined;
}

function isIncluded(transfer: SoughtTransfer, facts: TransactionFacts): boolean {
  return facts.succeeded === true && facts.height === transfer.height && facts.blockHash === transfer.blockHash;
}

/** The place of a transfer inside its transaction. */
function placeOf({ kind, ordinal }: Pick<Transfer, 'kind' | 'ordinal'>): string {
  return `${kind} ${ordinal}`;
}

/** Whether the provider reports this transfer at its place, and nothing else there. */
function isTold(transfer: SoughtTransfer, [told, ...others]: readonly Transfer[] = []): boolean {
  return others.length === 0 && told?.recipient === transfer.recipient && told.contract === transfer.contract && told.rawAmount === transfer.rawAmount;
}
