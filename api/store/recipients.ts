import type { Reads } from '#shared/platform/postgres.ts';

/** True when an address belongs to another payment of the same gateway; takes no lock. */
export async function belongToAnotherPayment(reads: Reads, gatewayId: string, paymentId: string, addresses: readonly string[]): Promise<boolean> {
  const rows = await reads`
    select 1 from deposit_addresses d join payments p on p.id = d.payment_id
    where d.address = any(${[...addresses]}::text[]) and p.gateway_id = ${gatewayId} and p.id <> ${paymentId} limit 1`;
  return rows.length > 0;
}

/** Which of these senders are wallets or deposit addresses of this deployment; all of them when it signed the transaction itself. Takes no lock. */
export async function listOwnSenders(reads: Reads, txid: string, senders: readonly string[]): Promise<Set<string>> {
  const rows = await reads<{ address: string }[]>`
    select s.address from unnest(${[...senders]}::text[]) as s (address)
    where exists (select 1 from wallets w where w.address = s.address) or exists (select 1 from deposit_addresses d where d.address = s.address)
      or exists (select 1 from payout_attempts p where p.txid = ${txid})`;
  return new Set(rows.map((row) => row.address));
}
