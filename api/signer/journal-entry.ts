import type { AttemptKind } from '#api/store/payout-attempts.ts';

/** One signature the signer made, as its journal remembers it (decisions 10). */
export interface JournalEntry {
  /** What is paid at most once: `settlement:<id>`, `refund:<id>` or `withheld:<id>`; `payout:<id>` for what moves between addresses of ours. */
  order: string;
  /** Id of the payout. */
  payout: string;
  /** Name of the network. */
  network: string;
  /** What all bytes have in common of which only one can ever be mined: `nonce:<sender>:<nonce>`, `output:<txid>:<vout>`, or `txid:<txid>` where bytes just expire. */
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
  /** The most it may cost, native units. */
  rawFee: bigint;
  /** Whether the amount goes to an address whose key the signer does not have. */
  leaves: boolean;
  /** Where coins are outputs: those it spends, as `txid:vout`. */
  inputs: readonly string[];
  /** Unix milliseconds after which the chain takes the bytes no more; null where they never expire. */
  expiresAtMs: number | null;
  /** Unix milliseconds of the signer's own clock. */
  signedAtMs: number;
}
