import type { IndexerMetrics } from '#shared/platform/metrics.ts';

/** As nodes name the fields of a header; what is none is nothing that anybody could accept. */
const NAME = /^[A-Za-z][A-Za-z0-9]{0,63}$/;
/** More at once belong to no fork: a node may name whatever it likes, and each name is a series. */
const MOST = 8;
/** What is shown where no name is one. */
const OTHER = 'other';

/** Shows for which fields of headers a network waits, and for none that it waited for before, in this life or in an earlier one. */
export async function showUnknownFields(gauge: IndexerMetrics['unknownHeaderField'], chain: string, fields: readonly string[]): Promise<void> {
  const names = fields.filter((field) => NAME.test(field)).slice(0, MOST);
  const shown = names.length === 0 && fields.length > 0 ? [OTHER] : names;
  for (const { labels } of (await gauge.get()).values) {
    const { field } = labels;
    if (labels.chain === chain && field !== undefined && !shown.includes(String(field))) gauge.remove({ chain, field });
  }
  for (const field of shown) gauge.set({ chain, field }, 1);
}
