import type { Gateway } from '#api/deps.ts';
import type { StoredAsset } from '#api/store/assets.ts';
import type { Random } from './random.ts';
import type { Street } from './street.ts';
import type { Town } from './town.ts';

/** A transfer somebody made to a deposit address; whether it stands is for the chain to say. */
export interface Sent {
  txid: string;
  asset: StoredAsset;
  rawAmount: bigint;
  payer: 0 | 1 | 2;
}

/** A payment and what was sent for it. */
export interface Paid {
  id: string;
  shop: Shop;
  street: Street;
  offered: StoredAsset;
  /** Exactly what the offer asks for, decimal text. */
  totalValue: string;
  /** Canonical. */
  address: string;
  sent: Sent[];
  /** Screening calls its deposits dirty. */
  flagged: boolean;
  /** So old that nobody pays it any more. */
  closed: boolean;
}

/** A cashout as its merchant knows it: what was asked for under which key, and the id once there was an answer. */
export interface Cashout {
  id: string | null;
  key: string;
  shop: Shop;
  street: Street;
  asset: StoredAsset;
  body: { assetId: string; amount: string; address: string; route: string };
  /** Accepted or refused for good; until then its client asks again. */
  answered: boolean;
  /** Canonical, and nobody else's. */
  destination: string;
}

/** A gateway, and what its merchant can do with it. */
export interface Shop {
  name: string;
  gateway: Gateway;
  /** What its merchant asks for. */
  routes: readonly string[];
}

/** Everything the simulation knows without asking the service. */
export interface Model {
  random: Random;
  town: Town;
  shops: readonly Shop[];
  paid: Paid[];
  cashouts: Cashout[];
  /** Where held payments were ordered back to; none of these addresses was used for anything else. */
  refunds: { paid: Paid; destination: string }[];
  /** Destinations given out so far. */
  strangers: number;
}

/** A destination that was never used before and that nobody has the key of. */
export function aStranger(model: Model, street: Street): string {
  model.strangers += 1;
  return street.driver.stranger(1_000 + model.strangers);
}
