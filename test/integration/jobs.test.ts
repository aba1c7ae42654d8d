import { Worker } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { networkJob } from '#api/jobs/network-job.ts';
import { runDueJobs, startRelay } from '#api/jobs/relay.ts';
import { pauseAfter } from '#api/jobs/run-job.ts';
import { queuePrefix } from '#api/jobs/start.ts';
import { handOver, handOverDue, insertOutbox, TOPICS, workOf } from '#api/store/outbox.ts';
import { POLICY } from '#shared/core/policy.ts';
import { openStreams, WORKER_CHANNEL } from '#shared/platform/redis-streams.ts';
import { type OwnRedis, ownRedis } from '#test/harness/redis.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { aGate, enqueue, newId, ownJobStage, recorder, start, states, stopAll, theWorld } from '#test/fixtures/job-stage.ts';

ownJobStage();

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
      await theWorld().deps.db.transaction((tx) => insertOutbox(tx, { id: newId(), topic: job.topic, refId: other }));
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
    const [{ name }] = await theWorld().database.sql<[{ name: string }]>`select current_database() as name`;
    await waitFor(
      async () => {
        await enqueue();
        jobs.wake();
        return Number(await theWorld().redis.command('LLEN', `${queuePrefix(name)}:${job.topic}:wait`)) > 0;
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
      const jobs = await start({ jobs: [job] }, { ...theWorld().deps, config: { ...theWorld().deps.config, REDIS_URL: redis.url } });
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
      await stopAll();
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
    await theWorld().redis.flush();
    gate.resolve();
    await waitFor(async () => (await states()).every((state) => state === 'done'), { what: 'every row to be done' });
    expect([...job.runs].sort()).toEqual([...refs].sort());
  });

  it('are handed over again the more seldom the more there are before them, and one that was begun as soon as its worker died', async () => {
    const { sql } = theWorld().database;
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
    const late = theWorld().deps.db.transaction(async (tx) => {
      await insertOutbox(tx, { id: newId(), topic: 'webhook.deliver', refId: early });
      inserted.resolve();
      await slow.promise;
    });
    await inserted.promise;
    await enqueue(3);
    expect(await runDueJobs(theWorld().deps, [job])).toBe(3);
    slow.resolve();
    await late;
    expect(await runDueJobs(theWorld().deps, [job])).toBe(1);
    expect(job.runs).toContain(early);
  });

  it("are handed to one relay at a time, without waiting for each other's locks", async () => {
    await enqueue(100);
    const batches = await Promise.all(Array.from({ length: 10 }, () => handOverDue(theWorld().deps.db.sql, 'webhook.deliver', 30, 60)));
    const ids = batches.flat();
    expect(new Set(ids).size).toBe(ids.length);
    const rest = await handOverDue(theWorld().deps.db.sql, 'webhook.deliver', 100, 60);
    expect(ids.length + rest.length).toBe(100);
  });

  it('of no topic are asked for by nobody', async () => {
    await enqueue();
    expect(await handOver(theWorld().deps.db.sql, [])).toEqual({ rows: [], nextInMs: null, atMs: null });
  });

  it('of one topic do not wait for those of another that Redis does not take', async () => {
    await enqueue();
    await theWorld().deps.db.transaction((tx) => insertOutbox(tx, { id: newId(), topic: 'settlement.dispatch', refId: newId() }));
    const [pushed, silent] = [new Set<string>(), aGate()];
    const push = async (topic: string): Promise<void> => {
      pushed.add(topic);
      await silent.promise;
    };
    const jobs = (['webhook.deliver', 'settlement.dispatch'] as const).map((topic) => ({ ...recorder(), topic }));
    const relay = startRelay(theWorld().deps, jobs, { push, close: async () => undefined }, () => false);
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
    const relay = startRelay(theWorld().deps, [job, { ...recorder(), topic: 'deposit.screen' }], { push, close: async () => undefined }, () => false);
    const add = (...rows: { topic?: 'deposit.screen'; dueAt?: Date }[]) =>
      theWorld().deps.db.transaction(async (tx) => {
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
    await theWorld().deps.db.transaction(async (tx) => {
      await insertOutbox(tx, { id: newId(), topic: 'settlement.dispatch', refId: newId() });
      await insertOutbox(tx, { id: newId(), topic: 'payout.broadcast', refId: newId(), dueAt: new Date(Date.now() + 3_000) });
    });
    const rooms = TOPICS.map((topic) => ({ topic, room: 100, seconds: 60 }));
    const first = await handOver(theWorld().deps.db.sql, rooms);
    expect(first.rows.filter(({ topic }) => topic === 'webhook.deliver')).toHaveLength(100);
    expect(first.rows.filter(({ topic }) => topic === 'settlement.dispatch')).toHaveLength(1);
    expect(first.rows).toHaveLength(101);
    expect(first.nextInMs).toBeGreaterThan(0);
    expect(first.nextInMs).toBeLessThanOrEqual(3_000);
  });

  it('say when the next one becomes due by service time, or may be taken from a worker that died, and nothing when there is none', async () => {
    const next = async () => (await handOver(theWorld().deps.db.sql, [{ topic: 'webhook.deliver', room: 100, seconds: 5 }])).nextInMs;
    expect(await next()).toBeNull();
    await enqueue();
    await theWorld().database.sql`update outbox set claims = 1, claimed_until = now() + interval '40 seconds'`;
    expect(await next()).toBeGreaterThan(30_000);
    expect(await next()).toBeLessThanOrEqual(40_000);
    await theWorld().database.sql`update outbox set state = 'done'`;
    const dueAt = new Date(Date.now() + 3_600_000);
    await theWorld().deps.db.transaction((tx) => insertOutbox(tx, { id: newId(), topic: 'webhook.deliver', refId: newId(), dueAt }));
    await theWorld().advance(3_590);
    expect(await next()).toBeLessThanOrEqual(10_000);
  });

  it('are looked for without a word from anybody: when one becomes due, when one is to be run again, and when wake-ups cannot arrive', async () => {
    let deaf = false;
    const job = recorder(async () => (job.runs.length === 1 ? { again: new Date(0) } : { done: true }));
    const asked = { count: 0 };
    const { db } = theWorld().deps;
    const sql: typeof db.sql = Object.assign(
      new Proxy(db.sql, {
        apply(target, self, args: unknown[]) {
          if (Array.isArray(args[0]) && String(args[0][0]).includes('with asked as')) asked.count += 1;
          return Reflect.apply(target as never, self, args) as unknown;
        },
      }),
    );
    const jobs = await start({ jobs: [job] }, { ...theWorld().deps, db: { ...db, sql } }, () => deaf);
    await waitFor(() => asked.count > 0, { what: 'the first look' });
    await db.transaction((tx) => insertOutbox(tx, { id: newId(), topic: 'webhook.deliver', refId: newId(), dueAt: new Date(Date.now() + 1_500) }));
    jobs.wake();
    await waitFor(() => job.runs.length === 2, { what: 'it to be run when it is due, and again', timeoutMs: 9_000 });
    await waitFor(async () => (await states()).every((state) => state === 'done'), { what: 'it to be done' });
    deaf = true;
    await enqueue();
    await waitFor(() => job.runs.length === 3, { what: 'what nobody told of', timeoutMs: 9_000 });
  });

  it('whose wake-up is lost with the connection it would have come on are looked for as soon as another one listens', async () => {
    const redis: OwnRedis = await ownRedis();
    const streams = openStreams({ url: redis.url, key: undefined, name: 'listener', log: theWorld().deps.log });
    try {
      const job = recorder();
      const jobs = await start({ jobs: [job] }, { ...theWorld().deps, config: { ...theWorld().deps.config, REDIS_URL: redis.url } }, streams.deaf);
      streams.onNudge(WORKER_CHANNEL, jobs.wake, jobs.wake);
      await enqueue();
      await waitFor(() => job.runs.length === 1, { what: 'the first row' });
      await waitFor(() => !streams.deaf(), { what: 'somebody to listen' });
      // Nobody tells of this one: the word of it went to a connection that is gone.
      await enqueue();
      await redis.disconnect('listener-nudges');
      await waitFor(() => job.runs.length === 2, { what: 'the row nobody heard of', timeoutMs: 9_000 });
      await stopAll();
    } finally {
      await streams.close();
      await redis.stop();
    }
  });

  it('are not run before they are due by service time', async () => {
    const job = recorder(async () => ({ done: true }));
    await theWorld().deps.db.transaction((tx) =>
      insertOutbox(tx, { id: newId(), topic: 'webhook.deliver', refId: newId(), dueAt: new Date(Date.now() + 3_600_000) }),
    );
    expect(await runDueJobs(theWorld().deps, [job])).toBe(0);
    await theWorld().advance(3_601);
    expect(await runDueJobs(theWorld().deps, [job])).toBe(1);
  });

  it('that ask to be run again wait until then', async () => {
    let calls = 0;
    const job = recorder(async () => (++calls === 1 ? { again: new Date(Date.now() + 60_000) } : { done: true }));
    await enqueue();
    await runDueJobs(theWorld().deps, [job]);
    expect(calls).toBe(1);
    await theWorld().advance(61);
    await runDueJobs(theWorld().deps, [job]);
    expect(await states()).toEqual(['done']);
  });

  it('that are due again as soon as they ran do not keep the one who runs them all for ever', async () => {
    const past = new Date(0);
    const job = recorder(async () => ({ again: past }));
    await enqueue(2);
    expect(await runDueJobs(theWorld().deps, [job])).toBe(4);
    expect(await states()).toEqual(['due', 'due']);
  });

  it('whose worker died are taken over once its lease ran out', async () => {
    const job = recorder();
    await enqueue();
    await theWorld().database.sql`update outbox set claims = 1, failures = 1, claimed_until = now() + interval '60 seconds'`;
    expect(await runDueJobs(theWorld().deps, [job])).toBe(0);
    await theWorld().database.sql`update outbox set claimed_until = now() - interval '1 second'`;
    expect(await runDueJobs(theWorld().deps, [job])).toBe(1);
  });

  it('whose worker died with their jobs in hand are run once their lease ran out, though Redis still takes them for running', async () => {
    const gate = aGate();
    const job = recorder(() => gate.promise.then(() => ({ done: true })), 1);
    const jobs = await start({ jobs: [job] });
    const [{ name }] = await theWorld().database.sql<[{ name: string }]>`select current_database() as name`;
    const dying = new Worker(job.topic, null, { connection: { url: theWorld().deps.config.REDIS_URL }, prefix: queuePrefix(name), autorun: false });
    const takeOne = async (): Promise<{ data: { rows: { id: string }[] } } | undefined> => {
      await enqueue();
      jobs.wake();
      return dying.getNextJob('of a worker that dies', { block: false });
    };
    const { rows } = (await waitFor(takeOne, { what: 'another worker to take one that nobody here has a place for', everyMs: 100 })).data;
    await theWorld().database
      .sql`update outbox set claims = 1, failures = 1, claimed_until = now() - interval '1 second' where id = any(${rows.map(({ id }) => id)}::uuid[])`;
    await dying.close();
    gate.resolve();
    await waitFor(async () => (await states()).every((state) => state === 'done'), { what: 'every row to be done' });
    expect(job.runs).toHaveLength((await states()).length);
  });

  it('that run for long stay taken, so that no second worker takes a living one for dead', async () => {
    const finish = aGate();
    const job = recorder(() => finish.promise.then(() => ({ done: true })));
    await enqueue();
    const running = runDueJobs(theWorld().deps, [job]);
    const takenUntil = async () => (await theWorld().database.sql<{ at: Date | null }[]>`select claimed_until as at from outbox`)[0]?.at?.getTime() ?? 0;
    const first = await waitFor(takenUntil, { what: 'the lease' });
    await waitFor(async () => (await takenUntil()) > first, { what: 'the lease to be renewed' });
    expect(await handOverDue(theWorld().deps.db.sql, 'webhook.deliver', 10, 5)).toEqual([]);
    finish.resolve();
    await running;
    expect(await states()).toEqual(['done']);
  });

  it("that another run took meanwhile do not get the old run's result", async () => {
    const job = recorder(async () => {
      await theWorld().database.sql`update outbox set claims = claims + 1`;
      return { done: true };
    });
    await enqueue();
    await runDueJobs(theWorld().deps, [job]);
    expect(await states()).toEqual(['due']);
  });

  it('that fail are tried again with a growing pause, keep the reason, and are dead in the end', async () => {
    const job = recorder(async () => {
      throw new Error('the node is away');
    });
    await enqueue();
    let runs = 0;
    for (; (await states())[0] === 'due' && runs < 100; runs++) {
      await theWorld().advance(301);
      await runDueJobs(theWorld().deps, [job]);
    }
    expect(runs).toBe(30);
    expect(await theWorld().database.sql`select state, failures, last_error from outbox`).toEqual([
      { state: 'dead', failures: 30, lastError: 'the node is away' },
    ]);
    expect([1, 2, 3, 9, 10, 30].map(pauseAfter)).toEqual([1, 2, 4, 256, 300, 300]);
  });

  it('that fail in words which hold a zero byte, as a mail server may choose them, wait and are dead like any other', async () => {
    const job = recorder(async () => {
      throw new Error('550 no such \0 mailbox');
    });
    await enqueue();
    for (let run = 0; run < 30; run++) {
      await theWorld().advance(301);
      await runDueJobs(theWorld().deps, [job]);
    }
    expect(await theWorld().database.sql`select state, failures, last_error from outbox`).toEqual([
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
    setTimeout(() => gate.resolve(), 50);
    await stopping;
    expect(finished).toBe(true);
    expect(job.runs).toHaveLength(1);
    expect((await states()).filter((state) => state === 'done')).toHaveLength(1);
  });

  it('takes no more from Redis while one that it began itself does not end', async () => {
    const gate = aGate();
    const job = { ...recorder(() => gate.promise.then(() => ({ done: true }) as const)), begunAtOnce: 1 };
    const jobs = await start({ jobs: [job] });
    const { due } = await theWorld().deps.db.transaction(async (tx) => {
      await insertOutbox(tx, { id: newId(), topic: 'webhook.deliver', refId: newId() });
      return { due: workOf(tx) };
    });
    expect(jobs.begin(due)).toBe(true);
    await waitFor(() => job.runs.length === 1, { what: 'the first job to start' });
    const { pathname } = new URL(theWorld().redis.url);
    const takers = async (): Promise<number> =>
      String(await theWorld().redis.command('CLIENT', 'LIST'))
        .split('\n')
        .filter((client) => client.includes('name=sluice-workers') && client.includes(` db=${pathname.slice(1)} `)).length;
    expect(await takers()).toBeGreaterThan(0);
    const stopping = jobs.stop();
    await waitFor(async () => (await takers()) === 0, { what: 'it to take no more' });
    gate.resolve();
    await stopping;
    expect(await states()).toEqual(['done']);
  });

  it('leaves in Redis what waits there while one that runs does not end', async () => {
    const gates = [aGate(), aGate()];
    const job = recorder(() => (gates[job.runs.length - 1] as ReturnType<typeof aGate>).promise.then(() => ({ done: true }) as const), 2);
    const jobs = await start({ jobs: [job] });
    await enqueue(2);
    jobs.wake();
    await waitFor(() => job.runs.length === 2, { what: 'two to start' });
    await enqueue(20);
    jobs.wake();
    const [{ name }] = await theWorld().database.sql<[{ name: string }]>`select current_database() as name`;
    const waiting = () => theWorld().redis.command('LLEN', `${queuePrefix(name)}:webhook.deliver:wait`);
    await waitFor(async () => (await waiting()) === 20, { what: 'the others to wait in Redis' });
    const stopping = jobs.stop();
    gates[1]?.resolve();
    await waitFor(async () => (await states()).includes('done'), { what: 'one of the two to end' });
    gates[0]?.resolve();
    await stopping;
    expect([await waiting(), job.runs.length]).toEqual([20, 2]);
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
    const jobs = await start({ jobs: [recorder()] }, { ...theWorld().deps, config: { ...theWorld().deps.config, REDIS_URL: redis.url } });
    await redis.kill();
    await jobs.stop();
    await redis.stop();
  });
});
