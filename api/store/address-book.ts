import type { Tx } from '#shared/platform/postgres.ts';

/** A destination a gateway pays to. */
export interface AddressBookEntry {
  id: string;
  gatewayId: string;
  networkId: string;
  /** Canonical form: EVM in lower case, base58 exact. */
  address: string;
  label: string;
}

/**
 * Stores a destination on first use and returns its id; a repeat is found and keeps its first label (contract 4.3). Locks
 * nothing that exists already, so that cashouts of several assets to one address do not wait for each other.
 */
export async function storeAddress(tx: Tx, entry: AddressBookEntry): Promise<string> {
  const known = await findAddress(tx, entry);
  if (known !== undefined) return known;
  await tx`
    insert into address_book (id, gateway_id, network_id, address, label, tag)
    values (${entry.id}, ${entry.gatewayId}, ${entry.networkId}, ${entry.address}, ${entry.label}, 'API')
    on conflict (gateway_id, network_id, address) do nothing`;
  return (await findAddress(tx, entry)) as string;
}

async function findAddress(tx: Tx, { gatewayId, networkId, address }: AddressBookEntry): Promise<string | undefined> {
  const [row] = await tx<{ id: string }[]>`select id from address_book where gateway_id = ${gatewayId} and network_id = ${networkId} and address = ${address}`;
  return row?.id;
}
