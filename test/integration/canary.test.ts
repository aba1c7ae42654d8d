import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Deps } from '#api/deps.ts';
import { type Canary, startCanary } from '#api/jobs/canary.ts';
import { operator } from '#ops/dev/client.ts';
import { waitFor } from '#ops/dev/services/wait.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import { connect } from '#shared/platform/postgres.ts';
import { type Listening, listen } from '#test/contract/service.ts';
import { type InProcess, inProcess } from '#test/harness/in-process.ts';
import { TEST_SECRETS } from '#test/harness/world.ts';

let world: InProcess;
let http: Listening;
let keyFile: string;
let apiKey: string;
beforeAll(async () => {
  world = await inProcess();
  http = await listen(world.deps);
  const control = operator(`${http.origin}/operator/v1`, TEST_SECRETS.SLUICE_OPERATOR_TOKEN);
  apiKey = ((await control.must('POST', '/gateways', { body: { name: 'Canary' } })) as { apiKey: string }).apiKey;
  keyFile = join(inject('services').directory, `canary-${randomUUID()}.key`);
});
afterAll(async () => {
  await http.close();
  await world.stop();
});

interface Replica {
  canary: Canary;
  /** The gauge, once it is there. */
  shown(): Promise<number>;
  problems: string[];
}

/** One worker's canary, which looks ten times a second whether so many seconds have passed since anybody's last payment. */
function aReplica(everySeconds: number, db: Deps['db'] = world.deps.db): Replica {
  const metrics = createApiMetrics('test');
  const problems: string[] = [];
  const log = { ...world.deps.log, debug: () => undefined, error: ({ problem }: { problem: string }) => problems.push(problem) } as unknown as Deps['log'];
  const pace = { everySeconds, lookMilliseconds: 100, firstLookMilliseconds: 0 };
  const canary = startCanary({ ...world.deps, db, log, metrics }, { url: `${http.origin}/api/v1`, keyFile, ...pace });
  return {
    canary,
    problems,
    shown: () =>
      waitFor(async () => /^sluice_canary_last_success_timestamp_seconds (\S+)$/m.exec((await metrics.scrape()).body)?.[1], {
        what: 'the gauge',
        everyMs: 100,
      }).then(Number),
  };
}

const payments = () => world.database.sql<{ status: string; sandbox: boolean; isVerified: boolean }[]>`
  select status, sandbox, is_verified from payments`;

describe('the canary', () => {
  it('shows 0 while it never succeeded, and says at which step and why, without the key', async () => {
    await writeFile(keyFile, 'sluice_test_wrongwrongwrongwrong\n');
    const replica = aReplica(3_600);
    expect(await replica.shown()).toBe(0);
    expect(replica.problems).toEqual([expect.stringMatching(/^POST \/payments: 401 auth_api_key_invalid: /)]);
    expect(replica.problems.join()).not.toContain('wrongwrong');
    await replica.canary.stop();
    expect(await world.database.sql`select succeeded_at, problem from canary`).toEqual([
      { succeededAt: null, problem: expect.stringContaining('auth_api_key_invalid') },
    ]);
  });

  it('takes one whole payment between all workers, with the key as its file has it now, and every worker shows when', async () => {
    await writeFile(keyFile, `${apiKey}\n`);
    await world.database.sql`update canary set attempted_at = now() - interval '1 hour'`;
    const replicas = [aReplica(60), aReplica(60), aReplica(60)];
    await waitFor(async () => (await payments()).some((one) => one.isVerified), { what: 'a payment', everyMs: 100 });
    await waitFor(async () => (await Promise.all(replicas.map((one) => one.shown()))).every((at) => at > 0), { what: 'all to show it', everyMs: 100 });
    const shown = await Promise.all(replicas.map((one) => one.shown()));
    expect(new Set(shown).size).toBe(1);
    expect(Math.abs(Date.now() / 1_000 - (shown[0] as number))).toBeLessThan(60);
    expect(await payments()).toEqual([{ status: 'SUCCESS', sandbox: true, isVerified: true }]);
    await Promise.all(replicas.map((one) => one.canary.stop()));
  });

  it('is not asked about by the worker that paid until the next payment is due', async () => {
    await world.database.sql`update canary set attempted_at = now() - interval '2 hours'`;
    const asked = { paid: 0, other: 0 };
    const counting = (who: keyof typeof asked) => connect(world.database.url, { name: 'sluice-test', observe: () => void asked[who]++ });
    const [paidBy, otherBy] = [counting('paid'), counting('other')];
    const paid = aReplica(3_600, paidBy);
    expect(await paid.shown()).toBeGreaterThan(0);
    const before = asked.paid;
    const other = aReplica(3_600, otherBy);
    await waitFor(() => asked.other >= 4, { what: 'another worker to look again and again', everyMs: 100 });
    expect(asked.paid).toBe(before);
    await Promise.all([paid, other].map((one) => one.canary.stop()));
    await Promise.all([paidBy.end(), otherBy.end()]);
  });

  it('keeps the time of the last success when the api is gone', async () => {
    const [before] = await world.database.sql<[{ at: Date }]>`select succeeded_at as at from canary`;
    await http.close();
    const replica = aReplica(0);
    await waitFor(async () => replica.problems.length > 1, { what: 'failures', everyMs: 100 });
    expect(replica.problems[0]).toMatch(/^POST \/payments: .*ECONNREFUSED/);
    expect(await replica.shown()).toBeCloseTo(before.at.getTime() / 1_000, 3);
    await replica.canary.stop();
  });
});
