import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { runAudit } from '#api/audit/run-audit.ts';
import type { ScreeningAnswer } from '#api/clients/screening/provider.ts';
import type { Chain, Gateway, Screening } from '#api/deps.ts';
import { deleteOldScreeningDays, grantScreeningCredits, readScreeningBurn, setScreeningCredits, upsertScreeningScore } from '#api/store/screenings.ts';
import { someShops, type Shops } from '#test/fixtures/shop.ts';
import {
  aProvider,
  aScreeningGateway,
  clean,
  creditsOf,
  down,
  flagged,
  pending,
  screeningOf,
  someAddress,
  type TestProvider,
} from '#test/fixtures/screening.ts';
import { times } from '#test/harness/counts.ts';
import type { InProcess } from '#test/harness/in-process.ts';

let shops: Shops;
let world: InProcess;
let provider: TestProvider;
let screening: ReturnType<typeof screeningOf>;
beforeAll(async () => {
  shops = await someShops();
  world = shops.world;
});
afterAll(() => shops.stop());
beforeEach(() => {
  provider = aProvider();
  screening = screeningOf(world, provider);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const chain = (name = 'ethereum'): Chain => world.deps.chains.get(name) as Chain;
const ask = (gateway: Gateway, address: string, by: Screening = screening, on = chain()) => by.destination({ gateway, chain: on, address, assetId: 'any' });
const stored = (address: string) =>
  world.database.sql`select state, credit, score, source, provider_ref, problem, attempt from screenings where address = ${address} order by asked_at, id`;
/** As if the process that asks about an address had died. */
const forgetLease = (address: string) =>
  world.database.sql`update screenings set leased_until = clock_timestamp() - interval '1 hour' where address = ${address}`;
/** A promise and the means to keep it. */
function later<T>() {
  let keep: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => {
    keep = resolve;
  });
  return { promise, keep };
}
/** Shortens all deadlines until it is taken back, so that a test can wait for one to pass; what is to be in time needs the real ones. */
const shortDeadline = () => {
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  return vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(300));
};

describe('the verdict of a destination', () => {
  it('costs one credit and is pinned for a day, on every network of its family and whatever the provider says later', async () => {
    const gateway = await aScreeningGateway(world, 5);
    const address = someAddress();
    provider.says(flagged);
    expect(await ask(gateway, address)).toEqual({ score: 90 });
    provider.says(clean);
    expect(await ask(gateway, address)).toEqual({ score: 90 });
    expect(await ask(gateway, address, screeningOf(world, provider), chain('sidechain'))).toEqual({ score: 90 });
    expect(await creditsOf(world, gateway)).toEqual({ left: 4, used: 1 });
    await world.advance(86_401);
    expect(await ask(gateway, address)).toEqual({ score: 0 });
    expect(await creditsOf(world, gateway)).toEqual({ left: 3, used: 2 });
    expect(provider.asked.map((one) => one.direction === 'withdrawal' && one.address)).toEqual([
      chain().codec.display(address),
      chain().codec.display(address),
    ]);
  });

  it('is bought by each gateway for itself', async () => {
    const [one, other] = [await aScreeningGateway(world, 1), await aScreeningGateway(world, 1)];
    const address = someAddress();
    for (const gateway of [one, other]) {
      await ask(gateway, address);
      expect(await creditsOf(world, gateway)).toEqual({ left: 0, used: 1 });
    }
    expect(provider.asked).toHaveLength(2);
  });

  it('is bought once by many clients of several processes that ask at the same moment', async () => {
    const gateway = await aScreeningGateway(world, 2);
    const address = someAddress();
    const answer = later<ScreeningAnswer>();
    provider.says(() => answer.promise);
    const processes = [screening, screeningOf(world, provider), screeningOf(world, provider)];
    const asking = Array.from({ length: 12 }, (_, index) => ask(gateway, address, processes[index % 3]));
    await expect.poll(() => provider.asked).toHaveLength(1);
    answer.keep(flagged);
    expect(await Promise.all(asking)).toEqual(Array.from({ length: 12 }, () => ({ score: 90 })));
    expect(provider.asked).toHaveLength(1);
    expect(await creditsOf(world, gateway)).toEqual({ left: 1, used: 1 });
  });

  it('is not asked for, by nobody who waited, once the first was told that there is none', async () => {
    const gateway = await aScreeningGateway(world, 9);
    const address = someAddress();
    const answer = later<ScreeningAnswer>();
    provider.says(() => answer.promise);
    const asking = Array.from({ length: 6 }, () => ask(gateway, address));
    await expect.poll(() => provider.asked).toHaveLength(1);
    // Everybody has seen that somebody asks.
    await Promise.all(Array.from({ length: 6 }, () => world.database.sql`select pg_sleep(0.3)`));
    answer.keep(down);
    expect(new Set(await Promise.all(asking))).toEqual(new Set(['unavailable']));
    expect(provider.asked).toHaveLength(1);
    expect(await creditsOf(world, gateway)).toEqual({ left: 9, used: 0 });
  });
});

describe('credits', () => {
  it('are counted one by one under many clients: never below zero, never spent twice', async () => {
    const credits = times(400);
    const gateway = await aScreeningGateway(world, credits);
    const processes = [screening, screeningOf(world, provider), screeningOf(world, provider), screeningOf(world, provider)];
    const answers = await Promise.all(Array.from({ length: 3 * credits }, (_, index) => ask(gateway, someAddress(), processes[index % 4])));
    expect(answers.filter((one) => typeof one === 'object')).toHaveLength(credits);
    expect(answers.filter((one) => one === 'out_of_credit')).toHaveLength(2 * credits);
    expect(provider.asked).toHaveLength(credits);
    expect(await creditsOf(world, gateway)).toEqual({ left: 0, used: credits });
  });

  it('come back for every question without a verdict, whatever happens in between', async () => {
    const gateway = await aScreeningGateway(world, 10);
    let calls = 0;
    provider.says(async () => [clean, down, { outcome: 'no_credit' } as const, flagged][calls++ % 4] as ScreeningAnswer);
    const processes = [screening, screeningOf(world, provider)];
    const addresses = Array.from({ length: times(400) }, someAddress);
    const answers = await Promise.all(
      addresses.flatMap((address, index) => [ask(gateway, address, processes[index % 2]), ask(gateway, address, processes[(index + 1) % 2])]),
    );
    const { used } = await creditsOf(world, gateway);
    const [verdicts] = await world.database.sql`select count(*) as total from screenings where gateway_id = ${gateway.id} and state = 'verdict'`;
    expect(used).toBe(verdicts?.total);
    expect(answers.filter((one) => typeof one === 'object').length).toBeGreaterThan(0);
  });

  it('are counted by the day on which they are spent, without those that come back, are given or are set', async () => {
    const gateway = await aScreeningGateway(world, 5);
    const spent = async () => (await readScreeningBurn(world.database.as('http').sql, { gatewayId: gateway.id, days: 30 })).days[0]?.checks;
    expect(await spent()).toBe(0);
    await Promise.all([ask(gateway, someAddress()), ask(gateway, someAddress())]);
    expect(await spent()).toBe(2);
    provider.says(down);
    await ask(gateway, someAddress());
    expect(await spent()).toBe(2);
    await world.deps.db.transaction((tx) => grantScreeningCredits(tx, gateway.id, 7));
    await world.deps.db.transaction((tx) => setScreeningCredits(tx, gateway.id, 1));
    expect(await spent()).toBe(2);
  });

  it('are remembered for so many days and no longer', async () => {
    const gateway = await aScreeningGateway(world, 5);
    const { sql } = world.database;
    for (const ago of [0, 60, 61]) await sql`insert into screening_days values (${gateway.id}, (sluice_now() at time zone 'UTC')::date - ${ago}::int, 1)`;
    expect(await deleteOldScreeningDays(world.database.as('worker').sql, 60)).toBe(1);
    expect(await sql`select checks from screening_days where gateway_id = ${gateway.id}`).toHaveLength(2);
    await expect(world.database.as('http').sql`update screening_days set checks = 0`).rejects.toMatchObject({ code: '42501' });
  });

  it('run out, and go on after a top-up; what is pinned needs none', async () => {
    const gateway = await aScreeningGateway(world, 1);
    const [first, second] = [someAddress(), someAddress()];
    await ask(gateway, first);
    expect(await ask(gateway, second)).toBe('out_of_credit');
    expect(await ask(gateway, first)).toEqual({ score: 0 });
    expect(await stored(second)).toEqual([]);
    await screening.tend();
    expect(await screening.metrics.scrape().then(({ body }) => body)).toMatch(/sluice_aml_gateways_without_credit [1-9]/);
    expect(await world.deps.db.transaction((tx) => grantScreeningCredits(tx, gateway.id, 2))).toBe(2);
    expect(await ask(gateway, second)).toEqual({ score: 0 });
    expect(await creditsOf(world, gateway)).toEqual({ left: 1, used: 2 });
  });

  it('add up when they are set while some are held', async () => {
    const gateway = await aScreeningGateway(world, 2);
    const answer = later<ScreeningAnswer>();
    provider.says(() => answer.promise);
    const asking = ask(gateway, someAddress());
    await expect.poll(() => provider.asked).toHaveLength(1);
    await world.deps.db.transaction((tx) => setScreeningCredits(tx, gateway.id, 7));
    expect(await creditsOf(world, gateway)).toEqual({ left: 7, used: 1 });
    answer.keep(down);
    expect(await asking).toBe('unavailable');
    expect(await creditsOf(world, gateway)).toEqual({ left: 8, used: 0 });
  });

  it('are none for a gateway that was never given any', async () => {
    const gateway = await aScreeningGateway(world, 0);
    await world.database.sql`delete from screening_credits where gateway_id = ${gateway.id}`;
    expect(await ask(gateway, someAddress())).toBe('out_of_credit');
    expect(provider.asked).toEqual([]);
  });

  it('that went missing are found by the audit', async () => {
    const gateway = await aScreeningGateway(world, 3);
    const audited = async () => (await runAudit(world.deps.db.sql)).find((one) => one.check === 'A24')?.rows;
    expect(await audited()).toEqual([]);
    await world.database.sql`update screening_credits set credits = 2 where gateway_id = ${gateway.id}`;
    expect(await audited()).toMatchObject([{ gatewayId: gateway.id, granted: 3, credits: 2, used: 0 }]);
    await world.database.sql`update screening_credits set credits = 3 where gateway_id = ${gateway.id}`;
  });

  it('are never touched for a gateway whose screening is off', async () => {
    const gateway = await aScreeningGateway(world, 1);
    const off = { ...gateway, settings: { ...gateway.settings, screening: { enabled: false, threshold: 70 } } };
    await expect(ask(off, someAddress())).rejects.toThrow('does not screen');
    expect(await creditsOf(world, gateway)).toEqual({ left: 1, used: 0 });
  });
});

describe('a provider', () => {
  it.each<[string, ScreeningAnswer]>([
    ['is down', down],
    ['has no credit left for us', { outcome: 'no_credit' }],
  ])('that %s gives no verdict, costs nothing, and is asked the same question again', async (_case, answer) => {
    const gateway = await aScreeningGateway(world, 1);
    const address = someAddress();
    provider.says(answer);
    expect([await ask(gateway, address), await ask(gateway, address)]).toEqual(['unavailable', 'unavailable']);
    expect(await creditsOf(world, gateway)).toEqual({ left: 1, used: 0 });
    provider.says(clean);
    expect(await ask(gateway, address)).toEqual({ score: 0 });
    expect(new Set(provider.asked.map((one) => one.idempotencyKey)).size).toBe(1);
    expect(await stored(address)).toMatchObject([{ state: 'verdict', credit: true, source: 'test', attempt: 3, problem: null }]);
  });

  it('that breaks inside is one that is down', async () => {
    const gateway = await aScreeningGateway(world, 1);
    provider.says(() => Promise.reject(new Error('a bug')));
    expect(await ask(gateway, someAddress())).toBe('unavailable');
    expect(await creditsOf(world, gateway)).toEqual({ left: 1, used: 0 });
  });

  it('that answers later is asked again for the check it has, not for another', async () => {
    const gateway = await aScreeningGateway(world, 1);
    const address = someAddress();
    provider.says(pending);
    provider.saysLater(flagged);
    expect(await ask(gateway, address)).toEqual({ score: 90 });
    expect([provider.asked.length, provider.polled]).toEqual([1, ['check-1']]);
    expect(await creditsOf(world, gateway)).toEqual({ left: 0, used: 1 });
    const { body } = await screening.metrics.scrape();
    expect(body).toContain('sluice_aml_screens_total{provider="test",result="pending"} 1');
    expect(body).toContain('sluice_aml_screens_total{provider="test",result="verdict"} 1');
    expect(body).toContain('sluice_aml_screen_duration_seconds_count{provider="test"} 2');
  });

  it('that is too slow keeps the credit with the check, and whoever asks next gets its verdict', async () => {
    const gateway = await aScreeningGateway(world, 1);
    const address = someAddress();
    provider.says(pending);
    provider.saysLater(pending);
    const short = shortDeadline();
    expect(await ask(gateway, address)).toBe('unavailable');
    short.mockRestore();
    expect(await stored(address)).toMatchObject([{ state: 'pending', credit: true, providerRef: 'check-1' }]);
    provider.saysLater(down);
    expect(await ask(gateway, address)).toBe('unavailable');
    expect(await creditsOf(world, gateway)).toEqual({ left: 0, used: 1 });
    provider.saysLater(clean);
    expect(await ask(gateway, address)).toEqual({ score: 0 });
    expect(provider.asked).toHaveLength(1);
    expect(await creditsOf(world, gateway)).toEqual({ left: 0, used: 1 });
  });

  it('that has forgotten a check for an hour is asked anew for the same credit', async () => {
    const gateway = await aScreeningGateway(world, 1);
    const address = someAddress();
    provider.says(pending);
    provider.saysLater(down);
    const short = shortDeadline();
    await ask(gateway, address);
    short.mockRestore();
    await world.advance(3_601);
    provider.says(flagged);
    expect(await ask(gateway, address)).toEqual({ score: 90 });
    expect(provider.asked).toHaveLength(2);
    expect(await creditsOf(world, gateway)).toEqual({ left: 0, used: 1 });
  });
});

describe('a process that dies while it asks', () => {
  it('leaves its question to the next one: the same key, the same credit, and the first verdict stands', async () => {
    const gateway = await aScreeningGateway(world, 1);
    const address = someAddress();
    const dead = later<ScreeningAnswer>();
    provider.says(() => dead.promise);
    const lost = ask(gateway, address);
    await expect.poll(() => provider.asked).toHaveLength(1);
    await forgetLease(address);
    provider.says(flagged);
    expect(await ask(gateway, address, screeningOf(world, provider))).toEqual({ score: 90 });
    expect(new Set(provider.asked.map((one) => one.idempotencyKey)).size).toBe(1);
    // It was only slow, and comes back with another answer.
    dead.keep(clean);
    await lost;
    expect(await ask(gateway, address)).toEqual({ score: 90 });
    expect(await creditsOf(world, gateway)).toEqual({ left: 0, used: 1 });
  });

  it('loses no credit for ever, and none twice when it was only slow', async () => {
    const gateway = await aScreeningGateway(world, 1);
    const address = someAddress();
    const dead = later<ScreeningAnswer>();
    provider.says(() => dead.promise);
    const lost = ask(gateway, address);
    await expect.poll(() => provider.asked).toHaveLength(1);
    expect(await screening.tend()).toBe(0);
    await forgetLease(address);
    expect(await screening.tend()).toBe(1);
    expect(await creditsOf(world, gateway)).toEqual({ left: 1, used: 0 });
    dead.keep(down);
    expect(await lost).toBe('unavailable');
    expect(await creditsOf(world, gateway)).toEqual({ left: 1, used: 0 });
  });

  it('leaves a pending check that is asked for again, and given up after an hour', async () => {
    const gateway = await aScreeningGateway(world, 2);
    const [first, second] = [someAddress(), someAddress()];
    provider.says(pending);
    provider.saysLater(pending);
    const short = shortDeadline();
    await Promise.all([ask(gateway, first), ask(gateway, second)]);
    short.mockRestore();
    provider.saysLater(flagged);
    await forgetLease(first);
    expect(await screening.tend()).toBeGreaterThan(0);
    expect(await stored(first)).toMatchObject([{ state: 'verdict', score: 90 }]);
    provider.saysLater(pending);
    shortDeadline();
    await world.advance(3_601);
    await forgetLease(second);
    await screening.tend();
    expect(await stored(second)).toMatchObject([{ state: 'failed', credit: false }]);
    expect(await creditsOf(world, gateway)).toEqual({ left: 1, used: 1 });
  });

  it('leaves no question without its turn, however many checks the provider never finishes', async () => {
    const gateway = await aScreeningGateway(world, 60);
    provider.says(pending);
    provider.saysLater(pending);
    shortDeadline();
    await Promise.all(Array.from({ length: 60 }, () => ask(gateway, someAddress())));
    for (let run = 0; run < 2; run++) {
      // An hour of wall time passes.
      await world.database.sql`update screenings set leased_until = leased_until - interval '1 hour' where gateway_id = ${gateway.id}`;
      await screening.tend();
    }
    const [behind] = await world.database.sql`select count(*) as never from screenings where gateway_id = ${gateway.id} and attempt = 1`;
    expect(behind).toEqual({ never: 0 });
  });
});

describe('the sanctions list', () => {
  it('speaks first, for nothing, without a credit, and over a verdict that was bought', async () => {
    const gateway = await aScreeningGateway(world, 1);
    const [address, other] = [someAddress(), someAddress()];
    expect(await ask(gateway, address)).toEqual({ score: 0 });
    const listing = screeningOf(world, provider, new Set([address, other]));
    for (const one of [address, other, address]) expect(await ask(gateway, one, listing)).toEqual({ score: 100 });
    expect(provider.asked).toHaveLength(1);
    expect(await creditsOf(world, gateway)).toEqual({ left: 0, used: 1 });
    expect(await stored(other)).toMatchObject([{ state: 'verdict', credit: false, score: 100, source: 'sanctions' }]);
    // Pinned, also once it is taken off the list.
    expect(await ask(gateway, other)).toEqual({ score: 100 });
    expect((await listing.metrics.scrape()).body).toContain('sluice_aml_screens_total{provider="sanctions",result="sanctioned"} 2');
  });

  it('ends a question that is being bought, whose credit comes back', async () => {
    const gateway = await aScreeningGateway(world, 1);
    const address = someAddress();
    const answer = later<ScreeningAnswer>();
    provider.says(() => answer.promise);
    const asking = ask(gateway, address);
    await expect.poll(() => provider.asked).toHaveLength(1);
    expect(await ask(gateway, address, screeningOf(world, provider, new Set([address])))).toEqual({ score: 100 });
    answer.keep(clean);
    await asking;
    expect(await ask(gateway, address)).toEqual({ score: 100 });
    expect(await creditsOf(world, gateway)).toEqual({ left: 1, used: 0 });
  });
});

describe('the verdict of a deposit', () => {
  async function aDeposit(credits: number) {
    const shop = await shops.open();
    const payment = await shop.create();
    await shop.select(payment, 'USDT');
    const txid = await shop.receive(payment, 'USDT', '100');
    const [row] = await world.database.sql`
      select d.id, d.sender, a.address from deposits d join deposit_addresses a on a.id = d.address_id where d.txid = ${txid}`;
    await world.deps.db.transaction((tx) => setScreeningCredits(tx, shop.gateway.id, credits));
    const gateway = { ...shop.gateway, settings: { ...shop.gateway.settings, screening: { enabled: true, threshold: 70 } } };
    const sender = String(row?.sender);
    const deposit = { gateway, chain: chain(), depositId: String(row?.id), txid, senders: [sender], recipient: String(row?.address), assetId: 'any' };
    return { gateway, sender, deposit };
  }

  it('is bought once for all time, by the transaction', async () => {
    const { gateway, sender, deposit } = await aDeposit(2);
    provider.says(flagged);
    const first = await screening.deposit(deposit);
    expect(first).toEqual({ score: 90, ref: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    provider.says(clean);
    await world.advance(10 * 86_400);
    expect(await screening.deposit(deposit)).toEqual(first);
    expect(await creditsOf(world, gateway)).toEqual({ left: 1, used: 1 });
    expect(provider.asked).toMatchObject([{ direction: 'deposit', txid: deposit.txid, senders: [chain().codec.display(sender)] }]);
  });

  it('may be pending, and is there when somebody asks again', async () => {
    const { gateway, deposit } = await aDeposit(1);
    provider.says(pending);
    provider.saysLater(pending);
    expect([await screening.deposit(deposit), await screening.deposit(deposit)]).toEqual(['pending', 'pending']);
    provider.saysLater(clean);
    expect(await screening.deposit(deposit)).toMatchObject({ score: 0 });
    expect([provider.asked.length, provider.polled.length]).toEqual([1, 2]);
    expect(await creditsOf(world, gateway)).toEqual({ left: 0, used: 1 });
  });

  it('waits for credit, and for a provider that is down', async () => {
    const { gateway, deposit } = await aDeposit(0);
    expect(await screening.deposit(deposit)).toBe('out_of_credit');
    await world.deps.db.transaction((tx) => grantScreeningCredits(tx, gateway.id, 1));
    provider.says(down);
    expect(await screening.deposit(deposit)).toBe('unavailable');
    provider.says(clean);
    expect(await screening.deposit(deposit)).toMatchObject({ score: 0 });
  });

  it('is the worst for a sender on the sanctions list, and never for the address it was paid to', async () => {
    const { gateway, sender, deposit } = await aDeposit(1);
    const own = screeningOf(world, provider, new Set([deposit.recipient]));
    const listing = screeningOf(world, provider, new Set([sender]));
    provider.says(pending);
    expect(await own.deposit(deposit)).toBe('pending');
    const verdict = await listing.deposit(deposit);
    expect(verdict).toMatchObject({ score: 100 });
    expect(await creditsOf(world, gateway)).toEqual({ left: 1, used: 0 });
    expect(await screening.deposit(deposit)).toEqual(verdict);
  });

  it('is what the operator set, in development: the worst of its senders and its address', async () => {
    const { sender, deposit } = await aDeposit(2);
    const { screening: development } = world.deps;
    for (const address of [sender, deposit.recipient]) await upsertScreeningScore(world.deps.db.sql, { address, score: null });
    expect(await development.deposit(deposit)).toBe('unavailable');
    await upsertScreeningScore(world.deps.db.sql, { address: sender, score: 20 });
    await upsertScreeningScore(world.deps.db.sql, { address: deposit.recipient, score: 80 });
    expect(await development.deposit(deposit)).toMatchObject({ score: 80 });
    await upsertScreeningScore(world.deps.db.sql, { address: sender, score: 0 });
  });
});
