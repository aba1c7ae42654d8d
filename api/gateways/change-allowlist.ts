import type { Gateway } from '#api/deps.ts';
import { lockGateway, updateGateway } from '#api/store/gateways.ts';
import { invalid, Invariant, ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { isIpRange } from '#shared/platform/ip.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { noteAllowlists, readAllowlistNotes } from './allowlists.ts';

/** A change of who may call for a gateway. */
export interface AllowlistChange {
  gateway: Pick<Gateway, 'id'>;
  list: 'api' | 'cashout';
  /** An IP address, or a range of them. */
  address: string;
}

/**
 * Lets an address call for a gateway, in the caller's transaction, which notes it. `note` says what it is for. Locks the gateway.
 * @throws validation_error naming address or the note; conflict when it is listed already, or the list is full
 */
export async function addToAllowlist(tx: Tx, { gateway, list, address, note }: AllowlistChange & { note: string | null }): Promise<void> {
  if (!isIpRange(address)) throw invalid('address', 'must be an IP address or a CIDR range');
  const notes = readAllowlistNotes(note === null ? null : { [address]: note });
  await change(tx, { gateway, list, notes }, (before) => {
    if (before.includes(address)) throw new ServiceError('conflict', { message: `${address} is on that list already.` });
    if (before.length >= POLICY.allowlistEntries)
      throw new ServiceError('conflict', { message: `The list has ${POLICY.allowlistEntries} addresses, which is as many as it may have.` });
    return [...before, address];
  });
}

/** Takes an address off a list, in the caller's transaction, which notes it. Locks the gateway. @throws not_found when it is not on it */
export async function removeFromAllowlist(tx: Tx, { gateway, list, address }: AllowlistChange): Promise<void> {
  await change(tx, { gateway, list, notes: new Map() }, (before) => {
    if (!before.includes(address)) throw new ServiceError('not_found');
    return before.filter((one) => one !== address);
  });
}

async function change(
  tx: Tx,
  { gateway: { id }, list, notes }: Pick<AllowlistChange, 'gateway' | 'list'> & { notes: ReadonlyMap<string, string | null> },
  of: (before: readonly string[]) => string[],
): Promise<void> {
  const current = await lockGateway(tx, id);
  if (current === undefined) throw new Invariant(`gateway ${id} is gone`);
  const { settings } = current;
  const now =
    list === 'api'
      ? { ...settings, apiAllowlist: of(settings.apiAllowlist) }
      : { ...settings, cashout: { ...settings.cashout, allowlist: of(settings.cashout.allowlist) } };
  await noteAllowlists(tx, id, { before: current, now: { settings: now }, notes });
  await updateGateway(tx, { ...current, settings: now });
}
