import { POLICY } from '#shared/core/policy.ts';
import { ConfigError } from '#shared/platform/config.ts';
import { binance } from './binance.ts';
import { bitstamp } from './bitstamp.ts';
import { coinbase } from './coinbase.ts';
import { coingecko } from './coingecko.ts';
import { ecb } from './ecb.ts';
import { erApi } from './er-api.ts';
import { kraken } from './kraken.ts';
import type { PriceProvider, PriceSourceKind } from './provider.ts';

/** Every source there is; adding one is one file and one line here. */
export const PRICE_SOURCES: readonly PriceSourceKind[] = [coinbase, kraken, bitstamp, binance, coingecko, ecb, erApi];

/** A source this deployment asks. */
export type OpenSource = Omit<PriceSourceKind, 'open'> & { provider: PriceProvider };

/** What the configuration says about sources. */
export interface PriceSourceChoice {
  /** Names; none means all. */
  SLUICE_PRICE_PROVIDERS: readonly string[];
  /** Other base URLs by name. */
  SLUICE_PRICE_PROVIDER_URLS: Readonly<Record<string, string>>;
}

/**
 * Opens the sources a deployment has chosen.
 * @throws ConfigError when one does not exist, or so few are left that a broken one could not be told
 */
export function openPriceSources(choice: PriceSourceChoice): OpenSource[] {
  const names = PRICE_SOURCES.map((source) => source.name);
  const unknown = (setting: string, given: readonly string[]): string[] =>
    given.filter((name) => !names.includes(name)).map((name) => `${setting}: no source named ${name}; there are ${names.join(', ')}`);
  const chosen = PRICE_SOURCES.filter((source) => choice.SLUICE_PRICE_PROVIDERS.length === 0 || choice.SLUICE_PRICE_PROVIDERS.includes(source.name));
  const problems = [
    ...unknown('SLUICE_PRICE_PROVIDERS', choice.SLUICE_PRICE_PROVIDERS),
    ...unknown('SLUICE_PRICE_PROVIDER_URLS', Object.keys(choice.SLUICE_PRICE_PROVIDER_URLS)),
    ...(['crypto', 'fiat'] as const).flatMap((kind) => {
      const count = chosen.filter((source) => source.covers.includes(kind)).length;
      const needed = POLICY.priceSourcesMinimum[kind];
      return count >= needed ? [] : [`SLUICE_PRICE_PROVIDERS: at least ${needed} sources for ${kind} are needed, not ${count}`];
    }),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  return chosen.map(({ open, ...source }) => {
    const baseUrl = choice.SLUICE_PRICE_PROVIDER_URLS[source.name] ?? source.baseUrl;
    return { ...source, baseUrl, provider: open(baseUrl) };
  });
}
