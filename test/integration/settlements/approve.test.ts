import { randomUUID } from 'node:crypto';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Commit, Deps, Gateway } from '#api/deps.ts';
import { committer, fingerprint } from '#api/http/idempotency.ts';
import { enrolTotp } from '#api/operator/gateways.ts';
import { showSettlement } from '#api/operator/timelines.ts';
import { approveSettlement } from '#api/settlements/approve.ts';
import { createSettlement } from '#api/settlements/create.ts';
import { getSettlement, type SettlementView } from '#api/settlements/view.ts';
import type { ServiceError } from '#shared/core/errors.ts';
import { POLICY } from '#shared/core/policy.ts';
import { createApiMetrics } from '#shared/platform/metrics.ts';
import { aTreasury, type Treasury } from '#test/fixtures/treasury.ts';
import { times } from '#test/harness/counts.ts';
import { plainCommit } from '#test/harness/in-process.ts';

const DELAY = 120;
/** Everything above three dollars waits for a person. */
const SETTINGS = { cashout: { enabled: true, approvalCapUsd: '3', dispatchDelaySeconds: DELAY } };
const metrics = createApiMetrics('test');

let treasury: Treasury;
let deps: Deps;
let shop: Gateway;
let secret: string;
beforeAll(async () => {
  treasury = await aTreasury();
  deps = { ...treasury.deps, metrics };
});
afterAll(async () => {
  try {
    await treasury.audit();
  } finally {
    await treasury.stop();
  }
});
beforeEach(async () => {
  shop = await treasury.world.aGateway(SETTINGS);
  await treasury.earn(shop, 'USDT', '50');
  secret = await enrol();
});

const sql = () => treasury.world.database.sql;
async function enrol(gateway = shop): Promise<string> {
  const { data } = await enrolTotp(deps, { params: { id: gateway.id }, query: {}, body: {} });
  return (data as { secret: string }).secret;
}
/** The authenticator's code now, or some steps earlier or later. */
const code = (steps = 0, of = secret): string => generateSync({ secret: of, epoch: Math.floor(Date.now() / 1000) + steps * POLICY.totpStepSeconds });
/** Six digits that no step near now has. */
function wrongCode(): string {
  const right = new Set([-2, -1, 0, 1, 2].map((steps) => code(steps)));
  return ['111111', '222222', '333333', '444444', '555555', '666666'].find((one) => !right.has(one)) as string;
}
async function waiting(amount = '5', gateway = shop): Promise<SettlementView> {
  const view = await treasury.cashOut(gateway, 'USDT', amount);
  expect(view.status).toBe('PENDING_APPROVAL');
  return view;
}
async function approve(id: string, totpCode: unknown, { commit = plainCommit(deps), gateway = shop }: { commit?: Commit; gateway?: Gateway } = {}) {
  const reply = await approveSettlement(deps, { gateway, id, totpCode, commit });
  return reply.data as SettlementView;
}
/** What a call comes to: `200`, or the error's code. */
const outcome = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => '200',
    (error: ServiceError) => error.code ?? String(error),
  );
const failure = (call: Promise<unknown>): Promise<ServiceError> =>
  call.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: ServiceError) => error,
  );
const statusOf = async (id: string) => (await getSettlement(deps, { gateway: shop, id })).status;
const accepted = async () =>
  (await sql()<{ n: number }[]>`select count(*) as n from totp_acceptances a join gateway_secrets s on s.id = a.secret_id where s.gateway_id = ${shop.id}`)[0]
    ?.n;
const failures = async () => (await sql()<{ failures: number }[]>`select failures from totp_guards where gateway_id = ${shop.id}`)[0]?.failures ?? 0;

describe('approving a cashout', () => {
  it('answers it REQUESTED and starts the delay of its gateway now, not when it was created', async () => {
    const { id } = await waiting();
    await treasury.world.advance(1_000);
    expect(await approve(id, code())).toMatchObject({ id, status: 'REQUESTED', amount: '5' });
    const [row] = await sql()<{ delay: number; due: number }[]>`
      select extract(epoch from s.dispatch_at - e.at)::int as delay, extract(epoch from o.due_at - s.dispatch_at)::int as due
      from settlements s join settlement_events e on e.settlement_id = s.id and e.event = 'APPROVED' join outbox o on o.ref_id = s.id where s.id = ${id}`;
    expect(row).toEqual({ delay: DELAY, due: 0 });
  });

  it('asks in the order shape, existence, enrolment, state, code', async () => {
    const stranger = await treasury.world.aGateway(SETTINGS);
    const { id } = await waiting();
    for (const malformed of ['12345', '1234567', '12345a', ' 12345', '１２３４５６', 123_456, null, undefined, ''])
      expect(await failure(approve(randomUUID(), malformed))).toMatchObject({ code: 'validation_error', field: 'totpCode' });
    // Not ours is as unknown as never made, before anybody is told to enrol.
    for (const unknown of [id, randomUUID(), 'x']) expect(await outcome(approve(unknown, code(), { gateway: stranger }))).toBe('not_found');
    await treasury.earn(stranger, 'USDT', '10');
    const theirs = await waiting('5', stranger);
    expect(await outcome(approve(theirs.id, code(), { gateway: stranger }))).toBe('totp_not_enrolled');
    // Exactly at the cap nobody is asked.
    const free = await treasury.cashOut(shop, 'USDT', '3');
    expect([free.status, await outcome(approve(free.id, wrongCode()))]).toEqual(['REQUESTED', 'conflict']);
    expect(await outcome(approve(id, wrongCode()))).toBe('totp_required');
    expect(await failures()).toBe(1);
  });

  it('uses no code up, and counts none, on a cashout that does not wait any more', async () => {
    const [first, second] = [await waiting(), await waiting()];
    await approve(first.id, code());
    for (const tried of [code(), wrongCode(), code(1)]) expect(await outcome(approve(first.id, tried))).toBe('conflict');
    expect([await failures(), await accepted()]).toEqual([0, 1]);
    expect((await approve(second.id, code(1))).status).toBe('REQUESTED');
  });

  it('takes the code of one step before and one after, each once, and none further off', async () => {
    const ids = [];
    for (let n = 0; n < 4; n++) ids.push((await waiting('4')).id);
    const [a, b, c, d] = ids as [string, string, string, string];
    // Fetched at once, so that a step that ends meanwhile leaves the later two in reach.
    const [before, now, after] = [code(-1), code(), code(1)];
    expect(await outcome(approve(a, now))).toBe('200');
    expect(await outcome(approve(b, after))).toBe('200');
    for (const used of [now, after]) expect(await outcome(approve(c, used))).toBe('totp_required');
    for (const far of [code(-3), code(4)]) expect(await outcome(approve(c, far))).toBe('totp_required');
    expect(['200', 'totp_required']).toContain(await outcome(approve(d, before)));
    expect(await statusOf(c)).toBe('PENDING_APPROVAL');
  });

  it('accepts one of any number of calls that bring one code for different cashouts at once', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => waiting('4').then(({ id }) => id)));
    const shared = code();
    const outcomes = await Promise.all(ids.map((id) => outcome(approve(id, shared))));
    expect(outcomes.sort()).toEqual(['200', ...Array.from({ length: 7 }, () => 'totp_required')]);
    const statuses = await Promise.all(ids.map(statusOf));
    expect(statuses.filter((one) => one === 'REQUESTED')).toHaveLength(1);
    // A code that was right is no guess.
    expect([await failures(), await accepted()]).toEqual([0, 1]);
  });

  it('happens once however many calls approve one cashout at once', async () => {
    const { id } = await waiting();
    const outcomes = await Promise.all([code(), code(1), code(), code(1), code(), code(1)].map((each) => outcome(approve(id, each))));
    expect(outcomes.filter((one) => one === '200')).toHaveLength(1);
    expect(outcomes.filter((one) => one === 'conflict' || one === 'totp_required')).toHaveLength(5);
    const [row] = await sql()<{ events: number; jobs: number }[]>`
      select (select count(*) from settlement_events where settlement_id = ${id} and event = 'APPROVED') as events,
        (select count(*) from outbox where ref_id = ${id} and topic = 'settlement.dispatch') as jobs`;
    expect(row).toEqual({ events: 1, jobs: 1 });
    expect(await accepted()).toBe(1);
  });
});

describe('wrong codes', () => {
  it('lock the account at the fifth for a quarter of an hour, for right codes too, and use none of those up', async () => {
    const { id } = await waiting();
    for (let n = 0; n < POLICY.totpFailuresUntilLock; n++) expect(await outcome(approve(id, wrongCode()))).toBe('totp_required');
    const refused = await failure(approve(id, code()));
    expect(refused).toMatchObject({ code: 'rate_limit_exceeded', status: 429 });
    expect(refused.retryAfterSeconds).toBeGreaterThan(POLICY.totpLockSeconds - 60);
    expect(refused.retryAfterSeconds).toBeLessThanOrEqual(POLICY.totpLockSeconds);
    await treasury.world.advance(POLICY.totpLockSeconds - 60);
    expect((await failure(approve(id, code()))).retryAfterSeconds).toBeLessThanOrEqual(60);
    await treasury.world.advance(60);
    // One wrong code after the lock is the first of another five.
    expect(await outcome(approve(id, wrongCode()))).toBe('totp_required');
    expect((await approve(id, code())).status).toBe('REQUESTED');
    expect(await failures()).toBe(0);
  });

  it('are counted although the call they came with is rolled back, key and all, and the key may be used again', async () => {
    const { id } = await waiting();
    const scope = { gatewayId: shop.id, operation: 'approveSettlement', key: randomUUID() };
    const keyed = (body: string) => committer(deps, { scope, fingerprint: fingerprint('POST', `/x/${id}`, Buffer.from(body)) });
    expect(await outcome(approve(id, wrongCode(), { commit: keyed('wrong').commit }))).toBe('totp_required');
    expect(await failures()).toBe(1);
    expect(await sql()`select 1 from idempotency_keys where key = ${scope.key}`).toEqual([]);
    const right = code();
    expect((await approve(id, right, { commit: keyed(right).commit })).status).toBe('REQUESTED');
    // The same call again gets the same reply, although its code is used up and its cashout decided.
    const again = keyed(right);
    expect((await approve(id, right, { commit: again.commit })).status).toBe('REQUESTED');
    expect(again.replayed()).toMatchObject({ status: 200 });
    expect(await outcome(approve(id, right, { commit: keyed('other').commit }))).toBe('idempotency_conflict');
  });

  it('are never more than five, however many are tried at once', async () => {
    const { id } = await waiting();
    const outcomes = await Promise.all(Array.from({ length: times(600) }, () => outcome(approve(id, wrongCode()))));
    expect(outcomes.filter((one) => one === 'totp_required')).toHaveLength(POLICY.totpFailuresUntilLock);
    expect(outcomes.filter((one) => one === 'rate_limit_exceeded')).toHaveLength(outcomes.length - POLICY.totpFailuresUntilLock);
    expect((await metrics.scrape()).body).toMatch(/sluice_totp_checks_total\{result="locked"\} [1-9]/);
  });

  it('of one gateway lock no other', async () => {
    const { id } = await waiting();
    const other = await treasury.world.aGateway(SETTINGS);
    await treasury.earn(other, 'USDT', '10');
    const theirs = await enrol(other);
    for (let n = 0; n < POLICY.totpFailuresUntilLock; n++) await outcome(approve(id, wrongCode()));
    const { id: free } = await waiting('5', other);
    expect((await approve(free, code(0, theirs), { gateway: other })).status).toBe('REQUESTED');
  });
});

describe('enrolling again', () => {
  it('ends the authenticator before it, its lock, and what was used of it', async () => {
    const [first, second] = [await waiting(), await waiting()];
    for (let n = 0; n < POLICY.totpFailuresUntilLock; n++) await outcome(approve(first.id, wrongCode()));
    const old = secret;
    secret = await enrol();
    expect(await outcome(approve(first.id, code(0, old)))).toBe('totp_required');
    expect((await approve(first.id, code())).status).toBe('REQUESTED');
    expect((await approve(second.id, code(1))).status).toBe('REQUESTED');
  });
});

describe('what the approver reads', () => {
  it('has who asked for it first, and nothing that a terminal would act on', async () => {
    const body = {
      assetId: treasury.assets.USDT?.id as string,
      amount: '5',
      address: treasury.merchant,
      metadata: { about: 'rent\u001b[2J', requester: 'ada' },
    };
    const { data } = await createSettlement(deps, { gateway: shop, body, commit: plainCommit(deps) });
    const shown = await showSettlement(deps, { params: { id: (data as SettlementView).id }, query: {}, body: undefined });
    expect((shown.data as { metadata: unknown }).metadata).toEqual([
      { key: 'requester', value: 'ada' },
      { key: 'about', value: 'rent\\u{1b}[2J' },
    ]);
  });
});
