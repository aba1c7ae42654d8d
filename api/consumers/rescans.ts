import { setTimeout as pause } from 'node:timers/promises';
import type { Chain, Deps } from '#api/deps.ts';
import { parkMessage } from '#api/store/chain-blocks.ts';
import { decodingBlockMessage } from '#shared/core/block-codec.ts';
import { rescanStream } from '#shared/core/chain-events.ts';
import { inTurns } from '#shared/core/turns.ts';
import { breathe } from '#shared/platform/breathe.ts';
import type { StreamEntry, StreamReader, Streams } from '#shared/platform/redis-streams.ts';
import type { ConsumedNetwork } from './apply-message.ts';
import { eachEntry } from './each-entry.ts';
import { applyRescan } from './apply-rescan.ts';
import type { ChainConsumer } from './chain-events.ts';

const RETRY_MS = 1_000;

/**
 * Applies what the indexers read again, of every network, for as long as it runs. It needs no lease: the row of the rescan says which
 * part is next, and any other one changes nothing.
 */
export function startRescanConsumer(deps: Deps, streams: Streams): ChainConsumer {
  const stopping = new AbortController();
  const running = [...deps.chains.values()].map((chain) => follow(deps, streams, chain, stopping.signal));
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

function follow(deps: Deps, streams: Streams, { id, config: { name } }: Chain, signal: AbortSignal): Promise<void> {
  return eachEntry(streams, rescanStream(name), (entry, reader) => consume(deps, reader, { id, name }, entry, signal), signal);
}

/** A part that cannot be applied is let go: the indexer sends it again until the books have it. */
async function consume(deps: Deps, reader: StreamReader, network: ConsumedNetwork, entry: StreamEntry, signal: AbortSignal): Promise<void> {
  try {
    await applyEntry(deps, network, entry);
  } catch (error) {
    deps.log.error({ err: error, network: network.name, streamId: entry.id }, 'cannot apply blocks that were read again; they will be sent again');
    await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
  await reader.ack([entry.id]);
}

async function applyEntry(deps: Deps, network: ConsumedNetwork, entry: StreamEntry): Promise<void> {
  const decoded = entry.forged ? ({ ok: false, problem: 'its MAC is missing or wrong' } as const) : await inTurns(decodingBlockMessage(entry.payload), breathe);
  const problem = !decoded.ok ? decoded.problem : decoded.message.network === network.name ? undefined : `it belongs to ${decoded.message.network}`;
  if (!decoded.ok || problem !== undefined) {
    const reason = `rescan: ${problem}`;
    deps.log.error({ network: network.name, streamId: entry.id, reason }, 'refused a stream message');
    await parkMessage(deps.db.sql, { networkId: network.id, streamId: `rescan:${entry.id}`, reason, payload: entry.forged ? '' : entry.payload });
    return;
  }
  const { from, to } = decoded.message;
  const applied = await applyRescan(deps, network, decoded.message);
  if (applied.outcome === 'refused')
    deps.log.error({ network: network.name, from, to, reason: applied.reason }, 'blocks that were read again contradict the ones that were applied');
  else if (applied.outcome === 'applied') deps.log.info({ network: network.name, from, to, found: applied.found }, 'blocks were read again');
}
