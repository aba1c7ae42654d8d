import { readClock } from '#api/store/clock.ts';
import { invalid } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { isIpRange } from '#shared/platform/ip.ts';
import type { Tx } from '#shared/platform/postgres.ts';
import { ONE_LINE } from './gateway-settings.ts';

/** What a new key is called, and what narrows it beside its permissions. */
export interface KeyLimits {
  name: string | null;
  /** Service time; null for one that works until it is revoked. */
  expiresAt: Date | null;
  /** Null allows every address. */
  allowlist: string[] | null;
}

/** Reads them from the fields of a body; what is absent is null. @throws validation_error naming name, expiresAt or allowlist */
export function readKeyLimits({ name, expiresAt, allowlist }: Partial<Record<keyof KeyLimits, unknown>>): KeyLimits {
  return { name: readName(name ?? null), expiresAt: readEnd(expiresAt ?? null), allowlist: readAddresses(allowlist ?? null) };
}

/** Refuses an end that has passed already. Locks nothing. @throws validation_error naming expiresAt */
export async function refusePastEnd(tx: Tx, expiresAt: Date | null): Promise<void> {
  if (expiresAt !== null && expiresAt <= (await readClock(tx)).now) throw invalid('expiresAt', 'must be in the future');
}

function readName(given: unknown): string | null {
  if (given === null) return null;
  const name = typeof given === 'string' ? given.trim() : '';
  if (name === '' || name.length > 100 || !ONE_LINE.test(name)) throw invalid('name', 'must be one line of 1 to 100 characters');
  return name;
}

function readEnd(given: unknown): Date | null {
  if (given === null) return null;
  const time = typeof given === 'string' && /^\d{4}-\d{2}-\d{2}[Tt].+([Zz]|[+-]\d{2}:\d{2})$/.test(given) ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(time)) throw invalid('expiresAt', 'must be an RFC 3339 time such as "2027-11-21T10:00:00Z"');
  return new Date(Math.min(time, Date.parse(POLICY.latestDeadline)));
}

function readAddresses(given: unknown): string[] | null {
  if (given === null) return null;
  // An empty list would be a key that nobody can use.
  if (!Array.isArray(given) || given.length === 0 || given.length > POLICY.apiKeyAddresses)
    throw invalid('allowlist', `must be a list of 1 to ${POLICY.apiKeyAddresses} addresses, or null`);
  const wrong = given.findIndex((one) => typeof one !== 'string' || !isIpRange(one));
  if (wrong >= 0) throw invalid(`allowlist[${wrong}]`, 'must be an IP address or a CIDR range');
  return [...new Set(given as string[])];
}
