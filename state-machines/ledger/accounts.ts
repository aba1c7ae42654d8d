/** The two pools of a gateway's balance: ordinary coins, and coins flagged by screening. */
export const POOLS = ['green', 'held'] as const;
export type Pool = (typeof POOLS)[number];

/**
 * Accounts of a gateway per asset; all but `owed` cannot go below zero. `reserved` exists per settlement. `refunding` is ordered to be paid back to
 * payers and not paid yet.
 * `owed` is never above zero: what its destinations cost beyond its balance, until its next credits have paid for it (decisions 10).
 */
export type GatewayAccountKind = 'pending' | 'available' | 'heldPending' | 'held' | 'reserved' | 'withheld' | 'refunding' | 'owed';

/**
 * Accounts of the deployment per asset. `chain` is the outside: its balance is minus what is held on chain; `cold` is the same for cold storage.
 * `capital` is what the operator put in, `gas` what cashouts paid for fees less what fees cost, `platformExpense` the fees that the platform bears.
 */
export type SystemAccountKind = 'networkFee' | 'commission' | 'gas' | 'capital' | 'platformExpense' | 'unallocated' | 'loss' | 'chain' | 'cold';

export type AccountKind = GatewayAccountKind | SystemAccountKind;

/** Names one account within an asset. */
export interface Account {
  kind: AccountKind;
  /** Null for an account of the deployment. */
  gatewayId: string | null;
  /** Set only for `reserved`. */
  settlementId: string | null;
}

/** The amount that one account gains in a ledger transaction, or loses when it is below zero. */
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

/** The account of a pool's coins while they mature. */
export function maturingAccount(pool: Pool, gatewayId: string): Account {
  return gatewayAccount(pool === 'green' ? 'pending' : 'heldPending', gatewayId);
}

/** The account from which a pool's coins can be withdrawn. */
export function withdrawableAccount(pool: Pool, gatewayId: string): Account {
  return gatewayAccount(pool === 'green' ? 'available' : 'held', gatewayId);
}
