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
  /** Ordered back to payers and not paid yet. */
  refunding: Coins;
  /** What its destinations cost beyond its balance, below zero; collected from its next credits. */
  owed: Coins;
}

/** Balances of a gateway per asset it ever held, zero ones included; takes no lock (contract 2.9). */
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

/** What a gateway may withdraw of one asset from one pool right now; takes no lock, so a claim must still be conditional. */
export async function poolBalance(reads: Reads, gatewayId: string, assetId: string, pool: 'green' | 'held'): Promise<Coins> {
  return amount(await readBalance(reads, { kind: pool === 'green' ? 'available' : 'held', gatewayId, assetId, settlementId: null }));
}

/** What the books say the deployment holds of an asset on its chain: minus the balance of the outside (architecture 2). */
export async function bookedHoldings(reads: Reads, assetId: string): Promise<Coins> {
  return amount(-(await readBalance(reads, { kind: 'chain', gatewayId: null, assetId, settlementId: null })));
}

/** What the books say lies in cold storage of an asset: minus the balance of its account (decision 0033). */
export async function bookedCold(reads: Reads, assetId: string): Promise<Coins> {
  return amount(-(await readBalance(reads, { kind: 'cold', gatewayId: null, assetId, settlementId: null })));
}
