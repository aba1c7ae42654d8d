import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { periodicWork } from '#api/jobs/periodic-work.ts';
import { reportDispatch, reportJobs, reportPayments, reportProcesses } from '#api/jobs/reports.ts';
import { createPayment } from '#api/payments/create.ts';
import { POLICY } from '#shared/core/policy.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import { type InProcess, inProcess } from '#test/harness/in-process.ts';

const DAY = 86_400;
let world: InProcess;
beforeEach(async () => {
  world = await inProcess();
});
afterEach(() => world.stop());

describe('the outbox', () => {
  it('forgets what has been done for longer than POLICY says, and nothing else', async () => {
    const { sql } = world.database;
    const row = (id: string, state: string, daysAgo: number) => sql`
      insert into outbox (id, topic, ref_id, state, due_at) values (${id}, 'webhook.deliver', gen_random_uuid(), ${state}, sluice_now() - make_interval(days => ${daysAgo}))`;
    const old = POLICY.doneJobsKeptDays + 1;
    await row('00000000-0000-4000-8000-000000000001', 'done', old);
    await row('00000000-0000-4000-8000-000000000002', 'done', POLICY.doneJobsKeptDays - 1);
    await row('00000000-0000-4000-8000-000000000003', 'due', old);
    await row('00000000-0000-4000-8000-000000000004', 'dead', old);

    expect(await periodicWork['forget-done-jobs'].run(world.deps)).toBe(1);
    expect((await sql<{ state: string }[]>`select state from outbox order by id`).map((one) => one.state)).toEqual(['done', 'due', 'dead']);
    await world.advance(2 * DAY);
    expect(await periodicWork['forget-done-jobs'].run(world.deps)).toBe(1);
    expect(await periodicWork['forget-done-jobs'].run(world.deps)).toBe(0);
  });
});

describe('a job that was given up', () => {
  const row = (refId: string, state: string, minutesAgo: number) => world.database.sql`
    insert into outbox (id, topic, ref_id, state, due_at, created_at)
    select gen_random_uuid(), 'payout.broadcast', ${refId}, ${state}, at, at from (select sluice_now() - make_interval(mins => ${minutesAgo}) as at) a`;
  const DAY_MINUTES = 1_440;
  const [mended, lost] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'];
  const states = async (): Promise<string[]> =>
    (await world.database.sql<{ state: string }[]>`select state from outbox order by ref_id, created_at`).map(({ state }) => state);

  it('is told of until something else has done it, and not for ever after', async () => {
    const metrics = createApiMetrics('test');
    const dead = async (): Promise<string | undefined> => {
      await reportJobs({ ...world.deps, metrics });
      return /^sluice_jobs\{queue="payout.broadcast",state="dead"\} (\d+)$/m.exec((await metrics.scrape()).body)?.[1];
    };
    await row(mended, 'dead', 30);
    await row(lost, 'dead', 30);
    expect(await dead()).toBe('2');
    await row(mended, 'due', 20);
    expect(await dead()).toBe('1');
    await world.database.sql`update outbox set state = 'done' where state = 'due'`;
    expect(await dead()).toBe('1');
  });

  it('is forgotten with what has done it, and never before', async () => {
    const old = (POLICY.doneJobsKeptDays + 1) * DAY_MINUTES;
    await row(mended, 'dead', old);
    await row(mended, 'done', old - 20);
    await row(lost, 'dead', old + 20);
    await row(lost, 'dead', old);
    expect(await periodicWork['forget-done-jobs'].run(world.deps)).toBe(3);
    expect(await states()).toEqual(['dead']);
    expect(await periodicWork['forget-done-jobs'].run(world.deps)).toBe(0);
  });
});

describe('sluice_payments_overdue', () => {
  it('counts unpaid payments from a minute after their deadline on', async () => {
    const metrics = createApiMetrics('test');
    const deps = { ...world.deps, metrics };
    const gateway = await world.aGateway();
    const body = { currencyCode: 'USD', amount: '10', callbackUrl: 'http://localhost/back', timeoutSeconds: 60 };
    await createPayment(deps, { gateway, body, clientIp: '127.0.0.1', commit: (work) => world.deps.db.transaction(work) });
    const overdue = async (): Promise<string | undefined> => {
      await reportPayments(deps);
      return /^sluice_payments_overdue (\d+)$/m.exec((await metrics.scrape()).body)?.[1];
    };

    expect(await overdue()).toBe('0');
    await world.advance(90);
    expect(await overdue()).toBe('0');
    await world.advance(60);
    expect(await overdue()).toBe('1');
  });
});

describe('what a worker shows of the other processes', () => {
  it('is what Postgres knows: a network whose leases ran out is attended by nobody, and a signer that stopped reporting is silent', async () => {
    const { sql } = world.database;
    const metrics = createApiMetrics('test');
    const shown = async (name: string): Promise<Record<string, number>> => {
      await reportProcesses({ ...world.deps, metrics });
      const lines = (await metrics.scrape()).body.split('\n').filter((line) => line.startsWith(name));
      return Object.fromEntries(lines.map((line) => [line.replace(/ \S+$/, ''), Number((/ (\S+)$/.exec(line)?.[1] ?? '').replace('+Inf', 'Infinity'))]));
    };
    const [network] = [...world.deps.chains.keys()];
    const attended = (by: string): string => `sluice_chain_attended{chain="${network}",by="${by}"}`;
    await sql`delete from indexer_leases`;
    expect(await shown('sluice_chain_attended')).toMatchObject({ [attended('indexer')]: 0, [attended('worker')]: 0 });
    expect(await shown('sluice_signer_silence_seconds')).toEqual({ sluice_signer_silence_seconds: Number.POSITIVE_INFINITY });

    await sql`insert into consumer_leases (network_id, holder, fence, expires_at)
      select id, 'w', 1, clock_timestamp() + interval '1 hour' from networks on conflict (network_id) do update set expires_at = excluded.expires_at`;
    await sql`insert into signer_reports (state, reason, unknown) values ('open', '', 0)`;
    expect(await shown('sluice_chain_attended')).toMatchObject({ [attended('indexer')]: 0, [attended('worker')]: 1 });
    await world.advance(300);
    expect((await shown('sluice_signer_silence_seconds')).sluice_signer_silence_seconds).toBeGreaterThanOrEqual(300);

    await sql`update consumer_leases set expires_at = clock_timestamp()`;
    expect(await shown('sluice_chain_attended')).toMatchObject({ [attended('worker')]: 0 });
    const connections = await shown('sluice_postgres_connections');
    expect(connections['sluice_postgres_connections{state="used"}']).toBeGreaterThan(0);
    expect(connections['sluice_postgres_connections{state="limit"}']).toBeGreaterThan(connections['sluice_postgres_connections{state="used"}'] as number);
  });
});

describe('sluice_dispatch_stops', () => {
  it('counts freezes and halted wallets by kind, and goes back to 0 when they are lifted', async () => {
    const { sql } = world.database;
    const metrics = createApiMetrics('test');
    const stops = async (): Promise<Record<string, string>> => {
      await reportDispatch({ ...world.deps, metrics });
      const { body } = await metrics.scrape();
      return Object.fromEntries([...body.matchAll(/^sluice_dispatch_stops\{kind="(\w+)"\} (\d+)$/gm)].map(([, kind, count]) => [kind, count]));
    };
    const none = { all: '0', network: '0', asset: '0', wallet: '0' };

    expect(await stops()).toEqual(none);
    await sql`insert into freezes (scope, reason) values ('network:ethereum', 'r'), ('network:tron', 'r'), ('all', 'r')`;
    await sql`
      insert into wallets (id, network_id, role, address, derivation_path, halted_reason)
      values (gen_random_uuid(), ${world.network.id}, 'hot', '0xd8da6bf26964af9d7eed9e03e53415d37aa96045', 'm/0', 'r')`;
    expect(await stops()).toEqual({ ...none, all: '1', network: '2', wallet: '1' });
    await sql`delete from freezes`;
    await sql`update wallets set halted_reason = null`;
    expect(await stops()).toEqual(none);
  });
});
