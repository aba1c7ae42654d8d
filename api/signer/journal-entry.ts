import type { AttemptKind } from '#api/store/payout-attempts.ts';

/** One signature the signer made, as its journal remembers it (decisions 10). */
export interface JournalEntry {
  /**
   * The order, which is paid at most once: `settlement:<id>`, `refund:<id>`, `withheld:<id>`, or `payout:<id>` for coins that move between our own
   * addresses.
   */
  order: string;
  /** Id of the payout. */
  payout: string;
  /** Name of the network. */
  network: string;
  /** The chain can mine only one transaction per slot: `nonce:<sender>:<nonce>`, `output:<txid>:<vout>`, or `txid:<txid>` where bytes only expire. */
  slot: string;
  kind: AttemptKind;
  txid: string;
  /** Canonical. */
  sender: string;
  /** Canonical. */
  recipient: string;
  /** Null for native coins. */
  contract: string | null;
  /** Chain units. */
  rawAmount: bigint;
  /** The most that the fee can be, in native units. */
  rawFee: bigint;
  /** Whether the amount leaves us. It stays when the signer has the recipient's key, or the recipient is cold storage. */
  leaves: boolean;
  /** Outputs that it spends, as `txid:vout`; empty where coins are balances. */
  inputs: readonly string[];
  /** Unix milliseconds after which the chain no longer accepts the bytes; null where they never expire. */
  expiresAtMs: number | null;
  /** Unix milliseconds of the signer's own clock. */
  signedAtMs: number;
}
