import { join } from 'node:path';
import { expect } from 'vitest';
import { deliverWebhook } from '#api/jobs/deliver-webhook.ts';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import { startJobs } from '#api/jobs/start.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { startWebhookReceiver } from '#ops/dev/webhook-receiver.ts';
import type { Answer } from '#test/contract/client.ts';
import type { Random } from '#test/simulation/random.ts';
import { type Front, openFront } from './front.ts';
import type { River } from './river.ts';
import { mineSome, type RiverRow, unread } from './rows-of-the-river.ts';

const MINUTE = 60;
/** What makes a process ill when it is told to. */
const ILLNESS = join(process.cwd(), 'test/faults/illness.cjs');

/** Ends every connection of the processes under test from the server's side, as a restart of it does. */
async function endSessions(river: River): Promise<void> {
  await river.world.database.sql`
    select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'river%'`;
}

/** Calls that create payments, each under a key of its own, until they are told to stop. */
function underLoad(front: Front, random: Random) {
  const answers = new Map<string, Answer>();
  let on = true;
  const body = { currencyCode: 'USD', amount: '7', checkoutMode: 'API', webhookUrl: 'http://127.0.0.1:4242/webhook' };
  const ask = (key: string): Promise<Answer> => front.call('POST', '/payments', { headers: { 'idempotency-key': key }, body });
  const lane = async (name: number): Promise<void> => {
    for (let round = 0; on && round < 200; round++) {
      const key = `load-${name}-${round}-${random.below(1_000_000)}`;
      answers.set(key, await ask(key));
    }
  };
  const lanes = Promise.all(Array.from({ length: 4 }, (_, name) => lane(name)));
  return {
    answers,
    ask,
    async stop(): Promise<void> {
      on = false;
      await lanes;
    },
  };
}

/** Every key made one payment, however often it was asked: those that were refused are asked again and make theirs now. */
async function expectOneEach(river: River, front: Front, load: ReturnType<typeof underLoad>): Promise<void> {
  const statuses = new Set([...load.answers.values()].map(({ status }) => status));
  expect([201, 503]).toEqual(expect.arrayContaining([...statuses]));
  for (const answer of load.answers.values()) if (answer.status === 503) expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  const again = new Map<string, Answer>();
  for (const key of load.answers.keys()) again.set(key, await load.ask(key));
  for (const [key, answer] of load.answers) if (answer.status === 201) expect(again.get(key)?.data.paymentUid).toBe(answer.data.paymentUid);
  expect(new Set([...again.values()].map(({ status }) => status))).toEqual(new Set([201]));
  const rows = await river.world.database.sql`select 1 from payments where gateway_id = ${front.id}`;
  expect(rows).toHaveLength(load.answers.size);
}

export const OUTAGE_ROWS: readonly RiverRow[] = [
  {
    row: 'F30',
    name: 'Redis is away for half an hour: payments are made, expire and are told of; deposits of that time are booked afterwards',
    async play(river, random) {
      const receiver = await startWebhookReceiver();
      const front = await openFront(await river.http());
      const offers = await river.offers(2, random);
      river.redis.add(random.chance(0.5) ? { type: 'down' } : { type: 'timeout', timeout: 0 });
      const config = { ...river.deps.config, REDIS_URL: river.redis.url(river.world.redis.url) };
      const jobs = await startJobs(
        { ...river.deps, config },
        { jobs: [deliverWebhook], periodic: { expire: { ...periodicWork['expire-payments'], everySeconds: 1 }, credit: periodicWork['credit-deposits'] } },
      );
      try {
        const paid = await mineSome(river, offers, random);
        const body = { currencyCode: 'USD', amount: '7', checkoutMode: 'API', timeoutSeconds: 10 * MINUTE, webhookUrl: receiver.url };
        const made = await front.call('POST', '/payments', { body });
        expect(made.status).toBe(201);
        const paymentUid = String(made.data.paymentUid);
        for (let minute = 0; minute < 30; minute += 10) await river.pass(10 * MINUTE);
        const told = await waitFor(() => receiver.received.find((one) => one.body.includes(paymentUid)), { what: 'the webhook of the expired payment' });
        expect(JSON.parse(told.body)).toEqual({ paymentId: paymentUid, status: 'EXPIRED' });
        river.redis.mend();
        river.hurry(5);
        await river.expectCredited(paid);
      } finally {
        await jobs.stop();
        await receiver.stop();
      }
    },
  },
  {
    row: 'F33',
    name: 'Postgres restarts under load: calls are answered or refused with 503 and Retry-After, and each key has one effect',
    async play(river, random) {
      const front = await openFront(await river.http());
      const offers = await river.offers(2, random);
      const load = underLoad(front, random);
      await waitFor(() => load.answers.size > 5, { what: 'the load' });
      const paid = await river.send(offers);
      await river.chain.mine();
      const fault = random.pick(['restart', 'cut', 'frozen'] as const);
      if (fault === 'restart') await endSessions(river);
      river.postgres.add(fault === 'frozen' ? { type: 'timeout', timeout: 0 } : { type: 'down' });
      const before = load.answers.size;
      await river.chain.mine();
      await waitFor(() => load.answers.size > before + 8, { what: 'calls to be refused', timeoutMs: 60_000 });
      river.postgres.mend();
      await waitFor(() => [...load.answers.values()].at(-1)?.status === 201, { what: 'calls to be answered again' });
      await load.stop();
      await expectOneEach(river, front, load);
      await river.expectCredited(paid);
    },
  },
  {
    row: 'F37',
    name: 'a full disk or a primary that became read-only: nothing is half done, calls get 503, and Redis keeps what was not applied',
    async play(river, random) {
      const { sql } = river.world.database;
      const front = await openFront(await river.http());
      const full = random.chance(0.5);
      const tables = ['chain_blocks', 'payments', 'ledger_transactions', 'webhook_events'];
      // A server that turned read-only also ends its sessions. A setting would be no imitation: transactions of ours begin as READ WRITE.
      const [problem, code] = full
        ? ['could not extend file: No space left on device', '53100']
        : ['cannot execute INSERT in a read-only transaction', '25006'];
      const repair = async (): Promise<void> => {
        for (const table of tables) await sql.unsafe(`drop trigger if exists no_room on ${table}`);
        if (!full) await endSessions(river);
      };
      try {
        const offers = await river.offers(2, random);
        await sql.unsafe(`create or replace function no_room() returns trigger language plpgsql as $$ begin
          raise exception '${problem}' using errcode = '${code}'; end $$`);
        for (const table of tables) await sql.unsafe(`create trigger no_room before insert on ${table} for each row execute function no_room()`);
        if (!full) await endSessions(river);
        const tip = await river.tip();
        const paid = await mineSome(river, offers, random);
        const key = `full-${random.below(1_000_000)}`;
        const body = { currencyCode: 'USD', amount: '7', checkoutMode: 'API', webhookUrl: 'http://127.0.0.1:4242/webhook' };
        const ask = () => front.call('POST', '/payments', { headers: { 'idempotency-key': key }, body });
        const refused = await ask();
        expect(refused.status).toBe(503);
        expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
        await waitFor(async () => (await unread(river)) > 0, { what: 'a block that cannot be stored' });
        expect((await river.tip())?.hash).toBe(tip?.hash);
        expect(await sql`select 1 from payments where gateway_id = ${front.id}`).toHaveLength(0);
        await repair();
        // Those whose sessions were ended find out one by one.
        await waitFor(async () => (await ask()).status === 201, { what: 'the call to be answered' });
        await river.expectCredited(paid);
      } finally {
        await repair();
      }
    },
  },
  {
    row: 'F47',
    name: 'an indexer whose loop is blocked, or whose heap is full, is ended by its watchdog, and its successor goes on where it stood',
    async play(river, random) {
      const offers = await river.offers(4, random);
      await river.stopIndexer();
      const blocked = !random.chance(0.5);
      const ill = await river.spawnIndexer({ env: { NODE_OPTIONS: `--require ${ILLNESS}${blocked ? '' : ' --max-old-space-size=96'}` } });
      const paid = await mineSome(river, offers.slice(0, 2), random);
      await river.caughtUp();
      process.kill(ill.pid, blocked ? 'SIGUSR2' : 'SIGHUP');
      paid.push(...(await mineSome(river, offers.slice(2), random)));
      const { code, signal } = await ill.exited;
      // With a heap this full the engine may be quicker.
      expect(blocked ? [signal] : [code === 1 || signal !== null]).toEqual([blocked ? 'SIGKILL' : true]);
      if (blocked) expect(ill.lines.join('\n')).toContain('the event loop was blocked');
      // Nobody gave the lease up: it ran out meanwhile.
      river.startIndexer();
      await river.expectCredited(paid);
    },
  },
];
