import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Queue, Worker } from 'bullmq';
import { createClient } from 'redis';
import { waitFor } from '#ops/dev/services/wait.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { redisAclFile } from '#shared/platform/redis-acl.ts';
import { openSharedBuckets } from '#shared/platform/redis-buckets.ts';
import { indexerChannel, openStreams, PAYMENTS_CHANNEL, type Streams, WORKER_CHANNEL } from '#shared/platform/redis-streams.ts';
import { redisUrlFor } from '#test/harness/logins.ts';
import { type OwnRedis, ownRedis } from '#test/harness/redis.ts';

const log = createLogger({ component: 'test', level: 'silent' });
const KEY = 'stream key of the tests, longer than it needs to be';

let redis: OwnRedis;
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  redis = await ownRedis();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(() => redis.stop());

type Process = 'http' | 'worker' | 'signer' | 'indexer' | 'console';
const urlOf = (user: Process | 'api'): string => redisUrlFor(redis.url, user === 'api' ? ['http', 'worker'] : [user]);

function streamsOf(user: Process | 'api'): Streams {
  const streams = openStreams({ url: urlOf(user), key: KEY, name: `sluice-${user}`, log });
  closing.push(() => streams.close());
  return streams;
}

/** What Redis refused to users since the last call. */
async function refused(): Promise<string[]> {
  const entries = (await redis.command('ACL', 'LOG')) as unknown[][];
  await redis.command('ACL', 'LOG', 'RESET');
  return entries.map((entry) => String(entry[7]));
}

/** Sends one command as that user. */
async function as(user: Process | 'api', ...command: string[]): Promise<string> {
  const client = createClient({ url: urlOf(user), disableClientInfo: true }).on('error', () => undefined);
  await client.connect();
  try {
    await client.sendCommand(command);
    return 'allowed';
  } catch (error) {
    return (error as Error).message.split(' ')[0] as string;
  } finally {
    client.destroy();
  }
}

describe('the users of Redis', () => {
  it('may do all that their processes do: blocks from indexer to worker, nudges, rate limits, and jobs', async () => {
    await refused();
    const [indexer, worker, http, signer] = [streamsOf('indexer'), streamsOf('worker'), streamsOf('http'), streamsOf('signer')];
    const heard: string[] = [];
    worker.onNudge(WORKER_CHANNEL, () => heard.push('worker'));
    signer.onNudge(WORKER_CHANNEL, () => heard.push('signer'));
    http.onNudge(PAYMENTS_CHANNEL, (word) => heard.push(`payments ${word}`));
    indexer.onNudge(indexerChannel('ethereum'), () => heard.push('indexer'));
    for (const stream of ['sluice:blocks:ethereum', 'sluice:mempool:ethereum', 'sluice:rescans:ethereum']) {
      const id = await waitFor(() => indexer.append(stream, 'hello').catch(() => undefined), { what: 'the indexer to append' });
      expect(await indexer.holds(stream, id)).toBe(true);
      const reader = worker.reader(stream, 'group', 'one');
      closing.push(() => reader.close());
      const entries = await waitFor(async () => (await reader.read()).find((entry) => !entry.forged), { what: 'the worker to read' });
      expect(entries).toMatchObject({ payload: 'hello' });
      await reader.ack([id]);
      expect(await redis.command('XPENDING', stream, 'group')).toEqual([0, null, null, null]);
    }
    await waitFor(
      () => {
        http.nudge(indexerChannel('ethereum'));
        signer.nudge(WORKER_CHANNEL);
        worker.nudge(PAYMENTS_CHANNEL, 'x');
        return ['worker', 'signer', 'payments x', 'indexer'].every((one) => heard.includes(one));
      },
      { what: 'every nudge to arrive' },
    );
    const limits = { small: { drain: 1_000, capacity: 10_000 }, large: { drain: 1_000, capacity: 10_000 } };
    for (const [user, names] of [
      ['http', 'sluice'],
      ['api', 'sluice'],
      ['console', 'sluice:console'],
    ] as const) {
      const keys = { small: `${names}:limit:{a}:x`, large: `${names}:limit:{a}:x:proven`, mark: `${names}:proof:{a}:y` };
      const buckets = openSharedBuckets({ url: urlOf(user), name: 'limits', log });
      closing.push(() => buckets.close());
      expect(await waitFor(() => buckets.take(keys, limits, false), { what: 'a shared bucket' })).toMatchObject({ from: 'small' });
      buckets.prove(keys, limits, 'small');
      await waitFor(async () => (await redis.command('EXISTS', keys.mark)) === 1, { what: 'the proof' });
      await redis.command('DEL', keys.mark);
    }
    for (const user of ['worker', 'api'] as const) {
      const done: string[] = [];
      const connection = { url: urlOf(user), maxRetriesPerRequest: null };
      const queue = new Queue('greet', { connection, prefix: `sluice-of_${user}` });
      const workers = new Worker('greet', async (job) => void done.push(String(job.id)), {
        connection,
        prefix: `sluice-of_${user}`,
        removeOnComplete: { count: 0 },
      });
      closing.push(() => Promise.all([queue.close(), workers.close()]));
      await queue.addBulk([1, 2].map((id) => ({ name: 'greet', data: {}, opts: { jobId: `${user}-${id}` } })));
      await waitFor(() => done.length === 2, { what: 'both jobs' });
      // Later is another script, with its own commands.
      await queue.add('greet', {}, { jobId: `${user}-3`, delay: 100 });
      await waitFor(() => done.length === 3, { what: 'the delayed job' });
    }
    expect(await refused()).toEqual([]);
  });

  it.each<[Process, string[]]>([
    ['indexer', ['GET', 'sluice:limit:{a}:x']],
    ['indexer', ['XADD', 'sluice-db:greet:events', '*', 'a', 'b']],
    ['indexer', ['DEL', 'sluice:blocks:ethereum']],
    ['indexer', ['XGROUP', 'DESTROY', 'sluice:blocks:ethereum', 'group']],
    ['indexer', ['PUBLISH', WORKER_CHANNEL, '']],
    ['indexer', ['SUBSCRIBE', PAYMENTS_CHANNEL]],
    ['http', ['XADD', 'sluice:blocks:ethereum', '*', 'a', 'b']],
    ['http', ['XRANGE', 'sluice:blocks:ethereum', '-', '+']],
    ['http', ['HGETALL', 'sluice-db:greet:1']],
    ['http', ['EVAL', "return redis.call('XLEN', 'sluice:blocks:ethereum')", '0']],
    ['worker', ['XADD', 'sluice:blocks:ethereum', '*', 'a', 'b']],
    ['worker', ['EVAL', "return redis.call('XADD', KEYS[1], '*', 'a', 'b')", '1', 'sluice:blocks:ethereum']],
    ['worker', ['DEL', 'sluice:blocks:ethereum']],
    ['worker', ['SET', 'sluice:limit:{a}:x', '0:0']],
    ['signer', ['XRANGE', 'sluice:blocks:ethereum', '-', '+']],
    ['signer', ['GET', 'sluice:limit:{a}:x']],
    ['console', ['GET', 'sluice:limit:{a}:x']],
    ['console', ['SET', 'sluice:limit:{a}:x', '0:0']],
    ['console', ['DEL', 'sluice:proof:{a}:y']],
    ['console', ['EVAL', "return redis.call('GET', KEYS[1])", '1', 'sluice:limit:{a}:x']],
    ['console', ['PUBLISH', WORKER_CHANNEL, '']],
    ['signer', ['PUBLISH', indexerChannel('ethereum'), '']],
    ...(['indexer', 'http', 'worker', 'signer', 'console'] as const).flatMap((user): [Process, string[]][] => [
      [user, ['FLUSHALL']],
      [user, ['KEYS', '*']],
      [user, ['CONFIG', 'GET', '*']],
      [user, ['ACL', 'LIST']],
      [user, ['MONITOR']],
      [user, ['CLIENT', 'KILL', 'TYPE', 'normal']],
      [user, ['SHUTDOWN']],
    ]),
  ])('refuse to %s: %j', async (user, command) => {
    expect(await as(user, ...command)).toMatch(/^(NOPERM|ERR)$/);
    expect(await refused()).not.toEqual([]);
  });

  it('keep one network from another, where an indexer has a user for its own', async () => {
    for (const rule of redisAclFile({ 'indexer-ethereum': 'of-ethereum' }).trim().split('\n').slice(1))
      await redis.command('ACL', 'SETUSER', ...rule.split(' ').slice(1));
    const url = new URL(redis.url);
    url.username = 'sluice-indexer-ethereum';
    url.password = 'of-ethereum';
    const own = openStreams({ url: url.href, key: KEY, name: 'own', log });
    closing.push(() => own.close());
    await waitFor(() => own.append('sluice:blocks:ethereum', 'x').catch(() => undefined), { what: 'its own stream' });
    await expect(own.append('sluice:blocks:tron', 'x')).rejects.toThrow('NOPERM');
  });

  it('are in the file by hashes of their passwords, and whoever has none is let in by nobody', () => {
    const file = redisAclFile({ http: 'a password', signer: 'another' });
    expect(file).not.toContain('password');
    expect(file.split('\n').map((line) => line.split(' ').slice(0, 3).join(' '))).toEqual([
      'user default off',
      'user sluice-http on',
      'user sluice-signer on',
      '',
    ]);
    expect(() => redisAclFile({ cook: 'x' })).toThrow('cook');
  });
});
