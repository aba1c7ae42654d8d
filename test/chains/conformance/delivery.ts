/** A way in which what an indexer published reaches the consumer; each is the answer of one bad day of a stream. */
export interface DeliveryStyle {
  name: string;
  deliver(published: readonly string[]): string[];
}

/**
 * The styles every reorganisation is tested under (reliability 1, rust-lightning's ConnectStyle). What a style loses or
 * disturbs has to heal by itself: the consumer asks, and the indexer starts again from the consumer's tip.
 */
export const DELIVERY_STYLES: readonly DeliveryStyle[] = [
  { name: 'once', deliver: (published) => [...published] },
  { name: 'twice', deliver: (published) => published.flatMap((one) => [one, one]) },
  { name: 'out of order', deliver: (published) => [...published].reverse() },
  { name: 'skipped', deliver: (published) => published.filter((_, index) => index % 2 === 1) },
  { name: 'tip only', deliver: (published) => published.slice(-1) },
];

/** A stream on a good day. */
export const ONCE = DELIVERY_STYLES[0] as DeliveryStyle;
