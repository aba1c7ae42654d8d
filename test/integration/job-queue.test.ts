import { randomUUID } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type JobQueue, openQueue, type QueuedRow } from '#api/jobs/queue.ts';
import { runDueJobs } from '#api/jobs/relay.ts';
import { runJob } from '#api/jobs/run-job.ts';
import { queuePrefix } from '#api/jobs/start.ts';
import type { Job } from '#api/jobs/work.ts';
import { leaseOutbox, type Topic } from '#api/store/outbox.ts';
import { sharedLeases } from '#api/store/shared-leases.ts';
import type { Reads } from '#shared/platform/postgres.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { aGate, enqueue, ownJobStage, recorder, start, states, theWorld } from '#test/fixtures/job-stage.ts';

ownJobStage();

describe('rows that wait in Redis', () => {
  const TOPIC = 'webhook.deliver';
  const processes: { queue: JobQueue; gate: ReturnType<typeof aGate> }[] = [];
  let prefix: string;
  beforeEach(() => {
    prefix = `sluice-queue-${randomUUID()}`;
  });
  afterEach(async () => {
    await Promise.all(
      processes.splice(0).map(({ queue, gate }) => {
        gate.resolve();
        return queue.close();
      }),
    );
  });

  /** A process with so many places that notes what it began, and ends that when it is told, or at once what does not hang. */
  function aProcess(concurrency: number, hangs: (id: string) => boolean = () => true) {
    const began: string[] = [];
    const gate = aGate();
    const queue = openQueue({
      redisUrl: theWorld().deps.config.REDIS_URL,
      prefix,
      topics: [{ topic: TOPIC, concurrency }],
      run: async (_, id) => {
        began.push(id);
        if (hangs(id)) await gate.promise;
      },
      log: theWorld().deps.log,
    });
    processes.push({ queue, gate });
    const push = (rows: readonly QueuedRow[]): Promise<void> =>
      waitFor(
        () =>
          queue.push(TOPIC, rows).then(
            () => true,
            () => false,
          ),
        { what: 'Redis to take rows' },
      ).then(() => undefined);
    return { began, gate, push };
  }
  const rows = (count: number): QueuedRow[] => Array.from({ length: count }, () => ({ id: randomUUID(), claims: 0 }));
  const waitsInRedis = async (): Promise<number> => Number(await theWorld().redis.command('LLEN', `${prefix}:${TOPIC}:wait`));

  it('are handed over several at a time, by as many jobs as a quarter of the places makes of them', async () => {
    const { began, push, gate } = aProcess(8);
    await push(rows(8));
    await waitFor(() => began.length === 8, { what: 'every place to be taken' });
    await push(rows(5));
    expect(await waitsInRedis()).toBe(3);
    gate.resolve();
    await waitFor(() => began.length === 13, { what: 'all to run' });
    expect(new Set(began).size).toBe(13);
  });

  it('and find no place where their job is begun are the next of any process', async () => {
    const busy = aProcess(8);
    await busy.push(rows(7));
    await waitFor(() => busy.began.length === 7, { what: 'all places but one to be taken' });
    const [first, second] = rows(2) as [QueuedRow, QueuedRow];
    await busy.push([first, second]);
    await waitFor(() => busy.began.includes(first.id), { what: 'the last place to be taken' });
    await waitFor(async () => (await waitsInRedis()) === 1, { what: 'the other one to wait again' });
    const free = aProcess(8);
    await waitFor(() => free.began.includes(second.id), { what: 'another process to begin it' });
    expect(busy.began).not.toContain(second.id);
  });

  it('go on by one place while runs that do not end have all the others', async () => {
    const hanging = new Set(rows(7).map(({ id }) => id));
    const others = rows(20);
    const { began, gate, push } = aProcess(8, (id) => hanging.has(id));
    await push([...hanging].map((id) => ({ id, claims: 0 })));
    await waitFor(() => began.length === 7, { what: 'all places but one to be taken' });
    await push(others);
    await waitFor(() => began.length === 27, { what: 'all others to run' });
    gate.resolve();
  });

  it('twice, with the same rows before and behind them, run once', async () => {
    const { began, gate, push } = aProcess(4);
    const busy = rows(4);
    await push(busy);
    await waitFor(() => began.length === 4, { what: 'every place to be taken' });
    const waiting = rows(3);
    await push(waiting);
    await push(waiting);
    expect(await waitsInRedis()).toBe(3);
    gate.resolve();
    await waitFor(() => began.length === 7, { what: 'all to run' });
  });
});

describe('a worker of the release before, to which a job is a single row', () => {
  const gate = aGate();
  const former: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    gate.resolve();
    await Promise.all(former.splice(0).map((one) => one.close()));
  });

  it('takes no job of this one, and has its own left to it', async () => {
    const job = recorder(() => gate.promise.then(() => ({ done: true })), 1);
    const jobs = await start({ jobs: [job] });
    const { database, deps, redis } = theWorld();
    const [{ name }] = await database.sql<[{ name: string }]>`select current_database() as name`;
    await waitFor(
      async () => {
        await enqueue();
        jobs.wake();
        return Number(await redis.command('LLEN', `${queuePrefix(name)}:${job.topic}:wait`)) > 0;
      },
      { what: 'a row to wait in Redis', everyMs: 100 },
    );
    const options = { connection: { url: deps.config.REDIS_URL }, prefix: `sluice-${name}` };
    const taken: unknown[] = [];
    const queue = new Queue(job.topic, options);
    const worker = new Worker(job.topic, async ({ data }) => void taken.push(data), options);
    former.push(queue, worker);
    const own = { outboxId: randomUUID() };
    // Whatever else waited there came before it.
    await queue.add(job.topic, own);
    await waitFor(() => taken.length > 0, { what: 'it to take a job' });
    expect(taken).toEqual([own]);
    gate.resolve();
    await waitFor(async () => (await states()).every((state) => state === 'done'), { what: 'every row to be done' });
  });
});

describe('what a run begins with', () => {
  let gate: ReturnType<typeof aGate>;
  beforeEach(() => {
    gate = aGate();
  });
  afterEach(() => gate.resolve());
  const claimsOf = async (sql: Reads, outboxIds: readonly string[]): Promise<Map<string, number>> =>
    new Map(
      (await sql<{ id: string; claims: number }[]>`select id, claims from outbox where id = any(${[...outboxIds]}::uuid[])`).map(({ id, claims }) => [
        id,
        claims,
      ]),
    );
  const due = (): Promise<{ id: string; topic: Topic }[]> => theWorld().database.sql`select id, topic from outbox order by id`;

  it('is read behind the claims of all rows of the moment, each by its own job', async () => {
    await enqueue(5);
    const asked: number[] = [];
    const read = async (sql: Reads, ids: readonly string[]): Promise<Map<string, number>> => {
      asked.push(ids.length);
      return claimsOf(sql, ids);
    };
    const all = await due();
    const leases = sharedLeases(theWorld().deps.db, 6);
    const taken = await Promise.all(all.map((row, at) => leases.take(at === 0 ? row : { ...row, read })));
    const reads = await Promise.all(taken.map((one) => one?.reading));
    expect(taken.map((one, at) => [one?.lease.claims, reads[at]])).toEqual([[1, undefined], ...Array.from({ length: 4 }, () => [1, 1])]);
    expect(asked).toEqual([4]);
  });

  it('is read by the run itself where the shared read fails', async () => {
    await enqueue(2);
    const seen: unknown[] = [];
    const job: Job<number> = {
      ...recorder(),
      read: async () => {
        throw new Error('no such table');
      },
      run: async (_, __, { read }) => {
        seen.push(read);
        return { done: true };
      },
    };
    expect(await runDueJobs(theWorld().deps, [job])).toBe(2);
    expect(seen).toEqual([undefined, undefined]);
    expect(await states()).toEqual(['done', 'done']);
  });

  it('keeps no other row of the moment waiting, and its own are renewed until it is there', async () => {
    const { deps, database } = theWorld();
    await enqueue(2);
    const [slow, other] = await due();
    const begun: unknown[] = [];
    const run: Job['run'] = async (_, __, { lease }) => {
      begun.push(lease.id);
      return { done: true };
    };
    const read = async (): Promise<Map<string, number>> => {
      await gate.promise;
      return new Map();
    };
    const [first, second] = [slow, other].map((row, at) => runJob(deps, { ...recorder(), run, ...(at === 0 && { read }) }, row?.id as string));
    expect(await second).toBe('done');
    const until = async () =>
      (await database.sql<{ at: Date }[]>`select claimed_until as at from outbox where id = ${slow?.id as string}`)[0]?.at.getTime() ?? 0;
    const claimed = await until();
    await waitFor(async () => (await until()) > claimed, { what: 'the lease to be renewed' });
    expect(begun).toEqual([other?.id]);
    gate.resolve();
    expect(await first).toBe('done');
    expect(begun).toEqual([other?.id, slow?.id]);
  });

  it('is not read of a row that somebody else has', async () => {
    await enqueue();
    const [row] = await due();
    if (row === undefined) throw new Error('no row');
    await leaseOutbox(theWorld().deps.db.sql, [row], { seconds: 60, wait: true });
    let ran = false;
    const job: Job<number> = {
      ...recorder(),
      read: claimsOf,
      run: async () => {
        ran = true;
        return { done: true };
      },
    };
    expect(await runJob(theWorld().deps, job, row.id)).toBe('not-run');
    expect(ran).toBe(false);
  });
});
