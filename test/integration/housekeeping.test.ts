import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { forgetDoneJobs } from '#api/jobs/forget-done-jobs.ts';
import { reportPayments } from '#api/jobs/report-payments.ts';
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

    expect(await forgetDoneJobs.run(world.deps)).toBe(1);
    expect((await sql<{ state: string }[]>`select state from outbox order by id`).map((one) => one.state)).toEqual(['done', 'due', 'dead']);
    await world.advance(2 * DAY);
    expect(await forgetDoneJobs.run(world.deps)).toBe(1);
    expect(await forgetDoneJobs.run(world.deps)).toBe(0);
  });
});

describe('sluice_payments_overdue', () => {
  it('counts unpaid payments from a minute after their deadline on', async () => {
    const metrics = createApiMetrics('test');
    const deps = { ...world.deps, metrics };
    const gateway = await world.aGateway();
    const body = { currencyCode: 'USD', amount: '10', callbackUrl: 'http://localhost/back', timeoutSeconds: 60 };
    await createPayment(deps, { gateway, body, clientIp: '127.0.0.1', commit: (work) => world.database.transaction(work) });
    const overdue = async (): Promise<string | undefined> => {
      await reportPayments.run(deps);
      return /^sluice_payments_overdue (\d+)$/m.exec((await metrics.scrape()).body)?.[1];
    };

    expect(await overdue()).toBe('0');
    await world.advance(90);
    expect(await overdue()).toBe('0');
    await world.advance(60);
    expect(await overdue()).toBe('1');
  });
});
