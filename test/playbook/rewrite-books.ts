import type { Database, Tx } from '#shared/platform/postgres.ts';

/** Writes as the superuser of the database does, whom no trigger, constraint or right stops. */
export async function withoutRules(owner: Pick<Database, 'transaction'>, work: (tx: Tx) => Promise<unknown>): Promise<void> {
  await owner.transaction(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await work(tx);
  });
}

/** Makes a settled cashout look as if it had been claimed and nothing had ever been signed for it. */
export async function makeUnpaid(tx: Tx, id: string): Promise<void> {
  const payouts = tx`(select id from payouts where settlement_id = ${id})`;
  await tx`delete from payout_attempts where payout_id in ${payouts}`;
  await tx`delete from payout_events where payout_id in ${payouts}`;
  await tx`delete from output_locks where payout_id in ${payouts}`;
  await tx`delete from payouts where settlement_id = ${id}`;
  await tx`delete from settlement_events where settlement_id = ${id} and to_status in ('PROCESSING', 'SETTLED')`;
  await reopen(tx, id, 'REQUESTED');
}

/** Makes what was signed for a settled cashout look as if it had failed on the chain for good, so that it is owed a second payment. */
export async function makeFailed(tx: Tx, id: string): Promise<void> {
  const txids = tx`(select t.txid from payout_attempts t join payouts p on p.id = t.payout_id where p.settlement_id = ${id})`;
  await tx`update sightings set succeeded = false where txid in ${txids} and kind = 'sent'`;
  await tx`delete from sightings where txid in ${txids} and kind <> 'sent'`;
  await tx`update payouts set status = 'FAILED', failure = 'it failed on the chain', plan = plan || '{"repay": true}' where settlement_id = ${id}`;
  await reopen(tx, id, 'PROCESSING');
}

/** Gives the claim of a settled cashout back to the books. */
async function reopen(tx: Tx, id: string, status: string): Promise<void> {
  await tx`update settlements set status = ${status}, txid = null, received_amount = null, settled_at = null, wait_reason = null where id = ${id}`;
  await tx`update credit_draws set state = 'reserved' where settlement_id = ${id}`;
  await tx`update ledger_accounts a set balance = s.amount from settlements s where s.id = ${id} and a.settlement_id = s.id and a.kind = 'reserved'`;
  await tx`delete from settlement_fees where settlement_id = ${id}`;
  await tx`delete from ledger_transactions where source_key like ${`settlement:${id}:%`} and kind <> 'reserve'`;
  await tx`delete from freezes`;
  await tx`update wallets set halted_reason = null`;
}
