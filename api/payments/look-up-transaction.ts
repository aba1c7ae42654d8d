import type { Chain, Deps } from '#api/deps.ts';
import { listContracts } from '#api/store/assets.ts';
import { readTip } from '#api/store/chain-blocks.ts';
import type { Payment } from '#api/store/payments.ts';
import { belongToAnotherPayment, listOwnSenders } from '#api/store/deposit-addresses.ts';
import { findSightedBlock } from '#api/store/sightings.ts';
import { isAllExplained } from '#api/treasury/explain-balances.ts';
import { ChainUnavailable, type TransactionFacts } from '#shared/chains/chain.ts';
import type { Transfer } from '#shared/core/chain-events.ts';

/** What a chain says about a transaction, from the view of one payment. */
export type Finding =
  | { is: 'unavailable'; chain: Chain; txid: string; cause: unknown }
  | { is: 'tx_not_found'; chain: Chain; txid: string }
  /** In no block, or in one that is not on the node's main chain: nothing can be said yet. */
  | { is: 'unconfirmed'; chain: Chain; txid: string }
  | { is: 'tx_failed' | 'wrong_recipient' | 'claimed_by_other_payment' | 'unsupported_asset'; chain: Chain; txid: string; height: number }
  /** At least one transfer of a configured asset to an address of the payment. */
  | { is: 'transfers'; chain: Chain; txid: string; height: number; blockHash: string; transfers: Transfer[] };

/**
 * Asks one network's node about a transaction and sorts its transfers by owner. A node that cannot be believed is `unavailable`, never a verdict.
 * Call it outside any transaction, because a node may be slow. Locks nothing.
 */
export async function lookUpTransaction(deps: Deps, chain: Chain, txid: string, payment: Payment, addresses: ReadonlySet<string>): Promise<Finding> {
  const at = { chain, txid };
  try {
    // A transaction that was scanned already is found by its block, because some nodes keep no index of transactions.
    const inBlock = await findSightedBlock(deps.db.sql, chain.id, txid);
    let facts = await chain.reader.transaction(txid, inBlock);
    if (facts === null) {
      await assertCaughtUp(deps, chain);
      facts = await chain.reader.transaction(txid, inBlock);
    }
    if (facts === null) return { is: 'tx_not_found', ...at };
    if (facts.height === null || facts.blockHash === null || facts.succeeded === null) return { is: 'unconfirmed', ...at };
    if ((await chain.reader.blockAt(facts.height)).hash !== facts.blockHash) return { is: 'unconfirmed', ...at };
    if (!facts.succeeded) return { is: 'tx_failed', ...at, height: facts.height };
    return await sortTransfers(deps, at, { ...facts, height: facts.height, blockHash: facts.blockHash }, payment, addresses);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return { is: 'unavailable', ...at, cause: error };
  }
}

/** Refuses a node that is behind us: it cannot say that a transaction does not exist. @throws ChainUnavailable while it is behind */
async function assertCaughtUp({ db }: Deps, { id, reader }: Chain): Promise<void> {
  const tip = await readTip(db.sql, id);
  const { latest } = await reader.head();
  if (tip !== undefined && latest.height < tip.headHeight)
    throw new ChainUnavailable(`the node is at block ${latest.height}, which is below ${tip.headHeight}`);
}

async function sortTransfers(
  deps: Deps,
  at: { chain: Chain; txid: string },
  { height, blockHash, transfers, internalUnseen }: TransactionFacts & { height: number; blockHash: string },
  payment: Payment,
  addresses: ReadonlySet<string>,
): Promise<Finding> {
  const { db } = deps;
  // Transactions that we sent ourselves (a sweep, or gas for one) are never deposits.
  const payers = new Set<string>();
  // A transaction can have thousands of outputs, each naming all of its payers.
  for (const transfer of transfers) for (const payer of payersOf(transfer)) payers.add(payer);
  const own = await listOwnSenders(db.sql, at.txid, [...payers]);
  const foreign = transfers.filter((transfer) => BigInt(transfer.rawAmount) > 0n && (own.size === 0 || !payersOf(transfer).some((payer) => own.has(payer))));
  const ours = foreign.filter((transfer) => addresses.has(transfer.recipient));
  if (ours.length === 0) {
    // Coins that a contract passed on may be missing from these transfers; only the balance can prove that there were none.
    const explained = internalUnseen === undefined || (await isAllExplained(deps, at.chain, [...addresses], height));
    if (explained === undefined) return { is: 'unconfirmed', ...at };
    if (!explained) throw new ChainUnavailable('coins arrived that no transfer explains, and the node cannot show what contracts passed on');
    const recipients = foreign.map((transfer) => transfer.recipient);
    const others = await belongToAnotherPayment(db.sql, payment.gatewayId, payment.id, recipients);
    return { is: others ? 'claimed_by_other_payment' : 'wrong_recipient', ...at, height };
  }
  // One query, however many transfers the transaction has.
  const contracts = await listContracts(db.sql, at.chain.id);
  const supported = ours.filter((transfer) => contracts.has(transfer.contract));
  if (supported.length === 0) return { is: 'unsupported_asset', ...at, height };
  return { is: 'transfers', ...at, height, blockHash, transfers: supported };
}

function payersOf({ sender, coSenders = [] }: Transfer): string[] {
  return [sender, ...coSenders];
}
