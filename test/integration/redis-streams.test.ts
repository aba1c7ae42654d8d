import { pino } from 'pino';
import { createClient } from 'redis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '#ops/dev/services/wait.ts';
import { openStreams, type StreamEntry, type StreamReader, type Streams } from '#shared/platform/redis-streams.ts';
import { type OwnRedis, ownRedis } from '#test/harness/redis.ts';

const KEY = 'a-key-of-the-tests-a-key-of-the-tests';
const log = pino({ level: 'silent' });

let redis: OwnRedis;
let streams: Streams;
let reader: StreamReader;

beforeEach(async () => {
  redis = await ownRedis();
  streams = openStreams({ url: redis.url, key: KEY, name: 'test', log });
  reader = streams.reader('s', 'g', 'c');
  await waitFor(() => streams.problem() === null, { what: 'the connection' });
});
afterEach(async () => {
  await streams.close();
  await redis.stop();
});

/** Reads until something comes. */
const next = (): Promise<StreamEntry[]> =>
  waitFor(
    async () => {
      const entries = await reader.read();
      return entries.length > 0 ? entries : undefined;
    },
    { what: 'an entry' },
  );
const payloads = (entries: StreamEntry[]): string[] => entries.map((entry) => (entry.forged ? 'forged' : entry.payload));

describe('a stream', () => {
  it('delivers what was appended before anybody read, in order', async () => {
    for (const payload of ['1', '2', '3']) await streams.append('s', payload);
    expect(payloads(await next())).toEqual(['1', '2', '3']);
  });

  it('delivers again what was read and never acknowledged, before anything new', async () => {
    await streams.append('s', '1');
    await streams.append('s', '2');
    const first = await next();
    await reader.ack([(first[0] as StreamEntry).id]);
    await streams.append('s', '3');
    reader.redeliver();
    const again = await next();
    expect(payloads(again)).toEqual(['2']);
    await reader.ack(again.map((entry) => entry.id));
    expect(payloads(await next())).toEqual(['3']);
  });

  it('hands a successor of the same name what its predecessor left', async () => {
    await streams.append('s', '1');
    await next();
    await reader.close();
    reader = streams.reader('s', 'g', 'c');
    expect(payloads(await next())).toEqual(['1']);
  });

  it('shows a message whose MAC is wrong, missing, or of another stream as forged, without its content', async () => {
    await streams.append('s', 'true');
    await streams.append('other', 'copied');
    const client = await createClient({ url: redis.url }).connect();
    const [copied] = (await client.xRange('other', '-', '+')) ?? [];
    await client.xAdd('s', '*', copied?.message as Record<string, string>);
    await client.xAdd('s', '*', { payload: 'forged', mac: '00' });
    await client.xAdd('s', '*', { payload: 'bare' });
    client.destroy();
    const entries = await next();
    expect(entries.map(({ id: _, ...entry }) => entry)).toEqual([{ forged: false, payload: 'true' }, { forged: true }, { forged: true }, { forged: true }]);
  });

  it('goes on after its group and entries were wiped away', async () => {
    await streams.append('s', '1');
    await next();
    await redis.flush();
    await reader.read();
    await streams.append('s', '2');
    expect(payloads(await next())).toEqual(['2']);
  });

  it('knows whether Redis still has an entry', async () => {
    const id = await streams.append('s', '1');
    expect(await streams.holds('s', id)).toBe(true);
    await redis.flush();
    expect(await streams.holds('s', id)).toBe(false);
  });
});

describe('a Redis that dies', () => {
  it('refuses appends, answers reads with nothing, and serves both again when it is back', async () => {
    await redis.kill();
    await waitFor(() => streams.problem() !== null, { what: 'the loss to be noticed' });
    await expect(streams.append('s', 'lost')).rejects.toThrow();
    expect(await reader.read()).toEqual([]);
    streams.nudge('nobody');
    await redis.revive();
    await waitFor(() => streams.append('s', 'back'), { what: 'an append to work' });
    expect(payloads(await next())).toEqual(['back']);
  });

  it('still wakes listeners after it is back', async () => {
    let woken = 0;
    streams.onNudge('bell', () => {
      woken += 1;
    });
    const ring = () =>
      waitFor(
        () => {
          streams.nudge('bell');
          return woken > 0;
        },
        { what: 'the bell' },
      );
    await ring();
    await redis.kill();
    await redis.revive();
    woken = 0;
    await ring();
  });

  it('is known to be deaf meanwhile, and whoever may have missed something is told when it hears again', async () => {
    const words: string[] = [];
    let resumed = 0;
    expect(streams.deaf()).toBe(true);
    streams.onNudge(
      'bell',
      (word) => words.push(word),
      () => {
        resumed += 1;
      },
    );
    await waitFor(() => !streams.deaf() && resumed > 0, { what: 'it to hear' });
    streams.nudge('bell', 'a word');
    await waitFor(() => words.includes('a word'), { what: 'the word' });
    const before = resumed;
    await redis.kill();
    await waitFor(() => streams.deaf(), { what: 'the loss to be noticed' });
    expect(resumed).toBe(before);
    await redis.revive();
    await waitFor(() => resumed > before, { what: 'it to hear again' });
    expect(streams.deaf()).toBe(false);
    await waitFor(
      () => {
        streams.nudge('bell', 'another');
        return words.includes('another');
      },
      { what: 'another word' },
    );
  });

  it('has whoever listens told by an empty word that one was lost, where only its sender was away', async () => {
    const words: string[] = [];
    streams.onNudge('bell', (word) => words.push(word));
    await waitFor(() => !streams.deaf() && streams.problem() === null, { what: 'both ways to be open' });
    const cut = redis.disconnect('test-commands');
    // Looked for at every turn: the way may be open again within a millisecond or two.
    while (streams.problem() === null) await new Promise((resolve) => setImmediate(resolve));
    streams.nudge('bell', 'lost');
    await cut;
    await waitFor(() => words.includes(''), { what: 'the empty word' });
    expect(words).not.toContain('lost');
  });

  it('never holds up closing', async () => {
    await redis.kill();
    await streams.close();
    expect(await reader.read()).toEqual([]);
    streams = openStreams({ url: redis.url, key: KEY, name: 'test', log });
    await redis.revive();
  });
});
