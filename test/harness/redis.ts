import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createClient, RESP_TYPES } from 'redis';
import { inject } from 'vitest';
import { startRedis } from '#ops/dev/services/redis.ts';
import { freePort } from '#ops/dev/services/wait.ts';
import { TEST_REDIS_ACL } from './logins.ts';

export interface FreshRedis {
  url: string;
  /** Empties it, as an operator with a heavy hand would. */
  flush(): Promise<void>;
  /** Deletes the keys that match a pattern. */
  remove(pattern: string): Promise<void>;
  /** Sends one command as it is. */
  command(...args: string[]): Promise<unknown>;
  /** Keeps what is in it now; the answer puts exactly that back, as a restart from an older file would. */
  snapshot(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

/** An empty logical database of its own on the run's Redis. Channels are not per database: only keys are apart. */
export async function freshRedis(): Promise<FreshRedis> {
  const { redisUrl } = inject('services');
  const url = new URL(redisUrl);
  const client = await runClient(redisUrl);
  // None is handed out twice in a run, so that it is empty.
  const index = await client.incr('sluice:test:databases');
  url.pathname = `/${index}`;
  const flush = async (): Promise<void> => {
    await client.multi().select(index).flushDb().select(0).exec();
  };
  return { url: url.href, flush, ...meddling(url.href), stop: flush };
}

let ofThisWorker: Promise<ReturnType<typeof newClient>> | undefined;

/** One for all files of a worker: making a client of this library costs 40 ms of CPU. It keeps no process alive. */
function runClient(url: string): Promise<ReturnType<typeof newClient>> {
  ofThisWorker ??= newClient(url)
    .connect()
    .then((client) => {
      client.unref();
      return client;
    });
  return ofThisWorker;
}

export interface OwnRedis extends FreshRedis {
  /** SIGKILL; clients see the connection drop. */
  kill(): Promise<void>;
  /** Starts a new, empty server on the same port. */
  revive(): Promise<void>;
  /** Ends the connections of this name. */
  disconnect(name: string): Promise<void>;
}

/** A Redis server of its own, for tests that kill it. */
export async function ownRedis(): Promise<OwnRedis> {
  const port = await freePort();
  const start = () =>
    startRedis({
      root: process.cwd(),
      directory: join(inject('services').directory, `redis-${randomUUID()}`),
      port,
      acl: TEST_REDIS_ACL,
      log: () => undefined,
    });
  let server = await start();
  return {
    url: server.url,
    flush: async () => {
      await command(server.url, (client) => client.flushAll());
    },
    ...meddling(server.url),
    kill: () => server.kill(),
    revive: async () => {
      server = await start();
    },
    disconnect: (name) =>
      command(server.url, async (client) => {
        const [id] = (await client.clientList()).filter((one) => one.name === name).map((one) => one.id);
        if (id === undefined) throw new Error(`no connection is called ${name}`);
        await client.sendCommand(['CLIENT', 'KILL', 'ID', String(id)]);
      }),
    stop: () => server.stop(),
  };
}

const newClient = (url: string) => createClient({ url }).on('error', () => undefined);

async function command<T>(url: string, use: (client: ReturnType<typeof newClient>) => Promise<T>): Promise<T> {
  const client = newClient(url);
  await client.connect();
  try {
    return await use(client);
  } finally {
    client.destroy();
  }
}

/** What a test may do to the keys of one database. */
function meddling(url: string): Pick<FreshRedis, 'remove' | 'command' | 'snapshot'> {
  return {
    remove: (pattern) => remove(url, pattern),
    command: (...args) => command(url, (client) => client.sendCommand(args)),
    snapshot: () => snapshot(url),
  };
}

function snapshot(url: string): Promise<() => Promise<void>> {
  return command(url, async (client) => {
    const dumps = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
    const kept = await Promise.all((await client.keys('*')).map(async (key) => ({ key, dump: (await dumps.dump(key)) as Buffer | null })));
    return () =>
      command(url, async (again) => {
        await again.flushDb();
        for (const { key, dump } of kept) if (dump !== null) await again.sendCommand(['RESTORE', key, '0', dump]);
      });
  });
}

function remove(url: string, pattern: string): Promise<void> {
  return command(url, async (client) => {
    const keys = await client.keys(pattern);
    if (keys.length > 0) await client.del(keys);
  });
}
