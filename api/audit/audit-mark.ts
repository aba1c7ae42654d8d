import { createHmac, hash, hkdfSync } from 'node:crypto';
import type { Horizon, StoredMark } from '#api/store/audit-marks.ts';
import { isMacOf, type KeyRing } from '#shared/platform/key-ring.ts';
import type { Check } from './check.ts';

/** A mark without the proof that an audit wrote it. */
export type Mark = Omit<StoredMark, 'mac'>;

/**
 * Proves that an audit wrote a mark: whoever can write its row, and has no key, can put back an earlier one, which makes the audit look at more, and make up none
 * (decision 0054).
 */
export function macOfMark(masterKey: string, m: Mark): Buffer {
  const key = new Uint8Array(hkdfSync('sha256', masterKey, 'sluice', 'audit marks, version 1', 32));
  return createHmac('sha256', key)
    .update(JSON.stringify([m.checkName, m.since, m.wholeAt.toISOString(), m.fingerprint, m.history]))
    .digest();
}

/** Whether a check may begin at its mark: an audit of this deployment wrote it, about this question, in this history of the database, and not about what is to come. */
export function isGood(mark: StoredMark | undefined, { ring, check, now }: { ring: KeyRing; check: Check; now: Horizon }): mark is StoredMark {
  return (
    mark !== undefined &&
    mark.fingerprint === fingerprintOf(check) &&
    mark.history === now.history &&
    BigInt(mark.since) <= BigInt(now.since) &&
    isMacOf(ring, mark.mac, (key) => macOfMark(key, mark))
  );
}

const NOTHING = {
  since: '0',
  payments: [],
  settlements: [],
  payouts: [],
  wallets: [],
  accruals: [],
  invoices: [],
  replies: [],
  sightings: [],
  ledger: [],
  accounts: [],
};

/** Stands for what a check asks, in both of its forms. */
export function fingerprintOf({ query, ofChanged }: Check): string {
  return hash('sha256', JSON.stringify([typeof query === 'string' ? query : null, ofChanged?.(NOTHING)]));
}
