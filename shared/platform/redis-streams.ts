import { createHmac, timingSafeEqual } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Invariant } from '#shared/core/errors.ts';
import type { Logger } from './logger.ts';
import { backoffMs, redisConnection, subscribe } from './redis-connection.ts';

/** Entries a stream keeps, many times what an indexer may run ahead of its consumer; the cursor is in Postgres anyway. */
const KEPT = 4_096;
const READ_COUNT = 64;
/** How long a read waits for an entry unless its caller says otherwise. */
const WAIT_MS = 1_000;

/** One entry of a stream. A forged one (its MAC is missing or wrong) carries no payload: report it, acknowledge it, never read it. */
export type StreamEntry = { id: string; forged: false; payload: string } | { id: string; forged: true };

/** Reads one stream as one member of a consumer group. */
export interface StreamReader {
  /**
   * The next entries in stream order: first whatever was delivered before and never acknowledged, then new ones; empty
   * after about a second without any, or after `waitMs`. Never rejects: while Redis is away it waits and answers with nothing, and a group
   * that a wiped Redis forgot is made again from the start of the stream.
   */
  read(): Promise<StreamEntry[]>;
  /** Marks entries as done. Never rejects: an entry that stays pending is delivered again, and applying it twice changes nothing. */
  ack(ids: readonly string[]): Promise<void>;
  /** Makes the next read deliver unacknowledged entries again; for after a failure to apply one. */
  redeliver(): void;
  close(): Promise<void>;
}

/** Everything this deployment says through Redis. All of it may be lost at any moment: Postgres is the only truth. */
export interface Streams {
  /**
   * Appends one MACed message and trims the stream; answers its entry id. `keep` is about how many entries stay, for a stream
   * whose every message says all of it anew.
   * @throws Error when Redis did not confirm it, in which case it may be there or not
   */
  append(stream: string, payload: string, keep?: number): Promise<string>;
  /** Whether an entry is still in its stream. @throws Error when Redis cannot be reached */
  holds(stream: string, id: string): Promise<boolean>;
  reader(stream: string, group: string, consumer: string, waitMs?: number): StreamReader;
  /**
   * Wakes whoever listens on `channel`, with a word of what it is about; never rejects, and nothing depends on it arriving. One
   * that cannot be sent is made up for by one without a word as soon as one can.
   */
  nudge(channel: string, word?: string): void;
  /**
   * Calls `listener` at each nudge of `channel`, across reconnections, until the returned function is called; `resumed` each
   * time from which on they arrive, before which any number may have been lost.
   */
  onNudge(channel: string, listener: (word: string) => void, resumed?: () => void): () => void;
  /** True while no nudge can arrive. */
  deaf(): boolean;
  /** Null while Redis answers, otherwise why it does not; for `/readyz`. */
  problem(): string | null;
  close(): Promise<void>;
}

/** The channel on which an indexer hears that an address waits to be watched. */
export function indexerChannel(network: string): string {
  return `sluice:nudge:indexer:${network}`;
}

/** The channel on which workers hear that an outbox row may be due. */
export const WORKER_CHANNEL = 'sluice:nudge:worker';

/** The channel on which whoever shows payments to their payers hears that something about some of them changed. */
export const PAYMENTS_CHANNEL = 'sluice:nudge:payments';

/** HMAC-SHA256 over the stream's name and the payload, so that a message copied to another network's stream is refused there. */
export function macOf(key: string, stream: string, payload: string): string {
  return createHmac('sha256', key).update(stream).update('\n').update(payload).digest('hex');
}

/**
 * Opens the connections; returns at once and keeps reconnecting for ever, so that a missing Redis never stops a process. What
 * carries a MAC of `previousKey` is believed too, while the key is being changed. Without a key only nudges come and go.
 */
export function openStreams(options: { url: string; key: string | undefined; previousKey?: string | undefined; name: string; log: Logger }): Streams {
  const { previousKey, log } = options;
  const ownKey = (): string => {
    if (options.key === undefined) throw new Invariant('this process has no key to read or write streams with');
    return options.key;
  };
  const connections = new Set<ReturnType<typeof redisConnection>>();
  const connect = (role: string): ReturnType<typeof redisConnection> => {
    const opened = redisConnection(options.url, `${options.name}-${role}`, log);
    connections.add(opened);
    return opened;
  };
  const commands = connect('commands');
  const lost = new Set<string>();
  const nudge = (channel: string, word = ''): void => {
    commands.client.publish(channel, word).catch(() => lost.add(channel));
  };
  commands.client.on('ready', () => {
    for (const channel of lost) {
      lost.delete(channel);
      nudge(channel);
    }
  });
  const listeners = new Map<string, Set<{ listener: (word: string) => void; resumed: () => void }>>();
  const subscribed = new Set<string>();
  let subscriber: ReturnType<typeof redisConnection> | undefined;
  const resume = (channel: string): void => {
    for (const { resumed } of listeners.get(channel) ?? []) resumed();
  };
  const openSubscriber = (): ReturnType<typeof redisConnection> => {
    const opened = connect('nudges');
    // The client renews its subscriptions before it says that it is ready again.
    opened.client.on('ready', () => subscribed.forEach(resume));
    return opened;
  };

  return {
    async append(stream, payload, keep = KEPT) {
      const trim = { strategy: 'MAXLEN', strategyModifier: '~', threshold: keep } as const;
      return String(await commands.client.xAdd(stream, '*', { payload, mac: macOf(ownKey(), stream, payload) }, { TRIM: trim }));
    },

    holds: async (stream, id) => ((await commands.client.xRange(stream, id, id)) ?? []).length === 1,

    reader: (stream, group, consumer, waitMs = WAIT_MS) => {
      const own = connect(`reader-${stream}`);
      const keys = previousKey === undefined ? [ownKey()] : [ownKey(), previousKey];
      return streamReader(own, { keys, stream, group, consumer, waitMs, log, closed: () => connections.delete(own) });
    },

    nudge,

    onNudge(channel, listener, resumed = () => undefined) {
      subscriber ??= openSubscriber();
      const one = { listener, resumed };
      let known = listeners.get(channel);
      if (known === undefined) {
        known = new Set();
        listeners.set(channel, known);
        const subscribing = subscribe(subscriber, channel, (word) => {
          for (const each of listeners.get(channel) ?? []) each.listener(word);
        });
        void subscribing.then(() => {
          subscribed.add(channel);
          resume(channel);
        });
      }
      known.add(one);
      return () => void known.delete(one);
    },

    deaf: () => subscriber?.client.isReady !== true || subscribed.size < listeners.size,

    problem: () => (commands.client.isReady ? null : 'not connected'),

    async close() {
      await Promise.all([...connections].map((one) => one.close()));
    },
  };
}

function streamReader(
  own: ReturnType<typeof redisConnection>,
  at: { keys: readonly string[]; stream: string; group: string; consumer: string; waitMs: number; log: Logger; closed: () => void },
): StreamReader {
  const { stream, group, consumer, waitMs, log } = at;
  let recovering = true;
  let failures = 0;
  let away = 0;

  const verify = (entry: { id: string; message: Record<string, string> }): StreamEntry => {
    const { payload, mac } = entry.message;
    if (payload === undefined || mac === undefined || !at.keys.some((key) => sameMac(mac, macOf(key, stream, payload)))) return { id: entry.id, forged: true };
    return { id: entry.id, forged: false, payload };
  };

  const readOnce = async (): Promise<StreamEntry[]> => {
    if (recovering) {
      const claimed = await own.client.xAutoClaim(stream, group, consumer, 0, '0-0', { COUNT: READ_COUNT });
      const entries = claimed.messages.filter((entry) => entry !== null);
      if (entries.length > 0) return entries.map(verify);
      recovering = false;
    }
    const answer = await own.client.xReadGroup(group, consumer, { key: stream, id: '>' }, { COUNT: READ_COUNT, BLOCK: waitMs });
    const entries = (answer as { messages: { id: string; message: Record<string, string> }[] }[] | null)?.[0]?.messages ?? [];
    return entries.map(verify);
  };

  return {
    async read() {
      if (own.closing()) return [];
      // Not yet connected, or not any more: the connection says so itself.
      if (!own.client.isReady) {
        recovering = true;
        away += 1;
        await pause(backoffMs(away));
        return [];
      }
      away = 0;
      try {
        const entries = await readOnce();
        failures = 0;
        return entries;
      } catch (error) {
        if (own.closing()) return [];
        recovering = true;
        if (error instanceof Error && error.message.startsWith('NOGROUP')) {
          await own.client
            .xGroupCreate(stream, group, '0', { MKSTREAM: true })
            .catch((failure: unknown) => log.warn({ err: failure, stream }, 'cannot make the consumer group'));
          return [];
        }
        failures += 1;
        if (failures === 1 && own.client.isReady) log.warn({ err: error, stream }, 'cannot read the stream; retrying');
        await pause(backoffMs(failures));
        return [];
      }
    },
    async ack(ids) {
      if (ids.length === 0) return;
      await own.client.xAck(stream, group, [...ids]).catch((error: unknown) => log.debug({ err: error, stream }, 'entries stay pending'));
    },
    redeliver() {
      recovering = true;
    },
    close() {
      at.closed();
      return own.close();
    },
  };
}

function sameMac(given: string, expected: string): boolean {
  const a = Buffer.from(given);
  const b = Buffer.from(expected);
  return a.length === b.length && timingSafeEqual(a, b);
}
