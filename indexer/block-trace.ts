import type { Sighting } from '#shared/core/chain-events.ts';
import { isTracing, sharedSpan } from '#shared/platform/tracing.ts';
import type { IndexerDeps, Life } from './life.ts';
import { readTraces } from './truth.ts';

/** Most payments of one message whose traces are told about it. */
const TRACES_PER_MESSAGE = 100;

/** Blocks that were read, and since when. */
interface Read {
  from: number;
  to: number;
  sightings: readonly Sighting[];
  /** By the clock of `monotonicMs`. */
  startedMs: number;
}

/**
 * Runs `send` inside the span of a reading, which is part of the trace of the first payment it sights, and is told to the
 * others': so a payment's trace leads from its creation through the block to its webhook. What is not known delays no block.
 */
export async function inTracesOf<T>(deps: IndexerDeps, life: Life, read: Read, send: () => Promise<T>): Promise<T> {
  if (!isTracing()) return send();
  const { from, to, sightings, startedMs } = read;
  const addresses = [...new Set(sightings.flatMap((sighting) => (sighting.kind === 'sent' ? [] : [sighting.recipient])))];
  const traces = addresses.length === 0 ? [] : await readTraces(deps.sql, life.networkId, { addresses, limit: TRACES_PER_MESSAGE }).catch(() => []);
  const attributes = { network: life.network.name, from, to };
  const startTime = Date.now() - Math.round(deps.monotonicMs() - startedMs);
  return sharedSpan(traces, { name: from === to ? 'indexer.block' : 'indexer.range', attributes, startTime }, send);
}
