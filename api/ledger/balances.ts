import { listGatewayBalances, readBalance } from '#api/store/ledger.ts';
import { amount, type Coins } from '#shared/core/money.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/** What one gateway owns of one asset, by account; `reserved` is the sum over its settlements. */
export interface GatewayBalance {
  assetId: string;
  pending: Coins;
  available: Coins;
  heldPending: Coins;
  held: Coins;
  reserved: Coins;
  withheld: Coins;
  /** Ordered to be paid back to payers, and not paid yet. */
  refunding: Coins;
  /** What the gateway owes because its destinations cost more than its balance held; below zero, and collected from its next credits. */
  owed: Coins;
}

/** A gateway's balances of every asset it ever held, including zero ones (contract 2.9). Takes no lock. */
export async function gatewayBalances(reads: Reads, gatewayId: string): Promise<GatewayBalance[]> {
  const none = amount<'asset'>(0n);
  const balances = new Map<string, GatewayBalance>();
  for (const row of await listGatewayBalances(reads, gatewayId)) {
    const one = balances.get(row.assetId) ?? {
      assetId: row.assetId,
      pending: none,
      available: none,
      heldPending: none,
      held: none,
      reserved: none,
      withheld: none,
      refunding: none,
      owed: none,
    };
    const kind = row.kind as Exclude<keyof GatewayBalance, 'assetId'>;
    one[kind] = amount(one[kind] + row.balance);
    balances.set(row.assetId, one);
  }
  return [...balances.values()];
}

/** The amount that a gateway can withdraw of one asset from one pool now. Takes no lock, so a claim must check again. */
export async function poolBalance(reads: Reads, gatewayId: string, assetId: string, pool: 'green' | 'held'): Promise<Coins> {
  return amount(await readBalance(reads, { kind: pool === 'green' ? 'available' : 'held', gatewayId, assetId, settlementId: null }));
}

/** The amount of an asset that the ledger says lies in cold storage: minus the balance of the `cold` account (decision 0033). */
export async function bookedCold(reads: Reads, assetId: string): Promise<Coins> {
  return amount(-(await readBalance(reads, { kind: 'cold', gatewayId: null, assetId, settlementId: null })));
}
