import type { StoredQuote } from '#api/store/prices.ts';
import { amount, type Usd, mulDiv, ONE } from '#shared/core/money.ts';

/** A price that enough sources agree on. */
export interface AgreedPrice {
  symbol: string;
  usd: Usd;
  /** The sources whose median it is, sorted. */
  sources: string[];
  /** The oldest of their times. */
  at: Date;
}

export interface AgreementRules {
  /** Basis points from the median beyond which a source counts as broken. */
  outlierBps: number;
  /** How many must be left. */
  agreeing: number;
}

/** Below a millionth of a millionth of a dollar, or above a billion, something else than a price was sent. */
const LOWEST = 10n ** 6n;
const HIGHEST = 10n ** 9n * ONE;

/** True for a figure that could be a price of anything: above zero, and not absurd. */
export function isPlausible(price: bigint): boolean {
  return price >= LOWEST && price <= HIGHEST;
}

/**
 * True unless a price left the last one that was believed by more than `factor` while that one was no older than
 * `withinSeconds`: no coin does that from one round to the next, and a feed that slipped by three places does.
 */
export function isSteady(next: { usd: bigint; at: Date }, last: { usd: bigint; at: Date }, band: { factor: number; withinSeconds: number }): boolean {
  if (next.at.getTime() - last.at.getTime() > band.withinSeconds * 1_000) return true;
  const factor = BigInt(band.factor);
  return next.usd <= last.usd * factor && next.usd * factor >= last.usd;
}

interface Opinion {
  source: string;
  usd: bigint;
  at: Date;
  standing: boolean;
}

/**
 * What the sources agree on, symbol by symbol. A symbol without agreement is missing from the answer and harms no other.
 * Of the good quotes, those further from their median than the limit are dropped; the rest is believed when it is at least
 * `agreeing` sources and more than half of those that spoke, and when two are all there is, only if they are no further
 * from each other than the limit. Daily rates alone never outvote a market of this minute. The price is the median of the
 * rest, halves rounded up (decisions 2).
 */
export function agreePrices(quotes: readonly StoredQuote[], now: Date, rules: AgreementRules): AgreedPrice[] {
  const good = quotes.filter((quote) => quote.goodUntil > now);
  const direct = judgeAll(
    toOpinions(
      good.filter((quote) => quote.in === 'USD'),
      now,
      new Map(),
    ),
    rules,
  );
  // A price in another coin is worth what that coin is worth by direct quotes; without one it says nothing.
  return judgeAll(toOpinions(good, now, new Map(direct.map((price) => [price.symbol, price]))), rules);
}

function toOpinions(quotes: readonly StoredQuote[], now: Date, numeraires: ReadonlyMap<string, AgreedPrice>): Map<string, Opinion[]> {
  const bySymbol = new Map<string, Opinion[]>();
  for (const quote of quotes) {
    const opinion = toOpinion(quote, now, numeraires.get(quote.in));
    if (opinion === undefined || !isPlausible(opinion.usd)) continue;
    bySymbol.set(quote.symbol, [...(bySymbol.get(quote.symbol) ?? []), opinion]);
  }
  return bySymbol;
}

function toOpinion(quote: StoredQuote, now: Date, numeraire: AgreedPrice | undefined): Opinion | undefined {
  const own = quote.standing ? now : quote.takenAt;
  const { source, standing } = quote;
  if (quote.in === 'USD') return { source, usd: quote.price, at: own, standing };
  if (numeraire === undefined) return undefined;
  return { source, standing, usd: mulDiv(quote.price, numeraire.usd, ONE, 'half-up'), at: earlier(own, numeraire.at) };
}

function judgeAll(opinions: ReadonlyMap<string, Opinion[]>, rules: AgreementRules): AgreedPrice[] {
  return [...opinions].flatMap(([symbol, all]) => {
    const middle = median(all);
    const kept = all.filter((one) => isWithin(one.usd, middle, rules.outlierBps));
    if (kept.length < rules.agreeing || kept.length * 2 <= all.length) return [];
    if (kept.every((one) => one.standing) && !all.every((one) => one.standing)) return [];
    // Two lie evenly around their own median, however far apart they are.
    const [first, second] = kept.map((one) => one.usd).sort(byValue);
    if (kept.length === 2 && !isWithin(second as bigint, first as bigint, rules.outlierBps)) return [];
    return [
      {
        symbol,
        usd: amount<'usd'>(median(kept)),
        sources: kept.map((one) => one.source).sort(),
        at: kept.map((one) => one.at).reduce(earlier),
      },
    ];
  });
}

function median(opinions: readonly Opinion[]): bigint {
  const sorted = opinions.map((one) => one.usd).sort(byValue);
  const upper = sorted[sorted.length >> 1] as bigint;
  return sorted.length % 2 === 1 ? upper : mulDiv((sorted[(sorted.length >> 1) - 1] as bigint) + upper, 1n, 2n, 'half-up');
}

function isWithin(value: bigint, reference: bigint, bps: number): boolean {
  const distance = value > reference ? value - reference : reference - value;
  return distance * 10_000n <= reference * BigInt(bps);
}

function byValue(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}
