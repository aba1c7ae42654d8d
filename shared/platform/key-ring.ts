import { hkdfSync, timingSafeEqual } from 'node:crypto';
import { Invariant } from '#shared/core/errors.ts';

/**
 * One secret of the deployment while it is being changed (decision 0026). Everything is written under `current` and believed
 * under any of them; only what is still under `previous` is brought over, so that processes one step apart never undo each other.
 */
export interface KeyRing {
  current: string;
  /** Becomes the current one soon: other processes may write under it already. */
  next: string | undefined;
  /** Was the current one: what was stored under it still counts. */
  previous: string | undefined;
}

type Rung = 'current' | 'next' | 'previous';

/** Every key of a ring with its place, the current one first. */
export function rungsOf(ring: KeyRing): { rung: Rung; key: string }[] {
  return (['current', 'next', 'previous'] as const).flatMap((rung) => {
    const key = ring[rung];
    return key === undefined ? [] : [{ rung, key }];
  });
}

/** Sixteen hex digits that name a key and tell nothing about it. */
export function keyId(key: string): string {
  return Buffer.from(hkdfSync('sha256', key, 'sluice', 'key id, version 1', 8)).toString('hex');
}

/** Stands in for a MAC that is missing or cut short, so that judging it takes as long. */
const NONE = Buffer.alloc(32);

/** Which key of a ring a MAC of 32 bytes was made with, undefined when none; every key is tried, whatever the first one says. */
export function signerOf(ring: KeyRing, mac: Uint8Array | null, make: (key: string) => Uint8Array): Rung | undefined {
  const whole = mac !== null && mac.length === NONE.length;
  const given = whole ? mac : NONE;
  let found: Rung | undefined;
  for (const { rung, key } of rungsOf(ring)) {
    const same = timingSafeEqual(make(key), given);
    if (same && whole) found ??= rung;
  }
  return found;
}

/** Whether a MAC was made with any key of a ring. */
export function isMacOf(ring: KeyRing, mac: Uint8Array | null, make: (key: string) => Uint8Array): boolean {
  return signerOf(ring, mac, make) !== undefined;
}

interface Configured {
  SLUICE_MASTER_KEY?: string | undefined;
  SLUICE_MASTER_KEY_NEXT?: string | undefined;
  SLUICE_MASTER_KEY_PREVIOUS?: string | undefined;
  SLUICE_API_KEY_PEPPER?: string | undefined;
  SLUICE_API_KEY_PEPPER_NEXT?: string | undefined;
  SLUICE_API_KEY_PEPPER_PREVIOUS?: string | undefined;
}

/** What stored secrets are sealed under and orders are authenticated with. @throws Invariant in a process that has none: the signer by itself */
export function masterKeys(config: Configured): KeyRing {
  return { current: present('SLUICE_MASTER_KEY', config.SLUICE_MASTER_KEY), next: config.SLUICE_MASTER_KEY_NEXT, previous: config.SLUICE_MASTER_KEY_PREVIOUS };
}

/** What is mixed into the hashes of API keys. @throws Invariant in a process without the http role */
export function peppers(config: Configured): KeyRing {
  return {
    current: present('SLUICE_API_KEY_PEPPER', config.SLUICE_API_KEY_PEPPER),
    next: config.SLUICE_API_KEY_PEPPER_NEXT,
    previous: config.SLUICE_API_KEY_PEPPER_PREVIOUS,
  };
}

/** A role that does not need a secret does not have it, and must not do with an empty one what others do with theirs. */
function present(name: string, secret: string | undefined): string {
  if (secret === undefined) throw new Invariant(`this process has no ${name}`);
  return secret;
}
