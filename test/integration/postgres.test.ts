import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { waitFor } from '#ops/dev/services/wait.ts';
import { isPassing } from '#shared/platform/database-problems.ts';
import { connect, type Database, type Reserved, type Tx } from '#shared/platform/postgres.ts';
import { freshDatabase, type FreshDatabase } from '#test/harness/database.ts';
import { type FaultProxy, faultProxy } from '#test/harness/fault-proxy.ts';

let db: FreshDatabase;
beforeAll(async () => {
  db = await freshDatabase();
  await db.sql`create table noted (n int primary key)`;
});
afterAll(() => db.drop());

it('is the version that was asked for', async () => {
  const [row] = await db.sql<[{ major: number }]>`select current_setting('server_version_num')::int / 10000 as major`;
  // A server that somebody else runs is of any.
  if (!process.env.DATABASE_URL) expect(row.major).toBe(Number(process.env.SLUICE_POSTGRES || 18));
});

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'worked',
    (error: unknown) => (error as { code?: unknown }).code,
  );
const openTransactions = () => db.sql`select pid from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`;

describe('the database client', () => {
  it('begins transactions behind any number of queued statements, and leaves none open that swallows what comes next', async () => {
    await Promise.all(Array.from({ length: 100 }, () => db.sql`select pg_sleep(0.01)`));
    // More than the driver sends ahead on all its connections together.
    const queued = Array.from({ length: 1_000 }, () => db.sql`select 1`.execute());
    const transactions = Array.from({ length: 30 }, (_, n) => db.transaction((tx) => tx`insert into noted values (${n})`));
    await Promise.all([...queued, ...transactions]);
    await Promise.all(Array.from({ length: 30 }, (_, n) => db.sql`insert into noted values (${100 + n})`));
    expect(await db.sql`select count(*) as count from noted`).toEqual([{ count: 60 }]);
    expect(await openTransactions()).toEqual([]);
  });

  it('takes a transaction back when a statement failed that its work thought nothing of', async () => {
    const careless = db.transaction(async (tx) => {
      await tx`insert into noted values (200)`;
      await tx`insert into noted values (200)`.catch(() => undefined);
    });
    expect(await codeOf(careless)).toBe('23505');
    expect(await db.sql`select 1 from noted where n = 200`).toEqual([]);
  });

  it('looks whether connections fell silent only while somebody has one', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const own = connect(db.url, { name: 'sluice-test', max: 1 });
    try {
      await own.sql`select 1`;
      expect(vi.getTimerCount()).toBe(0);
      const had = await own.sql.reserve();
      expect(vi.getTimerCount()).toBe(1);
      had.release();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
      await own.end();
    }
  });

  it('refuses a statement that comes after the end of its transaction', async () => {
    const late = await db.transaction(async (tx) => tx);
    expect(await codeOf(late`insert into noted values (201)`)).toBe('CONNECTION_ENDED');
  });

  it('never runs a statement of a transaction outside of it, when the connection is lost while several are on their way', async () => {
    const outcomes = await db
      .transaction((tx) =>
        Promise.allSettled([
          tx`select pg_terminate_backend(pg_backend_pid()), ${1}::int`,
          tx`insert into noted values (${210})`,
          tx`insert into noted values (${211})`,
          tx`insert into noted values (${212})`,
        ]).then((settled) => {
          throw new Error(settled.map(({ status }) => status).join());
        }),
      )
      .catch((error: unknown) => (error as Error).message);
    expect(outcomes).toBe('rejected,rejected,rejected,rejected');
    expect(await db.sql`select n from noted where n between 210 and 212`).toEqual([]);
  });

  describe('whose BEGIN is not believed by the server', () => {
    const misheard = async (work: (tx: Tx) => Promise<unknown>): Promise<unknown> => {
      let begins = 0;
      const proxy = await faultProxy({
        port: Number(new URL(db.url).port),
        hear(data) {
          const at = data.indexOf('begin read write');
          if (at >= 0 && ++begins > 1) data.write('bogus', at);
        },
      });
      const narrow = connect(proxy.url(db.url), { name: 'misheard', max: 1 });
      try {
        await narrow.transaction((tx) => tx`select 1`);
        return await codeOf(narrow.transaction(work));
      } finally {
        await narrow.end();
        await proxy.close();
      }
    };

    it('writes nothing outside of a transaction, and fails by that', async () => {
      await db.sql`insert into noted values (239)`;
      expect(await misheard((tx) => tx`insert into noted values (230)`)).toBe('42601');
      expect(await misheard((tx) => Promise.all([tx`insert into noted values (231)`, tx`select 1 from noted for update`, tx`delete from noted`]))).toBe(
        '42601',
      );
      expect(await db.sql`select n from noted where n between 230 and 239`).toEqual([{ n: 239 }]);
    });

    it('fails also when all it did was read, or to think nothing of what failed', async () => {
      expect(await misheard((tx) => tx`select 1`)).toBe('42601');
      expect(await misheard((tx) => tx`insert into noted values (232)`.catch(() => undefined))).toBe('42601');
      expect(await misheard(async () => 'nothing')).toBe('42601');
    });
  });

  it('sends BEGIN together with the first statement, once it knows that nothing writes there but what begins so', async () => {
    const pieces: string[] = [];
    const proxy = await faultProxy({ port: Number(new URL(db.url).port), hear: (data) => void pieces.push(data.toString('latin1')) });
    const narrow = connect(proxy.url(db.url), { name: 'together', max: 1 });
    await narrow.transaction((tx) => tx`select 1`);
    pieces.length = 0;
    await narrow.transaction((tx) => tx`select 1`);
    // A message that binds a prepared statement begins with B.
    expect(pieces.find((piece) => piece.includes('begin read write'))).toContain('begin read write\0B');
    await narrow.end();
    await proxy.close();
  });

  it('lets a transaction say how isolated it is, on the first use of a connection as on any other', async () => {
    const fresh = connect(db.url, { name: 'isolated', max: 1 });
    for (let use = 0; use < 3; use++) {
      const [row] = await fresh.transaction(async (tx) => {
        await tx`set transaction isolation level repeatable read`;
        return tx`select current_setting('transaction_isolation') as level`;
      });
      expect(row).toEqual({ level: 'repeatable read' });
    }
    await fresh.end();
  });

  it('reads a snapshot at one moment, on the first use of a connection as on any other', async () => {
    const fresh = connect(db.url, { name: 'snapshot', max: 1 });
    for (let use = 0; use < 3; use++) {
      const counts = await fresh.snapshot(async (tx) => {
        const before = await tx`select n from noted where n = ${260 + use}`;
        await db.sql`insert into noted values (${260 + use})`;
        return [before.length, (await tx`select n from noted where n = ${260 + use}`).length];
      });
      expect(counts).toEqual([0, 0]);
      expect(await fresh.transaction((tx) => tx`select n from noted where n = ${260 + use}`)).toHaveLength(1);
    }
    await fresh.end();
  });

  it('lends a connection that was given back twice to one caller at a time', async () => {
    const narrow = connect(db.url, { name: 'twice', max: 4 });
    const reserved = await narrow.sql.reserve();
    await reserved`select 1`;
    reserved.release();
    reserved.release();
    const [one, other] = [await narrow.sql.reserve(), await narrow.sql.reserve()];
    const pids = await Promise.all([one, other].map((held) => held<{ pid: number }[]>`select pg_backend_pid() as pid`));
    expect(pids[0]?.[0]?.pid).not.toBe(pids[1]?.[0]?.pid);
    one.release();
    other.release();
    await narrow.end();
  });

  it('reads and writes arrays alike on every connection, whichever of them learnt how', async () => {
    const narrow = connect(db.url, { name: 'arrays', max: 4 });
    const held = [await db.sql.reserve(), await narrow.sql.reserve(), await narrow.sql.reserve()];
    const roundTrip = async (on: Reserved) => await on`select ${['a,"b"', 'c\\']}::text[] as words, ${[1, 2, 3]}::int8[] as numbers`;
    const rows = await Promise.all(held.map(roundTrip));
    for (const row of rows) expect(row).toEqual([{ words: ['a,"b"', 'c\\'], numbers: [1, 2, 3] }]);
    for (const one of held) one.release();
    await narrow.end();
  });

  it('is never asked to read an array of a type of its own, which only the first connection of a process would know', async () => {
    const own = await db.sql`
      select a.attrelid::regclass::text as table, a.attname as column from pg_attribute a join pg_type t on t.oid = a.atttypid
      join pg_class c on c.oid = a.attrelid where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and t.typcategory = 'A' and t.oid >= 10000`;
    expect(own).toEqual([]);
  });

  it('runs a statement once that two wait for, and none that is only part of another one', async () => {
    const noting = db.sql<{ n: number }[]>`insert into noted values (220) returning n`;
    expect(await Promise.all([noting, noting])).toEqual([[{ n: 220 }], [{ n: 220 }]]);
    const part = db.sql`insert into noted values (${221}) returning n`;
    expect(await db.transaction((tx) => tx`with added as (${part}) select ${tx.unsafe('n')} from added`)).toEqual([{ n: 221 }]);
    expect(await db.sql`select n from noted where n between 220 and 221 order by n`).toEqual([{ n: 220 }, { n: 221 }]);
  });

  it('replaces connections that are old, with all that the server keeps for them, unless they are to stay', async () => {
    const pidsOf = async (lifetimeMs: number): Promise<number> => {
      const narrow = connect(db.url, { name: 'ageing', max: 1, lifetimeMs });
      const pids = new Set<unknown>();
      for (let i = 0; i < 3; i++) pids.add((await narrow.sql`select pg_backend_pid() as pid`)[0]?.pid);
      await narrow.end();
      return pids.size;
    };
    expect([await pidsOf(0), await pidsOf(60_000), await pidsOf(Number.POSITIVE_INFINITY)]).toEqual([3, 1, 1]);
  });

  it('goes on to the next host of a URL that names several, when one is away', async () => {
    const { username, password, hostname, port, pathname } = new URL(db.url);
    const several = connect(`postgres://${username}:${password}@${hostname}:1,${hostname}:${port}${pathname}`, { name: 'several', max: 2 });
    await waitFor(async () => (await codeOf(several.sql`select 1`)) === 'worked', { what: 'the host that is there' });
    expect(await codeOf(several.sql`select 1`)).toBe('worked');
    await several.end();
  });

  it('tells how long statements and transactions took, the wait for a connection included, and what its connections do', async () => {
    const seen: string[] = [];
    const narrow = connect(db.url, { name: 'narrow', max: 2, observe: (work, seconds) => void (seconds >= 0 && seen.push(work)) });
    await narrow.sql`select 1`;
    await narrow.transaction(async (tx) => {
      await tx`  insert into noted values (202)`;
      await tx`delete from noted where n = 202`;
      expect(narrow.pool()).toEqual({ idle: 1, active: 1, waiting: 0 });
    });
    expect(await codeOf(narrow.sql`update nothing set n = 1`)).toBe('42P01');
    expect(seen).toEqual(['select', 'insert', 'delete', 'transaction', 'update']);
    expect(narrow.pool()).toEqual({ idle: 2, active: 0, waiting: 0 });
    await narrow.end();
    expect(await codeOf(narrow.sql`select 1`)).toBe('CONNECTION_ENDED');
  });

  it('fails whoever would wait too long for a connection, while others go on waiting', async () => {
    const narrow = connect(db.url, { name: 'narrow', max: 1 });
    const enough = new AbortController();
    const first = narrow.transaction(async () => enough.signal.aborted || once(enough.signal, 'abort'));
    const patient = narrow.transaction((tx) => tx`select 1`);
    expect(await codeOf(narrow.waitingAtMost(50).transaction((tx) => tx`select 1`))).toBe('POOL_EXHAUSTED');
    expect(isPassing({ code: 'POOL_EXHAUSTED' })).toBe(true);
    expect(narrow.pool().waiting).toBe(1);
    enough.abort();
    await Promise.all([first, patient]);
    await narrow.end();
  });

  it('prepares a statement anew whose table got a column since, inside a transaction too', async () => {
    const one = connect(db.url, { name: 'older release', max: 1 });
    await db.sql`create table grown (n int)`;
    const read = () => one.transaction((tx) => tx`select * from grown`);
    await read();
    await db.sql`alter table grown add column m int`;
    expect(await read()).toEqual([]);
    await one.end();
  });

  it('prepares it anew also where others were sent behind it, which it keeps nobody waiting for', async () => {
    const one = connect(db.url, { name: 'older release', max: 1 });
    await db.sql`create table widened (n int)`;
    let runs = 0;
    const read = () =>
      one.transaction(async (tx) => {
        runs += 1;
        const together = await Promise.all([
          tx`select * from widened where n > ${0}`,
          tx`select 2 as two`,
          // Never prepared, so that the driver asks first what it takes.
          tx.unsafe('select $1::int as three', [3]),
          tx`insert into widened values (${runs}) returning n`,
        ]);
        return together.map((rows) => rows.length);
      });
    for (const before of [0, 1]) expect(await read()).toEqual([before, 1, 1, 1]);
    await db.sql`alter table widened add column m int`;
    expect(await read()).toEqual([2, 1, 1, 1]);
    expect(runs, 'once more').toBe(4);
    expect(await openTransactions()).toEqual([]);
    await one.end();
  });

  it('sends nothing more of a transaction once it knows that one of its statements failed, and tells of that one', async () => {
    const one = connect(db.url, { name: 'failing', max: 1 });
    const told: unknown[] = [];
    const failing = one.transaction(async (tx) => {
      const note = (error: { code?: unknown }) => void told.push(error.code);
      await Promise.all([tx`select 1 / ${0}::int`.catch(note), tx`select 1`.catch(note)]);
      await tx`select 2`.catch(note);
    });
    expect(await codeOf(failing)).toBe('22012');
    expect(told).toEqual(['22012', '25P02', '22012']);
    await one.end();
  });

  it('sends nothing more of a transaction whose work has failed, whatever of it still goes on', async () => {
    const one = connect(db.url, { name: 'failing', max: 1 });
    let late: Promise<unknown> | undefined;
    const failing = one.transaction(async (tx) => {
      await tx`select 1`;
      late = new Promise((resolve) => {
        setImmediate(() => resolve(codeOf(tx`insert into noted values (240)`)));
      });
      throw new Error('no longer');
    });
    await expect(failing).rejects.toThrow('no longer');
    expect(await late).toBe('CONNECTION_ENDED');
    await one.end();
  });

  it('has the server end what would take too long', async () => {
    const [limits] = await db.sql`
      select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
        current_setting('idle_in_transaction_session_timeout') as pause, current_setting('tcp_keepalives_idle') as keepalive`;
    expect(limits).toEqual({ statement: '12s', lock: '4s', pause: '15s', keepalive: '10' });
    for (const code of ['57014', '55P03', '25P03']) expect(isPassing({ code })).toBe(true);
  });
});

describe('a link to the database', () => {
  let link: FaultProxy;
  let through: Database;
  beforeAll(async () => {
    link = await faultProxy({ port: Number(new URL(db.url).port) });
    through = connect(link.url(db.url), { name: 'linked', max: 4 });
  });
  afterAll(async () => {
    await through.end();
    await link.close();
  });

  const everythingWorks = async (): Promise<void> => {
    // All connections there can be, so that a broken one would be among them.
    const all = [...Array.from({ length: 2 }, () => through.sql`select 1`), ...Array.from({ length: 4 }, () => through.transaction((tx) => tx`select 1`))];
    expect(await Promise.all(all.map(codeOf))).toEqual(all.map(() => 'worked'));
    expect(await openTransactions()).toEqual([]);
  };

  const cuts: [string, (tx: Tx) => Promise<unknown>][] = [
    [
      'cut while a statement runs',
      async (tx) => {
        setTimeout(() => link.cut(), 50);
        await tx`select pg_sleep(5)`;
      },
    ],
    [
      'reset while a statement runs',
      async (tx) => {
        setTimeout(() => link.add({ type: 'reset_peer', timeout: 0 }), 50);
        await tx`select pg_sleep(0.2)`;
      },
    ],
    [
      'cut between two statements',
      async (tx) => {
        link.cut();
        await waitFor(() => through.pool().idle === 0, { what: 'the cut to be noticed' });
        await tx`select 1`;
      },
    ],
  ];
  it.each(cuts)('that is %s of a transaction costs that transaction, no connection and no process', async (_how, work) => {
    await everythingWorks();
    const lost = through.transaction(async (tx) => {
      await tx`insert into noted values (300)`;
      await work(tx);
    });
    expect(isPassing({ code: await codeOf(lost) })).toBe(true);
    link.mend();
    await waitFor(() => through.pool().idle <= link.open(), { what: 'what else was cut to be noticed' });
    await everythingWorks();
    expect(await db.sql`select 1 from noted where n = 300`).toEqual([]);
  });

  it('that fell silent is given up, when newcomers hear nothing either', async () => {
    const silent = await silentServer();
    const waiting = [through.sql`select pg_sleep(30)`, through.transaction((tx) => tx`select pg_sleep(30)`)].map(codeOf);
    const asleep = async () => (await db.sql`select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`).length;
    await waitFor(async () => (await asleep()) === 2, { what: 'both to be under way' });
    link.goSilent();
    link.leadTo(silent.port);
    expect(await Promise.all(waiting)).toEqual(['CONNECTION_SILENT', 'CONNECTION_SILENT']);
    link.leadTo(Number(new URL(db.url).port));
    await everythingWorks();
    await silent.close();
  });
});

/** Takes connections and never says a word, as a server does that was stopped in its tracks. */
async function silentServer(): Promise<{ port: number; close(): Promise<void> }> {
  const open = new Set<Socket>();
  const server: Server = createServer((socket) => open.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
