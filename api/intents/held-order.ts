import type { Deps } from '#api/deps.ts';
import type { StoredRefund } from '#api/store/aml-refunds.ts';
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
  await say(tx, deps, { kind: 'refund', subject: refund.id, said: { ...(await refundWords(tx, refund)), by } });
}

/** Says that two people sent withheld coins somewhere, in the transaction of the second one's word. @throws Invariant outside of the http role */
export async function sayWithheld(tx: Tx, deps: Pick<Deps, 'config'>, transfer: Withheld, by = 'proposal'): Promise<void> {
  await say(tx, deps, { kind: 'withheld', subject: transfer.id, said: { ...(await withheldWords(tx, transfer)), by } });
}

/** Why a refund may not be paid, or null when it is, to the letter, what the http role ordered. Locks nothing. */
export async function refundProblem(sql: Reads, deps: Pick<Deps, 'config'>, refund: StoredRefund): Promise<Unproven | null> {
  return problemOf(await heard(sql, deps, { kind: 'refund', subject: refund.id }), await refundWords(sql, refund), {
    none: unheard(deps, refund.orderedAt, 'nobody ordered its refund'),
    what: 'refund',
  });
}

/** Why withheld coins may not be sent, or null when they are, to the letter, what two people agreed on. Locks nothing. */
export async function withheldProblem(sql: Reads, deps: Pick<Deps, 'config'>, transfer: WithheldTransfer): Promise<Unproven | null> {
  if (transfer.proposedBy === transfer.confirmedBy) return { refuse: 'one person alone ordered its withheld coins' };
  return problemOf(await heard(sql, deps, { kind: 'withheld', subject: transfer.id }), await withheldWords(sql, transfer), {
    none: unheard(deps, transfer.orderedAt, 'nobody ordered its withheld coins'),
    what: 'transfer of withheld coins',
  });
}

function problemOf(said: readonly Said[], words: Said, { none, what }: { none: Unproven; what: string }): Unproven | null {
  if (said.length === 0) return none;
  const wrong = said.map((one) => differing(one, words));
  return wrong.includes(null) ? null : { refuse: `the ${wrong.at(-1)} of its ${what} is not what was ordered` };
}

async function refundWords(sql: Reads, refund: Refund): Promise<Said> {
  return { ...(await wordsOf(sql, refund)), paymentId: refund.paymentId };
}

async function withheldWords(sql: Reads, transfer: Withheld): Promise<Said> {
  return { ...(await wordsOf(sql, transfer)), proposedBy: transfer.proposedBy, confirmedBy: transfer.confirmedBy };
}

async function wordsOf(sql: Reads, { gatewayId, assetId, networkId, recipient, amount }: Omit<Refund, 'id' | 'paymentId'>): Promise<Said> {
  const asset = await findAsset(sql, assetId);
  if (asset === undefined) throw new Invariant(`asset ${assetId} does not exist`);
  const { networkName: network, contract, decimals } = asset;
  return { gatewayId, assetId, networkId, network, contract, decimals: String(decimals), recipient, amount: formatAmount(amount) };
}
