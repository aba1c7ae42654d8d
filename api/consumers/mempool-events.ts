import { setTimeout as pause } from 'node:timers/promises';
import type { Chain, Deps } from '#api/deps.ts';
import { parkMessage } from '#api/store/chain-blocks.ts';
import { decodingMempoolMessage, mempoolStream } from '#shared/core/mempool-message.ts';
import { inTurns } from '#shared/core/turns.ts';
import { breathe } from '#shared/platform/breathe.ts';
import type { StreamEntry, StreamReader, Streams } from '#shared/platform/redis-streams.ts';
import type { ChainConsumer } from './chain-events.ts';
import { applyMempool } from './apply-mempool.ts';
import type { ConsumedNetwork } from './apply-message.ts';
import { eachEntry } from './each-entry.ts';

const RETRY_MS = 1_000;

/**
 * Applies what the indexers say of unmined transactions, of every network whose nodes tell of them, for as long as it runs. It
 * needs no lease: every message tells everything anew, and an older one than the last changes nothing.
 */
export function startMempoolConsumer(deps: Deps, streams: Streams): ChainConsumer {
  const stopping = new AbortController();
  const running = [...deps.chains.values()].filter((chain) => chain.reader.mempool !== undefined).map((chain) => follow(deps, streams, chain, stopping.signal));
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

function follow(deps: Deps, streams: Streams, { id, config: { name } }: Chain, signal: AbortSignal): Promise<void> {
  return eachEntry(streams, mempoolStream(name), (entry, reader) => consume(deps, reader, { id, name }, entry, signal), signal);
}

/** A hint that cannot be applied is let go: the next one says the same again. */
async function consume(deps: Deps, reader: StreamReader, network: ConsumedNetwork, entry: StreamEntry, signal: AbortSignal): Promise<void> {
  const result = await applyEntry(deps, network, entry).catch(async (error: unknown) => {
    deps.log.error({ err: error, network: network.name, streamId: entry.id }, 'cannot apply what waits to be mined; the next word on it will be tried');
    await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
    return 'failed';
  });
  deps.metrics?.mempoolApplied.inc({ chain: network.name, result });
  await reader.ack([entry.id]);
}

async function applyEntry(deps: Deps, network: ConsumedNetwork, entry: StreamEntry): Promise<string> {
  const decoded = entry.forged
    ? ({ ok: false, problem: 'its MAC is missing or wrong' } as const)
    : await inTurns(decodingMempoolMessage(entry.payload), breathe);
  const problem = !decoded.ok ? decoded.problem : decoded.message.network === network.name ? undefined : `it belongs to ${decoded.message.network}`;
  if (!decoded.ok || problem !== undefined) {
    const reason = `mempool: ${problem}`;
    deps.log.error({ network: network.name, streamId: entry.id, reason }, 'refused a stream message');
    await parkMessage(deps.db.sql, { networkId: network.id, streamId: `mempool:${entry.id}`, reason, payload: entry.forged ? '' : entry.payload });
    return 'parked';
  }
  const applied = await applyMempool(deps, network, decoded.message);
  if (applied.outcome === 'applied') {
    const { paymentIds, ended } = applied;
    // Those that show a transaction which waits no more are among those that wait for the network.
    if (paymentIds.length > 0 || ended.length > 0) deps.announce(paymentIds, ended.length > 0 ? network.name : undefined);
    for (const { txid, replacedBy } of ended) deps.log.info({ network: network.name, txid, replacedBy }, 'a transaction to a deposit address waits no more');
  }
  return applied.outcome;
}
