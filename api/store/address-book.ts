import type { Tx } from '#shared/platform/postgres.ts';

/** A destination a gateway pays to. */
export interface AddressBookEntry {
  id: string;
  gatewayId: string;
  networkId: string;
  /** Canonical form. */
  address: string;
  label: string;
}

/** Stores a destination on first use and returns its id; a repeat keeps the first label. Locks that row. */
export async function upsertAddressBookEntry(tx: Tx, entry: AddressBookEntry): Promise<string> {
  const [row] = await tx<{ id: string }[]>`
    insert into address_book (id, gateway_id, network_id, address, label, tag)
    values (${entry.id}, ${entry.gatewayId}, ${entry.networkId}, ${entry.address}, ${entry.label}, 'API')
    on conflict (gateway_id, network_id, address) do update set tag = address_book.tag
    returning id`;
  return (row as { id: string }).id;
}
