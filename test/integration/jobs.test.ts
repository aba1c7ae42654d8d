import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { networkJob } from '#api/jobs/network-job.ts';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import type { Job, JobResult, Periodic, Work } from '#api/jobs/work.ts';
import { runDueJobs, startRelay } from '#api/jobs/relay.ts';
import { pauseAfter } from '#api/jobs/run-job.ts';
import { type Jobs, startJobs } from '#api/jobs/start.ts';
import { handOver, handOverDue, insertOutbox, TOPICS, workOf } from '#api/store/outbox.ts';
import { uuidFrom } from '#shared/core/ids.ts';
import { POLICY } from '#shared/core/policy.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import type { Database } from '#shared/platform/postgres.ts';
import { openStreams, WORKER_CHANNEL } from '#shared/platform/redis-streams.ts';
import { type InProcess, inProcess } from '#test/harness/in-process.ts';
import { type OwnRedis, ownRedis } from '#test/harness/redis.ts';
import { waitFor } from '#ops/dev/services/wait.ts';

let world: InProcess;
const started: Jobs[] = [];

beforeEach(async () => {
  world = await inProcess();
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((jobs) => jobs.stop()));
  await world.stop();
});

/** A job that notes what it was run for. */
function recorder(run: (refId: string) => Promise<JobResult> = async () => ({ done: true }), concurrency = 4): Job & { runs: string[] } {
  const runs: string[] = [];
  return {
    runs,
    topic: 'webhook.deliver',
    concurrency,
    run: async (_, refId) => {
      runs.push(refId);
      return run(refId);
    },
  };
}

async function start(work: Partial<Work>, deps = world.deps, deaf?: () => boolean): Promise<Jobs> {
  const jobs = await startJobs(deps, { jobs: [], periodic: {}, ...work }, deaf);
  started.push(jobs);
  return jobs;
}

/** A promise the test resolves when it wants the work behind it to go on. */
function aGate(): { promise: Promise<void>; resolve(): void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const newId = (): string => uuidFrom(world.deps.randomBytes(16));
async function enqueue(count = 1): Promise<string[]> {
  const refs = Array.from({ length: count }, newId);
  await world.deps.db.transaction(async (tx) => {
    for (const refId of refs) await insertOutbox(tx, { id: newId(), topic: 'webhook.deliver', refId });
  });
  return refs;
}
const states = async (): Promise<string[]> => (await world.database.sql<{ state: string }[]>`select state from outbox`).map((row) => row.state);

describe('jobs that ask the nodes of a network', () => {
  it('go on for a network while forty runs for another one, whose nodes do not answer, hang', async () => {
    const [hung, other] = [aGate(), newId()];
    const { runs, ...job } = recorder(async (refId) => {
      if (refId !== other) await hung.promise;
      return { done: true };
    });
    const work = networkJob({ ...job, networkOf: async (_, refId) => (refId === other ? 'bitcoin' : 'ethereum') });
    await enqueue(40);
    const jobs = await start({ jobs: [work] });
    try {
      await waitFor(() => runs.length >= 4, { what: 'runs to hang' });
      await world.deps.db.transaction((tx) => insertOutbox(tx, { id: newId(), topic: job.topic, refId: other }));
      jobs.wake();
      await waitFor(() => runs.includes(other), { what: 'the run for the other network' });
      expect(runs.filter((refId) => refId !== other)).toHaveLength(POLICY.networkLanes.perTarget);
    } finally {
      hung.resolve();
    }
    await waitFor(async () => (await states()).every((state) => state === 'done'), { what: 'every row to be done once the nodes answer' });
  });
});

describe('outbox rows', () => {
  it('wait in Redis for a place in any worker, also where it was not reached yet when the first of them was to be handed over', async () => {
    const gate = aGate();
    const job = recorder(() => gate.promise.then(() => ({ done: true })), 1);
    const jobs = await start({ jobs: [job] });
    const [{ name }] = await world.database.sql<[{ name: string }]>`select current_database() as name`;
    await waitFor(
      async () => {
        await enqueue();
        jobs.wake();
        return Number(await world.redis.command('LLEN', `sluice-${name}:${job.topic}:wait`)) > 0;
      },
      { what: 'a row to wait in Redis', everyMs: 100 },
    );
    gate.resolve();
    await waitFor(async () => (await states()).every((state) => state === 'done'), { what: 'every row to be done' });
    expect(job.runs).toHaveLength((await states()).length);
  });

  it('are run once each through Redis, and closed', async () => {
    const job = recorder();
    const jobs = await start({ jobs: [job] });
    const refs = await enqueue(250);
    jobs.wake();
    await waitFor(async () => (await states()).every((state) => state === 'done'), { what: 'every row to be done' });
    expect([...job.runs].sort()).toEqual([...refs].sort());
  });

  it('are run without Redis, from the start and when it dies on the way, and through it again when it is back', async () => {
    const redis: OwnRedis = await ownRedis();
    try {
      const job = recorder();
      const jobs = await start({ jobs: [job] }, { ...world.deps, config: { ...world.deps.config, REDIS_URL: redis.url } });
      const drained = (count: number) => waitFor(() => job.runs.length === count, { what: `${count} runs` });
      await enqueue(20);
      jobs.wake();
      await drained(20);
      await redis.kill();
      await enqueue(20);
      await drained(40);
      await redis.revive();
      await enqueue(20);
      await drained(60);
      expect(new Set(job.runs).size).toBe(60);
      await Promise.all(started.splice(0).map((one) => one.stop()));
    } finally {
      await redis.stop();
    }
  });

  it('survive a Redis that is wiped while their jobs wait in it', async () => {
    const gate = aGate();
    const job = recorder(async () => {
      await gate.promise;
      return { done: true };
    }, 2);
    const jobs = await start({ jobs: [job] });
    const refs = await enqueue(30);
    jobs.wake();
    await waitFor(() => job.runs.length === 2, { what: 'both workers to be busy' });
    await world.redis.flush();
    gate.resolve();
    await waitFor(async () => (await states()).every((state) => state === 'done'), { what: 'every row to be done' });
    expect([...job.runs].sort()).toEqual([...refs].sort());
  });

  it('are handed over again the more seldom the more there are before them, and one that was begun as soon as its worker died', async () => {
    const { sql } = world.database;
    await sql`create table noted (id uuid, seconds float8)`;
    await sql`
      create function note() returns trigger language plpgsql security definer as $$ begin
        insert into noted values (new.id, extract(epoch from new.handed_until - now())); return null; end $$`;
    await sql`create trigger note after update of handed_until on outbox for each row when (new.handed_until is not null) execute function note()`;
    const gate = aGate();
    const job = recorder(() => gate.promise.then(() => ({ done: true })), 1);
    const jobs = await start({ jobs: [job] });
    await enqueue(450);
    jobs.wake();
    const longest = () => sql<{ seconds: number }[]>`select max(seconds) as seconds from noted group by id order by 1`;
    await waitFor(async () => (await longest()).length === 450, { what: 'all to be handed over' });
    for (const [place, { seconds }] of (await longest()).entries()) expect(seconds).toBeGreaterThanOrEqual(5 * (Math.floor(place / 100) + 1));

    const begun = await waitFor(async () => (await sql`select handed_until as until from outbox where claims > 0`)[0], { what: 'one to be begun' });
    expect(begun).toEqual({ until: null });
    gate.resolve();
  });

  it('are never overtaken for good by a transaction that commits later (trap C)', async () => {
    const job = recorder();
    const slow = aGate();
    const early = newId();
    const inserted = aGate();
    const late = world.deps.db.transaction(async (tx) => {
      await insertOutbox(tx, { id: newId(), topic: 'webhook.deliver', refId: early });
      inserted.resolve();
      await slow.promise;
    });
    await inserted.promise;
    await enqueue(3);
    expect(await runDueJobs(world.deps, [job])).toBe(3);
    slow.resolve();
    await late;
    expect(await runDueJobs(world.deps, [job])).toBe(1);
    expect(job.runs).toContain(early);
  });

  it("are handed to one relay at a time, without waiting for each other's locks", async () => {
    await enqueue(100);
    const batches = await Promise.all(Array.from({ length: 10 }, () => handOverDue(world.deps.db.sql, 'webhook.deliver', 30, 60)));
    const ids = batches.flat();
    expect(new Set(ids).size).toBe(ids.length);
    const rest = await handOverDue(world.deps.db.sql, 'webhook.deliver', 100, 60);
    expect(ids.length + rest.length).toBe(100);
  });

  it('of no topic are asked for by nobody', async () => {
    await enqueue();
    expect(await handOver(world.deps.db.sql, [])).toEqual({ rows: [], nextInMs: null, atMs: null });
  });

  it('of one topic do not wait for those of another that Redis does not take', async () => {
    await enqueue();
    await world.deps.db.transaction((tx) => insertOutbox(tx, { id: newId(), topic: 'settlement.dispatch', refId: newId() }));
    const [pushed, silent] = [new Set<string>(), aGate()];
    const push = async (topic: string): Promise<void> => {
      pushed.add(topic);
      await silent.promise;
    };
    const jobs = (['webhook.deliver', 'settlement.dispatch'] as const).map((topic) => ({ ...recorder(), topic }));
    const relay = startRelay(world.deps, jobs, { push, close: async () => undefined }, () => false);
    try {
      await waitFor(() => pushed.size === 2, { what: 'both to be handed over' });
    } finally {
      silent.resolve();
      await relay.stop();
    }
  });

  it('are begun at once by whoever committed them, where their job wants that and there is room, and found by a look where not', async () => {
    const [gate, pushed] = [aGate(), new Set<string>()];
    const job = { ...recorder(() => gate.promise.then(() => ({ done: true }) as const)), begunAtOnce: 2 };
    const push = async (_: string, rows: readonly { id: string }[]): Promise<void> => {
      for (const { id } of rows) pushed.add(id);
    };
    const relay = startRelay(world.deps, [job, { ...recorder(), topic: 'deposit.screen' }], { push, close: async () => undefined }, () => false);
    const add = (...rows: { topic?: 'deposit.screen'; dueAt?: Date }[]) =>
      world.deps.db.transaction(async (tx) => {
        const added = rows.map((row) => ({ topic: 'webhook.deliver' as const, ...row, id: newId(), refId: newId() }));
        await insertOutbox(tx, ...added);
        return { added, due: workOf(tx) };
      });
    try {
      expect((await add({}, { dueAt: new Date() })).due, 'what may become due later').toEqual([]);
      expect(relay.begin([])).toBe(false);
      const screened = await add({ topic: 'deposit.screen' });
      expect(relay.begin(screened.due), 'a job that does not want it').toBe(false);
      const { added, due } = await add({}, {}, {});
      expect(due).toEqual(added.map(({ id, topic }) => ({ id, topic })));
      expect(relay.begin(due.slice(0, 2))).toBe(true);
      expect(relay.begin(due.slice(2)), 'without room').toBe(false);
      await waitFor(() => job.runs.length === 2, { what: 'both to run' });
      expect(new Set(job.runs)).toEqual(new Set(added.slice(0, 2).map(({ refId }) => refId)));
      relay.wake();
      await waitFor(() => pushed.has(due[2]?.id as string) && pushed.has(screened.due[0]?.id as string), { what: 'the others to be handed over' });
      expect(pushed).not.toContain(due[0]?.id);
    } finally {
      gate.resolve();
      await relay.stop();
    }
    expect(relay.begin([{ id: newId(), topic: 'webhook.deliver' }]), 'once it was stopped').toBe(false);
  });

  it('of every topic are handed over together, however many one of them has, and the answer says when there is more', async () => {
    await enqueue(300);
    await world.deps.db.transaction(async (tx) => {
      await insertOutbox(tx, { id: newId(), topic: 'settlement.dispatch', refId: newId() });
      await insertOutbox(tx, { id: newId(), topic: 'payout.broadcast', refId: newId(), dueAt: new Date(Date.now() + 3_000) });
    });
    const rooms = TOPICS.map((topic) => ({ topic, room: 100, seconds: 60 }));
    const first = await handOver(world.deps.db.sql, rooms);
    expect(first.rows.filter(({ topic }) => topic === 'webhook.deliver')).toHaveLength(100);
    expect(first.rows.filter(({ topic }) => topic === 'settlement.dispatch')).toHaveLength(1);
    expect(first.rows).toHaveLength(101);
    expect(first.nextInMs).toBeGreaterThan(0);
    expect(first.nextInMs).toBeLessThanOrEqual(3_000);
  });

  it('say when the next one becomes due by service time, or may be taken from a worker that died, and nothing when there is none', async () => {
    const next = async () => (await handOver(world.deps.db.sql, [{ topic: 'webhook.deliver', room: 100, seconds: 5 }])).nextInMs;
    expect(await next()).toBeNull();
    await enqueue();
    await world.database.sql`update outbox set claims = 1, claimed_until = now() + interval '40 seconds'`;
    expect(await next()).toBeGreaterThan(30_000);
    expect(await next()).toBeLessThanOrEqual(40_000);
    await world.database.sql`update outbox set state = 'done'`;
    const dueAt = new Date(Date.now() + 3_600_000);
    await world.deps.db.transaction((tx) => insertOutbox(tx, { id: newId(), topic: 'webhook.deliver', refId: newId(), dueAt }));
    await world.advance(3_590);
    expect(await next()).toBeLessThanOrEqual(10_000);
  });

  it('are looked for without a word from anybody: when one becomes due, when one is to be run again, and when wake-ups cannot arrive', async () => {
    let deaf = false;
    const job = recorder(async () => (job.runs.length === 1 ? { again: new Date(0) } : { done: true }));
    const asked = { count: 0 };
    const { db } = world.deps;
    const sql: typeof db.sql = Object.assign(
      new Proxy(db.sql, {
        apply(target, self, args: unknown[]) {
          if (Array.isArray(args[0]) && String(args[0][0]).includes('with asked as')) asked.count += 1;
          return Reflect.apply(target as never, self, args) as unknown;
        },
      }),
    );
    const jobs = await start({ jobs: [job] }, { ...world.deps, db: { ...db, sql } }, () => deaf);
    await waitFor(() => asked.count > 0, { what: 'the first look' });
    await db.transaction((tx) => insertOutbox(tx, { id: newId(), topic: 'webhook.deliver', refId: newId(), dueAt: new Date(Date.now() + 1_500) }));
    jobs.wake();
    await waitFor(() => job.runs.length === 2, { what: 'it to be run when it is due, and again', timeoutMs: 6_000 });
    await waitFor(async () => (await states()).every((state) => state === 'done'), { what: 'it to be done' });
    deaf = true;
    await enqueue();
    await waitFor(() => job.runs.length === 3, { what: 'what nobody told of', timeoutMs: 3_000 });
  });

  it('whose wake-up is lost with the connection it would have come on are looked for as soon as another one listens', async () => {
    const redis: OwnRedis = await ownRedis();
    const streams = openStreams({ url: redis.url, key: undefined, name: 'listener', log: world.deps.log });
    try {
      const job = recorder();
      const jobs = await start({ jobs: [job] }, { ...world.deps, config: { ...world.deps.config, REDIS_URL: redis.url } }, streams.deaf);
      streams.onNudge(WORKER_CHANNEL, jobs.wake, jobs.wake);
      await enqueue();
      await waitFor(() => job.runs.length === 1, { what: 'the first row' });
      await waitFor(() => !streams.deaf(), { what: 'somebody to listen' });
      // Nobody tells of this one: the word of it went to a connection that is gone.
      await enqueue();
      await redis.disconnect('listener-nudges');
      await waitFor(() => job.runs.length === 2, { what: 'the row nobody heard of', timeoutMs: 5_000 });
      await Promise.all(started.splice(0).map((one) => one.stop()));
    } finally {
      await streams.close();
      await redis.stop();
    }
  });

  it('are not run before they are due by service time', async () => {
    const job = recorder(async () => ({ done: true }));
    await world.deps.db.transaction((tx) =>
      insertOutbox(tx, { id: newId(), topic: 'webhook.deliver', refId: newId(), dueAt: new Date(Date.now() + 3_600_000) }),
    );
    expect(await runDueJobs(world.deps, [job])).toBe(0);
    await world.advance(3_601);
    expect(await runDueJobs(world.deps, [job])).toBe(1);
  });

  it('that ask to be run again wait until then', async () => {
    let calls = 0;
    const job = recorder(async () => (++calls === 1 ? { again: new Date(Date.now() + 60_000) } : { done: true }));
    await enqueue();
    await runDueJobs(world.deps, [job]);
    expect(calls).toBe(1);
    await world.advance(61);
    await runDueJobs(world.deps, [job]);
    expect(await states()).toEqual(['done']);
  });

  it('that are due again as soon as they ran do not keep the one who runs them all for ever', async () => {
    const past = new Date(0);
    const job = recorder(async () => ({ again: past }));
    await enqueue(2);
    expect(await runDueJobs(world.deps, [job])).toBe(4);
    expect(await states()).toEqual(['due', 'due']);
  });

  it('whose worker died are taken over once its lease ran out', async () => {
    const job = recorder();
    await enqueue();
    await world.database.sql`update outbox set claims = 1, failures = 1, claimed_until = now() + interval '60 seconds'`;
    expect(await runDueJobs(world.deps, [job])).toBe(0);
    await world.database.sql`update outbox set claimed_until = now() - interval '1 second'`;
    expect(await runDueJobs(world.deps, [job])).toBe(1);
  });

  it('whose worker died with their jobs in hand are run once their lease ran out, though Redis still takes them for running', async () => {
    const gate = aGate();
    const job = recorder(() => gate.promise.then(() => ({ done: true })), 1);
    const jobs = await start({ jobs: [job] });
    const [{ name }] = await world.database.sql<[{ name: string }]>`select current_database() as name`;
    const dying = new Worker(job.topic, null, { connection: { url: world.deps.config.REDIS_URL }, prefix: `sluice-${name}`, autorun: false });
    const takeOne = async (): Promise<{ data: { outboxId: string } } | undefined> => {
      await enqueue();
      jobs.wake();
      return dying.getNextJob('of a worker that dies', { block: false });
    };
    const { outboxId } = (await waitFor(takeOne, { what: 'another worker to take one that nobody here has a place for', everyMs: 100 })).data;
    await world.database.sql`update outbox set claims = 1, failures = 1, claimed_until = now() - interval '1 second' where id = ${outboxId}`;
    await dying.close();
    gate.resolve();
    await waitFor(async () => (await states()).every((state) => state === 'done'), { what: 'every row to be done' });
    expect(job.runs).toHaveLength((await states()).length);
  });

  it('that run for long stay taken, so that no second worker takes a living one for dead', async () => {
    const finish = aGate();
    const job = recorder(() => finish.promise.then(() => ({ done: true })));
    await enqueue();
    const running = runDueJobs(world.deps, [job]);
    const takenUntil = async () => (await world.database.sql<{ at: Date | null }[]>`select claimed_until as at from outbox`)[0]?.at?.getTime() ?? 0;
    const first = await waitFor(takenUntil, { what: 'the lease' });
    await waitFor(async () => (await takenUntil()) > first, { what: 'the lease to be renewed' });
    expect(await handOverDue(world.deps.db.sql, 'webhook.deliver', 10, 5)).toEqual([]);
    finish.resolve();
    await running;
    expect(await states()).toEqual(['done']);
  });

  it("that another run took meanwhile do not get the old run's result", async () => {
    const job = recorder(async () => {
      await world.database.sql`update outbox set claims = claims + 1`;
      return { done: true };
    });
    await enqueue();
    await runDueJobs(world.deps, [job]);
    expect(await states()).toEqual(['due']);
  });

  it('that fail are tried again with a growing pause, keep the reason, and are dead in the end', async () => {
    const job = recorder(async () => {
      throw new Error('the node is away');
    });
    await enqueue();
    let runs = 0;
    for (; (await states())[0] === 'due' && runs < 100; runs++) {
      await world.advance(301);
      await runDueJobs(world.deps, [job]);
    }
    expect(runs).toBe(30);
    expect(await world.database.sql`select state, failures, last_error from outbox`).toEqual([{ state: 'dead', failures: 30, lastError: 'the node is away' }]);
    expect([1, 2, 3, 9, 10, 30].map(pauseAfter)).toEqual([1, 2, 4, 256, 300, 300]);
  });

  it('that fail in words which hold a zero byte, as a mail server may choose them, wait and are dead like any other', async () => {
    const job = recorder(async () => {
      throw new Error('550 no such \0 mailbox');
    });
    await enqueue();
    for (let run = 0; run < 30; run++) {
      await world.advance(301);
      await runDueJobs(world.deps, [job]);
    }
    expect(await world.database.sql`select state, failures, last_error from outbox`).toEqual([
      { state: 'dead', failures: 30, lastError: '550 no such  mailbox' },
    ]);
  });
});

describe('stopping', () => {
  it('waits for the job that runs and starts no other', async () => {
    const gate = aGate();
    let finished = false;
    const job = recorder(async () => {
      await gate.promise;
      finished = true;
      return { done: true };
    }, 1);
    const jobs = await start({ jobs: [job] });
    await enqueue(5);
    jobs.wake();
    await waitFor(() => job.runs.length === 1, { what: 'the first job to start' });
    const stopping = jobs.stop();
    started.length = 0;
    setTimeout(() => gate.resolve(), 50);
    await stopping;
    expect(finished).toBe(true);
    expect(job.runs).toHaveLength(1);
    expect((await states()).filter((state) => state === 'done')).toHaveLength(1);
  });

  it('does not wait for what does not end: it is still due, for another worker', async () => {
    const gate = aGate();
    const job = recorder(async () => {
      await gate.promise;
      return { done: true };
    });
    const jobs = await start({ jobs: [job] });
    await enqueue();
    jobs.wake();
    await waitFor(() => job.runs.length === 1, { what: 'the job to start' });
    await jobs.stop();
    expect(await states()).toEqual(['due']);
    gate.resolve();
    await waitFor(async () => (await states())[0] === 'done', { what: 'it to end after all' });
  });

  it('does not hang when Redis is away', async () => {
    const redis = await ownRedis();
    const jobs = await start({ jobs: [recorder()] }, { ...world.deps, config: { ...world.deps.config, REDIS_URL: redis.url } });
    await redis.kill();
    await jobs.stop();
    started.length = 0;
    await redis.stop();
  });
});

describe('periodic work', () => {
  /** The same database, which adds what is asked of it to `asked`. */
  const noting = (database: Database, asked: string[]): Database => ({
    ...database,
    sql: new Proxy(database.sql, {
      apply(sql, self, [first, ...rest]: [TemplateStringsArray, ...unknown[]]) {
        asked.push(String(first));
        return Reflect.apply(sql, self, [first, ...rest]);
      },
    }),
  });

  it('runs at once and on its interval, never overlapping itself, and goes on after a failure', async () => {
    let running = 0;
    let most = 0;
    let runs = 0;
    const test: Periodic = {
      everySeconds: 0.02,
      run: async () => {
        runs += 1;
        running += 1;
        most = Math.max(most, running);
        await pause(50);
        running -= 1;
        if (runs === 1) throw new Error('first time unlucky');
        return 0;
      },
    };
    await start({ periodic: { test } });
    await waitFor(() => runs >= 4, { what: 'four runs' });
    expect(most).toBe(1);
  });

  it('is run by one replica at a time', async () => {
    let running = 0;
    let most = 0;
    let runs = 0;
    const test: Periodic = {
      everySeconds: 0.01,
      run: async () => {
        runs += 1;
        running += 1;
        most = Math.max(most, running);
        await pause(20);
        running -= 1;
        return 0;
      },
    };
    await Promise.all([start({ periodic: { test } }), start({ periodic: { test } }), start({ periodic: { test } })]);
    await waitFor(() => runs >= 10, { what: 'ten runs' });
    expect(most).toBe(1);
  });

  it('asks for all its locks in one statement, keeps them from run to run, and leaves them to another replica when it stops', async () => {
    const asked: string[] = [];
    const { db } = world.deps;
    const ran: string[] = [];
    const workOf = (replica: string): Record<string, Periodic> =>
      Object.fromEntries(['one', 'another'].map((name): [string, Periodic] => [name, { everySeconds: 0.05, run: async () => ran.push(replica) }]));
    const first = await start({ periodic: workOf('first') }, { ...world.deps, db: { ...db, apart: (options) => noting(db.apart(options), asked) } });
    await waitFor(() => ran.length >= 6, { what: 'three runs of both' });
    expect(asked.filter((text) => text.includes('advisory'))).toHaveLength(1);
    await start({ periodic: workOf('second') });
    expect(new Set(ran)).toEqual(new Set(['first']));
    await first.stop();
    await waitFor(() => ran.includes('second'), { what: 'the other replica to take over' });
  });

  it('is not begun on the word of a session that has ended', async () => {
    const { sql } = world.database;
    const holders = () =>
      sql<{ pid: number }[]>`select distinct pid from pg_locks
        where locktype = 'advisory' and classid = 7582002 and database = (select oid from pg_database where datname = current_database())`;
    const locked: boolean[] = [];
    const test: Periodic = { everySeconds: 0.05, run: async () => locked.push((await holders()).length > 0) };
    await start({ periodic: { test } });
    await waitFor(() => locked.includes(true), { what: 'a run' });
    const [holder] = await holders();
    await sql`select pg_terminate_backend(${holder?.pid ?? 0})`;
    await waitFor(async () => (await holders()).some(({ pid }) => pid !== holder?.pid), { what: 'a lock of a new session' });
    const before = locked.length;
    await waitFor(() => locked.slice(before).includes(true), { what: 'a run under it' });
    // But for one that had begun already, and one before this process heard of the end.
    expect(locked.filter((held) => !held).length).toBeLessThanOrEqual(2);
  });

  it('that says it has nothing to do is not run before its time, and work whose question fails is; what is due together is one question', async () => {
    const asked: string[] = [];
    const { db } = world.deps;
    const ran: string[] = [];
    let broken = false;
    const work = (name: string, answer: boolean, more: Partial<Periodic> = {}): [string, Periodic] => [
      name,
      {
        everySeconds: 0.05,
        look: (sql) => (broken ? sql`1 / 0 = 1` : sql`${answer}::boolean`),
        run: async () => ran.push(name),
        ...more,
      },
    ];
    const periodic = Object.fromEntries([work('busy', true), work('idle', false), work('patient', false, { anywaySeconds: 0.2 })]);
    await start({ periodic }, { ...world.deps, db: { ...db, apart: (options) => noting(db.apart(options), asked) } });
    await waitFor(() => ran.filter((name) => name === 'busy').length >= 8 && ran.filter((name) => name === 'patient').length >= 2, { what: 'those with work' });
    expect(ran).not.toContain('idle');
    // All of it is due when it starts, and only the patient one runs unasked. Later, on a busy machine, some may still run when the rest is due.
    const firstQuestion = asked.findIndex((text) => text.startsWith('select array['));
    expect(asked.slice(0, firstQuestion).filter((text) => text.includes('::boolean'))).toHaveLength(2);
    broken = true;
    await waitFor(() => ran.includes('idle'), { what: 'what cannot be asked' });
  });

  it('that has something to write each time writes it with the questions, and by itself where they fail', async () => {
    const asked: string[] = [];
    const { db } = world.deps;
    const beat = async (): Promise<number> =>
      Number((await world.database.sql`select extract(epoch from clock_timestamp() - beat_at)::float8 as ago from database_epochs`)[0]?.ago);
    const age = (): Promise<unknown> =>
      world.database.sql`update database_epochs set history = database_history(), beat_at = clock_timestamp() - interval '40 seconds'`;
    let broken = false;
    const ran: string[] = [];
    const periodic: Record<string, Periodic> = {
      'keep-history': {
        ...periodicWork['keep-history'],
        everySeconds: 0.05,
        run: async (deps) => {
          ran.push('keep-history');
          return periodicWork['keep-history'].run(deps);
        },
      },
      other: { everySeconds: 0.05, look: (sql) => (broken ? sql`1 / 0 = 1` : sql`false`), run: async () => ran.push('other') },
    };
    await age();
    await start({ periodic }, { ...world.deps, db: { ...db, apart: (options) => noting(db.apart(options), asked) } });
    await waitFor(async () => (await beat()) < 30, { what: 'the history to be kept' });
    expect(ran).toEqual([]);
    broken = true;
    await waitFor(() => ran.includes('keep-history') && ran.includes('other'), { what: 'what cannot be asked' });
    await age();
    await waitFor(async () => (await beat()) < 30, { what: 'the history to be kept by itself' });
  });

  it('of which a part of the time is the most rests after a run for as long as that makes, also after one that failed', async () => {
    const runs: { began: number; ended: number }[] = [];
    const long: Periodic = {
      everySeconds: 0.05,
      mostOfTime: 0.2,
      run: async () => {
        const began = performance.now();
        await pause(100);
        runs.push({ began, ended: performance.now() });
        if (runs.length === 1) throw new Error('as long as the others');
        return 0;
      },
    };
    await start({ periodic: { long } });
    await waitFor(() => runs.length >= 3, { what: 'three runs' });
    // It may begin within a tenth of its period before it is due.
    for (const [at, { began, ended }] of runs.slice(0, -1).entries()) expect((runs[at + 1]?.began ?? 0) - began).toBeGreaterThan((ended - began) / 0.2 - 10);
  });

  it('that others wait for is not kept by work that has all connections of periodic work for minutes', async () => {
    const { sql } = world.database;
    // Four statements and eight transactions: more than periodic work has connections for.
    const long = Object.fromEntries(
      Array.from({ length: 12 }, (_, at): [string, Periodic] => [
        `long ${at}`,
        {
          everySeconds: 3_600,
          run: async ({ db }) => {
            await (at % 3 === 0 ? db.sql`select pg_sleep(100)` : db.transaction((tx) => tx`select pg_sleep(100)`));
            return 0;
          },
        },
      ]),
    );
    const sleeping = () => sql<{ pid: number }[]>`
      select pid from pg_stat_activity where query like 'select pg_sleep%' and state = 'active' and datname = current_database()`;
    let kept = 0;
    const prompt: Periodic = {
      everySeconds: 0.1,
      prompt: true,
      run: async ({ db }) => {
        await db.sql`select 1`;
        await db.transaction((tx) => tx`select 1`);
        kept += 1;
        return 0;
      },
    };
    await start({ periodic: { ...long, prompt } });
    await waitFor(async () => (await sleeping()).length >= 9, { what: 'long work to have all connections' });
    const before = kept;
    await waitFor(() => kept > before + 1, { what: 'what others wait for to be done' });
    for (const { pid } of await sleeping()) await sql`select pg_terminate_backend(${pid})`;
  });

  it('without a question does not wait for those of others', async () => {
    let beats = 0;
    const asked = aGate();
    const slow: Periodic = {
      everySeconds: 3_600,
      look: (sql) => sql`(select true from pg_sleep(2))`,
      run: async () => {
        asked.resolve();
        return 0;
      },
    };
    const often: Periodic = { everySeconds: 0.1, run: async () => ++beats };
    await start({ periodic: { slow, often } });
    await asked.promise;
    expect(beats).toBeGreaterThan(3);
  });

  it('that runs now and then anyway is not run each time because the question of another fails', async () => {
    const ran: string[] = [];
    const broken: Periodic = { everySeconds: 0.05, look: (sql) => sql`1 / 0 = 1`, run: async () => ran.push('broken') };
    const seldom: Periodic = { everySeconds: 0.05, look: (sql) => sql`false`, anywaySeconds: 3_600, run: async () => ran.push('seldom') };
    await start({ periodic: { broken, seldom } });
    await waitFor(() => ran.filter((name) => name === 'broken').length >= 10, { what: 'ten rounds' });
    expect(ran.filter((name) => name === 'seldom')).toHaveLength(1);
  });

  it('that runs long keeps its lock: it is asked about meanwhile, though nothing else is due', async () => {
    const asked: string[] = [];
    const { db } = world.deps;
    const done = aGate();
    const long: Periodic = { everySeconds: 3_600, run: () => done.promise.then(() => 0) };
    await start({ periodic: { long } }, { ...world.deps, db: { ...db, apart: (options) => noting(db.apart(options), asked) } });
    await waitFor(() => asked.filter((text) => text.includes('pg_try_advisory_lock')).length >= 2, { what: 'the locks to be asked about' });
    done.resolve();
  });

  it('that is none of this process is kept from no other', async () => {
    const ran: string[] = [];
    const workOf = (replica: string, isOurs: boolean): Record<string, Periodic> => ({
      chosen: { everySeconds: 0.05, isOurs: () => isOurs, run: async () => ran.push(replica) },
      all: { everySeconds: 0.05, run: async () => ran.push('all') },
    });
    await start({ periodic: workOf('first', false) });
    await waitFor(() => ran.includes('all'), { what: 'the first one to have its locks' });
    await start({ periodic: workOf('second', true) });
    await waitFor(() => ran.includes('second'), { what: 'the other replica to do it' });
    expect(ran).not.toContain('first');
  });

  it('that fails here again and again is done by another replica', async () => {
    const done: string[] = [];
    let failed = 0;
    const failing: Periodic = {
      everySeconds: 0.1,
      run: async () => {
        failed += 1;
        throw new Error('no way out of this host');
      },
    };
    await start({ periodic: { failing } });
    await waitFor(() => failed > 0, { what: 'a failure' });
    await start({ periodic: { failing: { everySeconds: 0.1, run: async () => done.push('by another') } } });
    await waitFor(() => done.length > 0, { what: 'the other replica' });
  });

  it('is shown by the replica that does it, and no longer by one that did it before', async () => {
    const [first, second] = [createApiMetrics('test'), createApiMetrics('test')];
    const shown = async ({ scrape }: typeof first): Promise<string | undefined> =>
      /^sluice_unexplained_balances\{chain="tron"\} (\d+)$/m.exec((await scrape()).body)?.[1];
    let fails = false;
    const workOf = (metrics: typeof first, count: number): Record<string, Periodic> => ({
      test: {
        everySeconds: 0.1,
        figures: ['unexplainedBalances'],
        run: async () => {
          if (metrics === first && fails) throw new Error('no way out of this host');
          metrics.unexplainedBalances.set({ chain: 'tron' }, count);
          return 0;
        },
      },
    });
    await start({ periodic: workOf(first, 3) }, { ...world.deps, metrics: first });
    await waitFor(async () => (await shown(first)) === '3', { what: 'the first replica to show what it saw' });
    await start({ periodic: workOf(second, 0) }, { ...world.deps, metrics: second });
    fails = true;
    await waitFor(async () => (await shown(second)) === '0', { what: 'the second replica to do it' });
    await waitFor(async () => (await shown(first)) === undefined, { what: 'the first replica to show it no more' });
    expect(await shown(second)).toBe('0');
  });

  it('whose locks could not be asked for is begun with what is due next, however seldom it runs', async () => {
    const { db } = world.deps;
    let refused = 0;
    const failing = (database: Database): Database => ({
      ...database,
      sql: new Proxy(database.sql, {
        apply: async (sql, self, [first, ...rest]: [TemplateStringsArray, ...unknown[]]) => {
          if (String(first).includes('pg_try_advisory_lock') && refused++ === 0) throw new Error('the line is down');
          return Reflect.apply(sql, self, [first, ...rest]);
        },
      }),
    });
    let ran = false;
    const hourly: Periodic = {
      everySeconds: 3_600,
      run: async () => {
        ran = true;
        return 0;
      },
    };
    const often: Periodic = { everySeconds: 0.05, run: async () => 0 };
    await start({ periodic: { hourly, often } }, { ...world.deps, db: { ...db, apart: (options) => failing(db.apart(options)) } });
    await waitFor(() => ran, { what: 'the work of an hour to run' });
  });

  it('is run on demand before due jobs, for the development clock', async () => {
    const job = recorder();
    const test: Periodic = { everySeconds: 3_600, run: async () => (await enqueue()).length };
    const jobs = await start({ jobs: [job], periodic: { test } });
    await waitFor(() => job.runs.length === 1, { what: "the first run's job" });
    await jobs.runDue();
    expect(job.runs).toHaveLength(2);
  });
});
