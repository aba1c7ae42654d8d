import type { Family } from '#shared/core/assets.ts';
import type { Reads, Tx } from '#shared/platform/postgres.ts';
import { isMoved, noteHistory } from './database-epoch.ts';

export interface DepositAddress {
  id: string;
  paymentId: string;
  networkId: string;
  family: Family;
  derivationIndex: number;
  /** Canonical form. */
  address: string;
  createdAt: Date;
  /** Whether the network's indexer has said that it watches it; only then may a payer see it (decisions 9). */
  watched: boolean;
}

/**
 * Takes the next derivation index of a family; every call takes one for good, so gaps are normal and reuse impossible. In a database that
 * was restored the indexes have jumped past what it lost before the first is given (architecture 3.2). Locks the history then.
 */
export async function nextDerivationIndex(tx: Tx, family: Family): Promise<number> {
  if (await isMoved(tx)) await noteHistory(tx);
  const [row] = await tx<[{ index: number }]>`select nextval(${`derivation_index_${family}`}::regclass) as index`;
  return row.index;
}

/** Gives a payment its address on a network. @throws a unique violation when it has one, or when the address is taken */
export async function insertDepositAddress(
  tx: Tx,
  row: { id: string; paymentId: string; networkId: string; family: Family; derivationIndex: number; address: string },
): Promise<void> {
  await tx`
    insert into deposit_addresses (id, payment_id, network_id, family, derivation_index, address, created_at)
    values (${row.id}, ${row.paymentId}, ${row.networkId}, ${row.family}, ${row.derivationIndex}, ${row.address}, sluice_now())`;
}

/** A payment's addresses, oldest first; locks nothing. */
export async function listDepositAddresses(sql: Reads, paymentId: string): Promise<DepositAddress[]> {
  return sql<DepositAddress[]>`
    select d.id, d.payment_id as "paymentId", d.network_id as "networkId", d.family, d.derivation_index as "derivationIndex", d.address,
      d.created_at as "createdAt", w.acked_epoch is not null as watched
    from deposit_addresses d left join watches w on w.network_id = d.network_id and w.address = d.address
    where d.payment_id = ${paymentId} order by d.created_at, d.id`;
}
