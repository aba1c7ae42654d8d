import { randomUUID } from 'node:crypto';
import { Queue } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Gateway } from '#api/deps.ts';
import { work } from '#api/jobs/all-work.ts';
import { runJob } from '#api/jobs/run-job.ts';
import { type Jobs, queuePrefix, startJobs } from '#api/jobs/start.ts';
import { getSettlement } from '#api/settlements/view.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { aTreasury, type Treasury } from '#test/fixtures/treasury.ts';

/** Whoever writes to Redis; forged block messages are looked at in test/integration/consumer.test.ts. */
describe('whoever writes to Redis', () => {
  let treasury: Treasury;
  let shop: Gateway;
  let jobs: Jobs;
  beforeEach(async () => {
    treasury = await aTreasury();
    shop = await treasury.world.aGateway({ cashout: { enabled: true, approvalCapUsd: '5' } });
    await treasury.earn(shop, 'USDT', '100');
    jobs = await startJobs(treasury.deps, { jobs: work.jobs, periodic: {} });
  });
  afterEach(async () => {
    await jobs.stop();
    await treasury.stop();
  });

  it('has nothing sent that waits for a person, and nothing twice, by any job they make up', async () => {
    const held = await treasury.cashOut(shop, 'USDT', '50');
    expect(held.status).toBe('PENDING_APPROVAL');
    const free = await treasury.cashOut(shop, 'USDT', '4');
    await waitFor(async () => (await treasury.world.database.sql`select 1 from payouts where status = 'PLANNED'`).length > 0, {
      what: 'a payout to be planned',
    });
    const outbox = await treasury.world.database.sql<{ id: string }[]>`select id from outbox`;
    const { REDIS_URL } = treasury.deps.config;
    const [database] = await treasury.world.database.sql<[{ name: string }]>`select current_database() as name`;
    let made = 0;
    for (const { topic } of work.jobs) {
      const queue = new Queue(topic, { connection: { url: REDIS_URL }, prefix: queuePrefix(database.name) });
      for (const id of [held.id, free.id, randomUUID(), "'; drop table settlements; --", ...outbox.map((row) => row.id)])
        for (const data of [id, { rows: [{ id, claims: 0 }], refId: held.id }, { refId: held.id }]) {
          await queue.add(topic, data, { jobId: randomUUID() });
          made += 1;
        }
      await waitFor(async () => (await queue.getJobCounts('waiting', 'active', 'delayed')).waiting === 0, { what: 'all of them to be run' });
      await queue.close();
    }
    expect(made).toBeGreaterThan(50);
    await treasury.settleAll();
    expect((await getSettlement(treasury.deps, { gateway: shop, id: held.id })).status).toBe('PENDING_APPROVAL');
    const paid = await treasury.world.database.sql`select settlement_id, count(*)::int as payouts from payouts where purpose = 'settlement' group by 1`;
    expect(paid).toEqual([{ settlementId: free.id, payouts: 1 }]);
    await treasury.audit();
  });

  it('has no row of one kind closed by the work of another, which would lose a webhook', async () => {
    const { sql } = treasury.world.database;
    await jobs.stop();
    const refId = randomUUID();
    const [row] = await sql<{ id: string }[]>`
      insert into outbox (id, topic, ref_id, due_at) values (${randomUUID()}, 'webhook.deliver', ${refId}, sluice_now()) returning id`;
    for (const job of work.jobs.filter(({ topic }) => topic !== 'webhook.deliver'))
      expect([job.topic, await runJob(treasury.deps, job, (row as { id: string }).id)]).toEqual([job.topic, 'not-run']);
    expect(await sql`select state, claims from outbox where ref_id = ${refId}`).toEqual([{ state: 'due', claims: 0 }]);
  });
});
