import type { Commit, Deps, Gateway, Reply } from '#api/deps.ts';
import { enterAddress, findBookEntry, hideBookEntry, isBookFull, lockBook, renameBookEntry } from '#api/store/address-book.ts';
import { readDestination } from '#api/treasury/destination.ts';
import { invalid, ServiceError } from '#shared/core/errors.ts';
import { isUuid, uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { addressView } from './list-addresses.ts';

/** A request that changes the address book of a gateway. */
interface BookCall {
  gateway: Gateway;
  /** Id of the key it came with, or address of the person who does it in the console. */
  by: string;
  commit: Commit;
}

/**
 * Enters an address by hand, or shows a hidden one again; it is then as if it had been made now, by this key (decision 0067). A person also stands for one that a key or a cashout
 * brought: it is known from then on (decision 0079). Locks the gateway's book.
 * @throws validation_error naming label, network or address; conflict when it is there already or the book is full
 */
export async function addAddress(
  deps: Deps,
  { gateway, by, body, commit }: BookCall & { body: { label: string; network: string; address: string } },
): Promise<Reply> {
  const label = readLabel(body.label);
  const chain = deps.chains.get(body.network);
  if (chain === undefined) throw invalid('network', 'is not a network of this service');
  const { canonical } = await readDestination(deps, { networkId: chain.id, family: chain.config.family }, chain, body.address);
  return commit(async (tx) => {
    await lockBook(tx, gateway.id);
    if (await isBookFull(tx, gateway.id, { shown: POLICY.addressesByHand, ever: POLICY.addressesByHandEver }))
      throw new ServiceError('conflict', {
        message: `The address book has ${POLICY.addressesByHand} entries made by hand, or ${POLICY.addressesByHandEver} with hidden ones, which is as many as it may have.`,
      });
    const entry = { id: uuidFrom(deps.randomBytes(16)), gatewayId: gateway.id, networkId: chain.id, address: canonical, label, by, vouches: by.includes('@') };
    const id = await enterAddress(tx, entry);
    if (id === undefined) throw new ServiceError('conflict', { message: 'The address is in the address book already.' });
    return { status: 201, data: await viewOf(deps, tx, gateway, id) };
  });
}

/** Renames an entry; cashouts keep showing what they were made with. Locks its row. @throws validation_error naming label; not_found */
export async function renameAddress(
  deps: Deps,
  { gateway, by, addressId, body, commit }: BookCall & { addressId: string; body: { label: string } },
): Promise<Reply> {
  const label = readLabel(body.label);
  return commit(async (tx) => {
    if (!isUuid(addressId) || !(await renameBookEntry(tx, { gatewayId: gateway.id, id: addressId, label, by }))) throw new ServiceError('not_found');
    return { status: 200, data: await viewOf(deps, tx, gateway, addressId) };
  });
}

/**
 * Hides an entry; what was sent to it stays known. One that was hidden before is answered as it is, so that a lost answer can be asked for again. Locks its row.
 * @throws not_found
 */
export async function hideAddress(deps: Deps, { gateway, by, addressId, commit }: BookCall & { addressId: string }): Promise<Reply> {
  return commit(async (tx) => {
    if (!isUuid(addressId)) throw new ServiceError('not_found');
    await hideBookEntry(tx, { gatewayId: gateway.id, id: addressId, by });
    return { status: 200, data: await viewOf(deps, tx, gateway, addressId) };
  });
}

async function viewOf(deps: Deps, tx: Tx, gateway: Gateway, id: string): Promise<object> {
  const entry = await findBookEntry(tx, gateway.id, id);
  if (entry === undefined) throw new ServiceError('not_found');
  return addressView(deps, entry);
}

/** One line that reads from left to right as it is stored: people approve cashouts by what they read. */
function readLabel(label: string): string {
  if (label.trim() !== label || label === '' || [...label].length > POLICY.addressLabel)
    throw invalid('label', `must be 1 to ${POLICY.addressLabel} characters without spaces around them`);
  if (/[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/u.test(label)) throw invalid('label', 'holds a character that cannot be shown on one line');
  return label;
}
