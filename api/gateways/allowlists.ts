import type { components } from '#api/contract/types.ts';
import type { Deps, Gateway } from '#api/deps.ts';
import { keepAllowlistEntries, listAllowlistEntries, type ListedAddress } from '#api/store/allowlists.ts';
import { invalid } from '#shared/core/errors.ts';
import { isIpRange } from '#shared/platform/ip.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { ONE_LINE } from './gateway-settings.ts';

/** More are a mistake: a list has an entry for each server. */
const NOTES = 1_000;
const LONGEST_NOTE = 120;

type Lists = Pick<Gateway, 'settings'>;
type ListedView = components['schemas']['AllowlistEntry'];

/** Who may call for this gateway, with what each address is for and since when it is listed. */
export async function readAllowlists(deps: Pick<Deps, 'db'>, { gateway }: { gateway: Gateway }): Promise<components['schemas']['Allowlists']> {
  const known = new Map((await listAllowlistEntries(deps.db.sql, gateway.id)).map((entry) => [nameOf(entry), entry]));
  const view = ({ list, address }: ListedAddress): ListedView => {
    const entry = known.get(nameOf({ list, address }));
    return { address, note: entry?.note ?? null, addedAt: entry?.addedAt?.toISOString() ?? null };
  };
  const listed = listedOf(gateway);
  return {
    api: listed.filter(({ list }) => list === 'api').map(view),
    cashout: { isEnabled: gateway.settings.cashout.enabled, items: listed.filter(({ list }) => list === 'cashout').map(view) },
  };
}

/** Reads notes by address; null takes one away. @throws validation_error naming allowlistNotes or the address */
export function readAllowlistNotes(given: unknown): Map<string, string | null> {
  if (given === undefined || given === null) return new Map();
  if (typeof given !== 'object' || Array.isArray(given)) throw invalid('allowlistNotes', 'must be an object of notes by address');
  const entries = Object.entries(given);
  if (entries.length > NOTES) throw invalid('allowlistNotes', `must have at most ${NOTES} notes`);
  for (const [address, note] of entries) {
    if (!isIpRange(address)) throw invalid('allowlistNotes', 'must name IP addresses or CIDR ranges');
    if (note !== null && (typeof note !== 'string' || note.trim() === '' || note.length > LONGEST_NOTE || !ONE_LINE.test(note)))
      throw invalid(`allowlistNotes.${address}`, `must be one line of 1 to ${LONGEST_NOTE} characters, or null`);
  }
  return new Map(entries.map(([address, note]: [string, string | null]) => [address, note === null ? null : note.trim()]));
}

/** Notes which addresses were added and what they are for. The caller holds the gateway's lock, or made it. @throws validation_error for a note on what no list has */
export async function noteAllowlists(
  tx: Tx,
  gatewayId: string,
  { before, now, notes }: { before: Lists | null; now: Lists; notes: ReadonlyMap<string, string | null> },
): Promise<void> {
  const listed = listedOf(now);
  const addresses = new Set(listed.map(({ address }) => address));
  for (const address of notes.keys()) if (!addresses.has(address)) throw invalid(`allowlistNotes.${address}`, 'is on no allowlist of the gateway');
  await keepAllowlistEntries(tx, gatewayId, { listed, before: before === null ? [] : listedOf(before), notes });
}

/** Each address of both lists, once a list. Pure. */
function listedOf({ settings }: Lists): ListedAddress[] {
  return [
    ...[...new Set(settings.apiAllowlist)].map((address): ListedAddress => ({ list: 'api', address })),
    ...[...new Set(settings.cashout.allowlist)].map((address): ListedAddress => ({ list: 'cashout', address })),
  ];
}

function nameOf({ list, address }: ListedAddress): string {
  return `${list} ${address}`;
}
