/** The two pools a gateway's balance is kept in: ordinary, and flagged by screening. */
export const POOLS = ['green', 'held'] as const;
export type Pool = (typeof POOLS)[number];

/**
 * Accounts of a gateway and an asset; all but one cannot go below zero. `reserved` exists per settlement; `refunding` is what
 * was ordered back to payers and is not paid yet; `owed` never rises above zero: what its destinations cost beyond its balance,
 * until its next credits have paid it (decisions 10).
 */
export type GatewayAccountKind = 'pending' | 'available' | 'heldPending' | 'held' | 'reserved' | 'withheld' | 'refunding' | 'owed';

/**
 * Accounts of the deployment per asset. `chain` is the outside: its balance is minus what is held on chain; `cold` is the same for
 * cold storage. `capital` is what the operator put in, `gas` what cashouts paid for fees less what fees cost, `platformExpense` fees
 * the platform bears.
 */
export type SystemAccountKind = 'networkFee' | 'commission' | 'gas' | 'capital' | 'platformExpense' | 'unallocated' | 'loss' | 'chain' | 'cold';

export type AccountKind = GatewayAccountKind | SystemAccountKind;

/** Names one account within an asset. */
export interface Account {
  kind: AccountKind;
  /** Null for the accounts of the deployment. */
  gatewayId: string | null;
  /** Set only for `reserved`. */
  settlementId: string | null;
}

/** What one account gains (or, below zero, loses) in a ledger transaction. */
export interface Posting {
  account: Account;
  assetId: string;
  /** Signed, 18-place; never zero. */
  amount: bigint;
}

export function gatewayAccount(kind: Exclude<GatewayAccountKind, 'reserved'>, gatewayId: string): Account {
  return { kind, gatewayId, settlementId: null };
}

export function reservedAccount(gatewayId: string, settlementId: string): Account {
  return { kind: 'reserved', gatewayId, settlementId };
}

export function systemAccount(kind: SystemAccountKind): Account {
  return { kind, gatewayId: null, settlementId: null };
}

/** Where a pool's coins are while they mature. */
export function maturingAccount(pool: Pool, gatewayId: string): Account {
  return gatewayAccount(pool === 'green' ? 'pending' : 'heldPending', gatewayId);
}

/** Where a pool's coins can be withdrawn from. */
export function withdrawableAccount(pool: Pool, gatewayId: string): Account {
  return gatewayAccount(pool === 'green' ? 'available' : 'held', gatewayId);
}
