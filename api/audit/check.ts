import type { PricePolicy } from '#api/clients/prices.ts';

/** Most rows a check answers with: enough to see what is wrong, never a flood. */
export const LIMIT = 'limit 100';

/** One question to the books whose answer must be "nothing". */
export interface Check {
  /** As reliability 5 numbers them. */
  name: string;
  title: string;
  /** A single select, so that it sees one snapshot; where it asks about prices, by those that count in this deployment. */
  query: string | ((prices: PricePolicy) => string);
  /** True where work in progress may look like a violation for a moment: then only one that lasts counts. */
  mayPass: boolean;
}
