import type { StreamEntry, StreamReader, Streams } from '#shared/platform/redis-streams.ts';

const GROUP = 'api';
const CONSUMER = 'consumer';
/**
 * How long one question for entries waits. Nothing is asked in between, so that a stream which is silent for hours costs little; well below what a connection may say nothing
 * for (redis-connection.ts).
 */
const WAIT_MS = 5_000;

/**
 * Has `consume` acknowledge each entry of a stream in turn, until `signal` aborts: then it finishes the one in hand, and waits for no other. For streams of which any number of
 * workers may read.
 */
export async function eachEntry(
  streams: Streams,
  stream: string,
  consume: (entry: StreamEntry, reader: StreamReader) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const reader = streams.reader(stream, GROUP, CONSUMER, WAIT_MS);
  const close = (): void => void reader.close();
  try {
    while (!signal.aborted) {
      signal.addEventListener('abort', close);
      const entries = await reader.read();
      signal.removeEventListener('abort', close);
      for (const entry of entries) if (!signal.aborted) await consume(entry, reader);
    }
  } finally {
    await reader.close();
  }
}
