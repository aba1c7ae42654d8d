import type { Deps } from '#api/deps.ts';
import type { StoredRefund } from '#api/store/aml.ts';
import { findAsset } from '#api/store/assets.ts';
import type { WithheldTransfer } from '#api/store/withheld-transfers.ts';
import { Invariant } from '#shared/core/errors.ts';
import { formatAmount } from '#shared/core/money.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import type { Said } from '#shared/platform/statements.ts';
import { differing, heard, say, type Unproven, unheard } from './say.ts';

type Refund = Pick<StoredRefund, 'id' | 'paymentId' | 'gatewayId' | 'assetId' | 'networkId' | 'recipient' | 'amount'>;
type Withheld = Pick<WithheldTransfer, 'id' | 'gatewayId' | 'assetId' | 'networkId' | 'recipient' | 'amount' | 'proposedBy' | 'confirmedBy'>;

/** Says that an operator ordered a refund, in the transaction that places it. `by` names them, where anybody called. @throws Invariant outside of the http role */
export async function sayRefund(tx: Tx, deps: Pick<Deps, 'config'>, refund: Refund, by: string | null): Promise<void> {
  await say(tx, deps, { kind: 'refund', subject: refund.id, said: { ...refundWords(refund, await coinOf(tx, refund)), by } });
}

/** Says that two people sent withheld coins somewhere, in the transaction of the second one's word. @throws Invariant outside of the http role */
export async function sayWithheld(tx: Tx, deps: Pick<Deps, 'config'>, transfer: Withheld, by = 'proposal'): Promise<void> {
  await say(tx, deps, { kind: 'withheld', subject: transfer.id, said: { ...withheldWords(transfer, await coinOf(tx, transfer)), by } });
}

/** Why a refund may not be paid in this coin, or null when that is, to the letter, what the http role ordered. Without a coin its asset's row says which. Locks nothing. */
export async function refundProblem(sql: Reads, deps: Pick<Deps, 'config'>, refund: StoredRefund, coin?: Coin): Promise<Unproven | null> {
  return problemOf(await heard(sql, deps, { kind: 'refund', subject: refund.id }), refundWords(refund, coin ?? (await coinOf(sql, refund))), {
    none: unheard(deps, refund.orderedAt, 'nobody ordered its refund'),
    what: 'refund',
  });
}

/** Why withheld coins may not be sent in this coin, or null when that is, to the letter, what two people agreed on. Without a coin its asset's row says which. Locks nothing. */
export async function withheldProblem(sql: Reads, deps: Pick<Deps, 'config'>, transfer: WithheldTransfer, coin?: Coin): Promise<Unproven | null> {
  if (transfer.proposedBy === transfer.confirmedBy) return { refuse: 'one person alone ordered its withheld coins' };
  return problemOf(await heard(sql, deps, { kind: 'withheld', subject: transfer.id }), withheldWords(transfer, coin ?? (await coinOf(sql, transfer))), {
    none: unheard(deps, transfer.orderedAt, 'nobody ordered its withheld coins'),
    what: 'transfer of withheld coins',
  });
}

function problemOf(said: readonly Said[], words: Said, { none, what }: { none: Unproven; what: string }): Unproven | null {
  if (said.length === 0) return none;
  const wrong = said.map((one) => differing(one, words));
  return wrong.includes(null) ? null : { refuse: `the ${wrong.at(-1)} of its ${what} is not what was ordered` };
}

/** What the amount is of: a contract (null for the native coin) with its decimals, on a network. */
interface Coin {
  network: string;
  contract: string | null;
  decimals: number;
}

async function coinOf(sql: Reads, { assetId }: Pick<Refund, 'assetId'>): Promise<Coin> {
  const asset = await findAsset(sql, assetId);
  if (asset === undefined) throw new Invariant(`asset ${assetId} does not exist`);
  return { network: asset.networkName, contract: asset.contract, decimals: asset.decimals };
}

function refundWords(refund: Refund, coin: Coin): Said {
  return { ...wordsOf(refund, coin), paymentId: refund.paymentId };
}

function withheldWords(transfer: Withheld, coin: Coin): Said {
  return { ...wordsOf(transfer, coin), proposedBy: transfer.proposedBy, confirmedBy: transfer.confirmedBy };
}

function wordsOf({ gatewayId, assetId, networkId, recipient, amount }: Omit<Refund, 'id' | 'paymentId'>, { network, contract, decimals }: Coin): Said {
  return { gatewayId, assetId, networkId, network, contract, decimals: String(decimals), recipient, amount: formatAmount(amount) };
}
